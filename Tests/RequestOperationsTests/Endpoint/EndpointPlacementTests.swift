import RequestOperations
import Testing

/// Parameters of one name, in one part of the request and in several.
@Suite(.timeLimit(.minutes(10))) struct EndpointPlacementTests {
    private let base = URL(string: "http://a.example")!

    private func request(_ endpoint: some Endpoint) throws -> URLRequest {
        try endpoint.urlRequest(relativeTo: base)
    }

    private func target(_ endpoint: some Endpoint) throws -> String {
        String(try #require(request(endpoint).url?.absoluteString).dropFirst("http://a.example".count))
    }

    private func body(_ endpoint: some Endpoint) throws -> String? {
        try request(endpoint).httpBody.map { String(decoding: $0, as: UTF8.self) }
    }

    private struct Versioned: Endpoint {
        typealias Response = Data
        let path = "x"
        @Query("version") var api = 1
        @Field("version") var client = "2"
    }

    @Test func `Two of one name go to two parts`() throws {
        #expect(try target(Versioned()) == "/x?version=1")
        #expect(try request(Versioned()).value(forHTTPHeaderField: "version") == "2")
    }

    private struct Renumbering: Endpoint {
        typealias Response = Data
        let method = HTTPMethod.put
        let path = "users/{id}"
        @Path var id: Int
        @Body("id") var newID = 0
    }

    @Test func `A variable and a parameter may have one name`() throws {
        #expect(try target(Renumbering(id: 1, newID: 2)) == "/users/1")
        #expect(try body(Renumbering(id: 1, newID: 2)) == "id=2")
    }

    @Test func `Two of one name in one part are an error that names it`() {
        struct Doubled: Endpoint {
            typealias Response = Data
            let path = "x"
            @Query("q") var a = 1
            @Query("q") var b = 2
        }
        struct Mixed: Endpoint {
            typealias Response = Data
            let path = "x"
            var q = 1
            @Query("q") var b = 2
        }
        #expect { try target(Doubled()) } throws: { "\($0)".contains("'q'") }
        #expect { try target(Mixed()) } throws: { "\($0)".contains("'q'") }
    }

    private struct Moving: Endpoint {
        typealias Response = Data
        let method = HTTPMethod.post
        let path = "x"
        var requestObject = ["q": "object", "X-Tag": "object", "other": "object"]
        @Query("q") var text = "property"
        @Field("x-tag") var tag = "property"
        enum CodingKeys: CodingKey { case text, tag }
    }

    @Test func `A later one leaves no earlier one in another part`() throws {
        #expect(try target(Moving()) == "/x?q=property")
        #expect(try request(Moving()).value(forHTTPHeaderField: "X-Tag") == "property")
        // In a body the name is another one: those of fields alone have no case.
        #expect(try body(Moving()) == "X-Tag=object&other=object")
    }

    @Test func `A further parameter takes the place of a field`() throws {
        struct Late: Endpoint {
            typealias Response = Data
            let path = "x"
            @Field("X-Tag") var tag = "property"
            var parameters: [String: ParameterValue] { ["x-tag": "late"] }
        }
        #expect(try target(Late()) == "/x")
        #expect(try request(Late()).value(forHTTPHeaderField: "X-Tag") == "late")
    }

    @Test func `The object of a resource keeps what the path says too`() throws {
        struct Replace: Endpoint {
            typealias Response = Data
            let method = HTTPMethod.put
            let path = "users/{id}"
            @Path var id = 7
            var requestObject: [String: ParameterValue] = ["id": 7, "name": "Ada"]
        }
        #expect(try target(Replace()) == "/users/7")
        #expect(try body(Replace()) == "id=7&name=Ada")
    }

    @Test func `Names that are converted to one are an error that names both`() {
        struct Colliding: Endpoint {
            typealias Response = Data
            var path: String { "x" }
            var naming: ParameterNaming { .snakeCase }
            var userID = 1
            var userId = 2
        }
        #expect { try target(Colliding()) } throws: { "\($0)".contains("'userID' and 'userId'") }
    }

    @Test func `The members of a request object may be placed too`() throws {
        struct Page: Encodable {
            @PlacedProperty<Int, QueryPlace>("page") var number = 2
            @PlacedProperty<String, BodyPlace> var kind = "k"
            @Ignored var note = "n"
            var text = "t"
        }
        struct Save: Endpoint {
            typealias Response = Data
            let method = HTTPMethod.put
            let path = "x"
            var requestObject = Page()
        }
        #expect(try target(Save()) == "/x?page=2")
        #expect(try body(Save()) == "kind=k&text=t")
    }

    // MARK: Fields

    private struct Listing: Endpoint {
        typealias Response = Data
        let path = "x"
        @Field("X-List") var list: [String?] = []
    }

    @Test(arguments: [["a", nil], [nil], ["a", ""]])
    func `An element of a field that is nothing is an error that names it`(_ list: [String?]) {
        #expect { try target(Listing(list: list)) } throws: { "\($0)".contains("'X-List'") }
    }

    private struct Heading: Endpoint {
        typealias Response = Data
        @Ignored var method: HTTPMethod = .get
        let path = "x"
        @Ignored var fields: [String: String] = [:]
        @Ignored var acceptedContentTypes: [String] = []
    }

    @Test(arguments: [["X-A": "a\r\nX-Evil: 1"], ["X-A": "\0"], ["a b": "c"], ["X-A": "1", "x-a": "2"]])
    func `A field that cannot be sent is an error`(_ fields: [String: String]) {
        #expect { try request(Heading(fields: fields)) } throws: {
            ($0 as? RequestError)?.code == .unencodableParameter
        }
        #expect(throws: RequestError.self) { try Heading(fields: fields).curlCommand(relativeTo: base) }
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nX-Evil:", "", "A B"]) func `A method that is no token is an error`(
        _ name: String
    ) {
        #expect(throws: RequestError.self) { try request(Heading(method: HTTPMethod(rawValue: name))) }
    }

    @Test(arguments: ["json", "text/plain\r\nX-Evil: 1", ""])
    func `An accepted type that is none is an error and no trap`(_ type: String) async {
        #expect(throws: RequestError.self) { try request(Heading(acceptedContentTypes: [type])) }
        let operation = Heading(method: .put, acceptedContentTypes: [type]).operation(relativeTo: base)
        let error = await failure(of: operation) as? RequestError
        #expect(error?.code == .unencodableParameter && error?.method == "PUT")
    }
}
