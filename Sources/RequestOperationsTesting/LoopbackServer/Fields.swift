extension LoopbackServer {
    /// One header or trailer field, as it was or will be on the wire.
    public struct Field: Sendable, Hashable {
        /// The name in the spelling that was sent.
        public var name: String
        /// The value without surrounding white space.
        public var value: String

        /// Makes a field from a name and a value. Both are written to the wire unchanged.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Header fields in order, including repetitions (RFC 9110, section 5).
    ///
    /// A dictionary literal makes one, and may name a field twice: `["Set-Cookie": "a=1", "Set-Cookie": "b=2"]`.
    public struct Fields: Sendable, Hashable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
        private var fields: [Field]

        /// Makes a list of these fields, in this order.
        public init(_ fields: some Sequence<Field>) {
            self.fields = Array(fields)
        }

        /// Makes a list of the fields of a literal, in its order.
        public init(dictionaryLiteral elements: (String, String)...) {
            fields = elements.map { Field(name: $0.0, value: $0.1) }
        }

        /// Always 0.
        public var startIndex: Int { fields.startIndex }

        /// The number of fields.
        public var endIndex: Int { fields.endIndex }

        /// The field at a position from 0 up to `count`.
        public subscript(position: Int) -> Field { fields[position] }

        /// The value of the first field of this name; nil if there is none. Case does not count.
        public subscript(name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        /// The values of all fields of this name, in order. Case does not count.
        public func values(of name: String) -> [String] {
            fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        /// Adds a field at the end, even if there is one of that name.
        public mutating func append(name: String, value: String) {
            fields.append(Field(name: name, value: value))
        }
    }
}

extension LoopbackServer.Fields {
    /// Whether a field with a comma-separated list contains `token`. Case does not count.
    func list(_ name: String, contains token: String) -> Bool {
        values(of: name).contains { value in
            value.split(separator: ",").contains { $0.trimmingSpaces.lowercased() == token }
        }
    }
}

extension Substring {
    /// This text without the optional white space of RFC 9110 (space and tab) at both ends.
    var trimmingSpaces: Substring {
        var trimmed = self
        while let first = trimmed.first, first == " " || first == "\t" { trimmed.removeFirst() }
        while let last = trimmed.last, last == " " || last == "\t" { trimmed.removeLast() }
        return trimmed
    }
}
