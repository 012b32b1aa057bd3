import RequestOperations
import Testing

/// Values that encode themselves in unusual ways. What Foundation's encoders write, a form has too; where they trap, or drop a
/// part, the encoding fails.
@Suite(.timeLimit(.minutes(10))) struct ContradictoryValueTests {
    private enum Key: String, CodingKey { case a, b }

    /// A way in which a value writes itself.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let write: @Sendable (any Encoder) throws -> Void

        init(_ description: String, _ write: @escaping @Sendable (any Encoder) throws -> Void) {
            testDescription = description
            self.write = write
        }
    }

    private struct Outer: Encodable {
        let w: Inner

        struct Inner: Encodable {
            let way: Way
            func encode(to encoder: any Encoder) throws { try way.write(encoder) }
        }

        init(_ way: Way) { w = Inner(way: way) }
    }

    // MARK: What Foundation's encoders trap on, or drop

    private static let contradictory: [Way] = [
        Way("a value, then members of its key") { encoder in
            var members = encoder.container(keyedBy: Key.self)
            try members.encode("x", forKey: .a)
            _ = members.nestedContainer(keyedBy: Key.self, forKey: .a)
        },
        Way("a value, then elements of its key") { encoder in
            var members = encoder.container(keyedBy: Key.self)
            try members.encode("x", forKey: .a)
            _ = members.nestedUnkeyedContainer(forKey: .a)
        },
        Way("members, then elements of a key") { encoder in
            var members = encoder.container(keyedBy: Key.self)
            _ = members.nestedContainer(keyedBy: Key.self, forKey: .a)
            _ = members.nestedUnkeyedContainer(forKey: .a)
        },
        Way("elements, then members of a key") { encoder in
            var members = encoder.container(keyedBy: Key.self)
            _ = members.nestedUnkeyedContainer(forKey: .a)
            _ = members.nestedContainer(keyedBy: Key.self, forKey: .a)
        },
        Way("a nil, then members of its key") { encoder in
            var members = encoder.container(keyedBy: Key.self)
            try members.encodeNil(forKey: .a)
            _ = members.nestedContainer(keyedBy: Key.self, forKey: .a)
        },
        Way("members and elements of one super encoder") { encoder in
            var members = encoder.container(keyedBy: Key.self)
            let encoder = members.superEncoder(forKey: .a)
            _ = encoder.container(keyedBy: Key.self)
            _ = encoder.unkeyedContainer()
        },
        Way("members and elements") { encoder in
            _ = encoder.container(keyedBy: Key.self)
            _ = encoder.unkeyedContainer()
        },
        Way("elements and members") { encoder in
            _ = encoder.unkeyedContainer()
            _ = encoder.container(keyedBy: Key.self)
        },
        Way("a value and members") { encoder in
            var single = encoder.singleValueContainer()
            try single.encode("x")
            _ = encoder.container(keyedBy: Key.self)
        },
        Way("members and a value") { encoder in
            _ = encoder.container(keyedBy: Key.self)
            var single = encoder.singleValueContainer()
            try single.encode("x")
        },
        Way("elements and a value") { encoder in
            _ = encoder.unkeyedContainer()
            var single = encoder.singleValueContainer()
            try single.encode(["x"])
        },
        Way("two values") { encoder in
            var single = encoder.singleValueContainer()
            try single.encode("x")
            try single.encode("y")
        },
        Way("a value and a nil") { encoder in
            var single = encoder.singleValueContainer()
            try single.encode("x")
            try single.encodeNil()
        },
    ]

    @Test(arguments: contradictory)
    func `What excludes each other is an error that names the property`(way: Way) {
        #expect {
            try URLEncodedFormEncoder().encode(Outer(way))
        } throws: { error in
            guard case EncodingError.invalidValue(_, let context) = error else { return false }
            return context.codingPath.first?.stringValue == "w" && context.debugDescription.hasPrefix("'w")
        }
    }

    @Test(arguments: contradictory)
    func `It is so under a transform too`(way: Way) {
        var encoder = URLEncodedFormEncoder()
        encoder.transform = { value, _ in value }
        #expect(throws: EncodingError.self) { try encoder.encode(Outer(way)) }
    }

    // MARK: What Foundation's encoders write

    private static let consistent: [(Way, String)] = [
        (
            Way("an absent value, then members of its key") { encoder in
                var members = encoder.container(keyedBy: Key.self)
                try members.encodeIfPresent(nil as String?, forKey: .a)
                var nested = members.nestedContainer(keyedBy: Key.self, forKey: .a)
                try nested.encode(1, forKey: .b)
            }, "w[a][b]=1"
        ),
        (
            Way("an absent value, then elements of its key") { encoder in
                var members = encoder.container(keyedBy: Key.self)
                try members.encodeIfPresent(nil as Int?, forKey: .a)
                var nested = members.nestedUnkeyedContainer(forKey: .a)
                try nested.encode(1)
            }, "w[a]=1"
        ),
        (
            Way("members, then a value of their key") { encoder in
                var members = encoder.container(keyedBy: Key.self)
                var nested = members.nestedContainer(keyedBy: Key.self, forKey: .a)
                try nested.encode(1, forKey: .b)
                try members.encode("x", forKey: .a)
            }, "w[a]=x"
        ),
        (
            Way("a dictionary, then members of its key") { encoder in
                var members = encoder.container(keyedBy: Key.self)
                try members.encode(["k": 1], forKey: .a)
                var nested = members.nestedContainer(keyedBy: Key.self, forKey: .a)
                try nested.encode(1, forKey: .b)
            }, "w[a][b]=1&w[a][k]=1"
        ),
        (
            Way("an array, then elements of its key") { encoder in
                var members = encoder.container(keyedBy: Key.self)
                try members.encode([1], forKey: .a)
                var nested = members.nestedUnkeyedContainer(forKey: .a)
                try nested.encode(2)
            }, "w[a]=1&w[a]=2"
        ),
        (
            Way("a value, then a super encoder of its key") { encoder in
                var members = encoder.container(keyedBy: Key.self)
                try members.encode("x", forKey: .a)
                var nested = members.superEncoder(forKey: .a).container(keyedBy: Key.self)
                try nested.encode(1, forKey: .b)
            }, "w[a][b]=1"
        ),
        (
            Way("a container for one value that is not used, then members") { encoder in
                _ = encoder.singleValueContainer()
                var members = encoder.container(keyedBy: Key.self)
                try members.encode(1, forKey: .b)
            }, "w[b]=1"
        ),
        (
            Way("elements twice") { encoder in
                var first = encoder.unkeyedContainer()
                try first.encode(1)
                var second = encoder.unkeyedContainer()
                try second.encode(2)
            }, "w=1&w=2"
        ),
        (
            Way("members twice") { encoder in
                var first = encoder.container(keyedBy: Key.self)
                try first.encode(1, forKey: .a)
                var second = encoder.container(keyedBy: Key.self)
                try second.encode(2, forKey: .b)
            }, "w[a]=1&w[b]=2"
        ),
    ]

    @Test(arguments: consistent)
    func `What Foundation writes is written`(way: Way, expected: String) throws {
        let text = try URLEncodedFormEncoder().encode(Outer(way)).removingPercentEncoding
        #expect(text == expected)
    }

    @Test(arguments: consistent)
    func `Foundation writes it too`(way: Way, expected: String) throws {
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(Outer(way)))
        #expect(Self.pairs(of: json, under: "").joined(separator: "&") == expected)
    }

    /// The names and values of a form with the values of a JSON object.
    private static func pairs(of value: Any, under name: String) -> [String] {
        switch value {
        case let members as [String: Any]:
            members.sorted { $0.key < $1.key }.flatMap { key, member in
                pairs(of: member, under: name.isEmpty ? key : "\(name)[\(key)]")
            }
        case let elements as [Any]: elements.flatMap { pairs(of: $0, under: name) }
        default: ["\(name)=\(value)"]
        }
    }
}
