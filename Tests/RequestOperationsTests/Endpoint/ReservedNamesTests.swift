import RequestOperations
import Testing

/// The names of the protocol of endpoints: what has one is no parameter, and nothing else is lost.
@Suite(.timeLimit(.minutes(10))) struct ReservedNamesTests {
    private let base = URL(string: "http://a.example")!

    private func query(_ endpoint: some Endpoint) throws -> String? {
        try endpoint.urlRequest(relativeTo: base).url?.query
    }

    private struct StoringAll: Endpoint {
        typealias Response = Data
        var method = HTTPMethod.get
        var path = "x"
        var fields = ["Authorization": "credential"]
        var parameters: [String: ParameterValue] = [:]
        var requestObject = ["o": "1"]
        @Ignored var naming = ParameterNaming.asDeclared
        @Ignored var valueTransform: ParameterTransform? = nil
        @Ignored var queryEncoder = URLEncodedFormEncoder()
        @Ignored var bodyEncoder = ParameterEncoder.json
        @Ignored var files: [MultipartFormData.Part] = []
        var acceptedContentTypes = ["text/*"]
        @Ignored var responseDecoder = ResponseDecoder<Data>.data
        @Ignored var errorBodyDecoder: ErrorBodyDecoder? = nil
        var debugDescription = "credential"
        var own = 2
    }

    @Test func `Each of them may be stored`() throws {
        #expect(try query(StoringAll()) == "o=1&own=2")
    }

    @Test func `A transform changes nothing of that`() throws {
        struct Transforming: Endpoint {
            typealias Response = Data
            var path = "x"
            var fields = ["Authorization": "credential"]
            var own = "a"
            var valueTransform: ParameterTransform? {
                { value, path in (value as? String).map { "\(path.count)" + $0.uppercased() } ?? value }
            }
        }
        #expect(try query(Transforming()) == "own=1A")
    }

    private struct Renaming: Endpoint {
        typealias Response = Data
        let method = HTTPMethod.get
        let path = "x"
        var kind = "k"
        enum CodingKeys: String, CodingKey { case kind = "method" }
    }

    @Test(arguments: ["k", "GET"]) func `Another property under the name of a stored one is an error and not lost`(
        _ kind: String
    ) {
        #expect { try query(Renaming(kind: kind)) } throws: { "\($0)".contains("'method'") }
    }

    @Test func `A property that is left out is none`() throws {
        struct Leaving: Endpoint {
            typealias Response = Data
            let path = "x"
            var cache = "c"
            var own = 1
            enum CodingKeys: CodingKey { case path, own }
        }
        #expect(try query(Leaving()) == "own=1")
    }

    @Test func `A naming may give a parameter the name of one`() throws {
        struct Converting: Endpoint {
            typealias Response = Data
            var path: String { "x" }
            var kind = "k"
            var naming: ParameterNaming { .custom { $0 == "kind" ? "method" : $0 } }
        }
        #expect(try query(Converting()) == "method=k")
    }

    // MARK: Classes

    private class Named: Endpoint {
        typealias Response = Data
        var path: String { "x" }
        var name = "a"
        enum CodingKeys: String, CodingKey { case name = "n" }
    }

    private final class Adding: Named {
        var extra = 1
    }

    private final class Wrapping: Named {
        @Query var extra = 1
    }

    private final class Speaking: Named {
        var extra = 1
        var left = 2

        private enum CodingKeys: String, CodingKey { case extra = "e" }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(extra, forKey: .extra)
        }
    }

    @Test func `A subclass loses nothing beside a name of coding keys`() {
        #expect { try query(Adding()) } throws: { "\($0)".contains("'extra'") }
        #expect { try query(Wrapping()) } throws: { "\($0)".contains("'extra'") }
    }

    @Test func `A subclass with keys of its own knows what it leaves out`() throws {
        #expect(try query(Speaking()) == "e=1&n=a")
    }
}
