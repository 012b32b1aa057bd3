import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestAdapterTests {
    private static func adapted(_ url: String, _ adapters: RequestAdapter...) async throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        for adapter in adapters { request = try await adapter.adapt(request) }
        return request
    }

    // MARK: Base URL

    @Test(arguments: [
        ("https://a.example/api", "/user/x", "https://a.example/api/user/x"),
        ("https://a.example/api", "user/x", "https://a.example/api/user/x"),
        ("https://a.example/api/", "/user/x", "https://a.example/api/user/x"),
        ("https://a.example/api/", "user/x", "https://a.example/api/user/x"),
        ("https://a.example", "user", "https://a.example/user"),
        ("https://a.example/", "/user", "https://a.example/user"),
        ("https://a.example/api", "user/", "https://a.example/api/user/"),
        ("https://a.example/api", "/", "https://a.example/api/"),
        ("https://a.example/api", "?q=1", "https://a.example/api?q=1"),
        ("https://a.example/api", "#f", "https://a.example/api#f"),
        ("https://a.example/api?k=v", "user?q=1", "https://a.example/api/user?k=v&q=1"),
        ("https://a.example/api?k=v", "user", "https://a.example/api/user?k=v"),
        ("https://a.example/api?", "user?q=1", "https://a.example/api/user?q=1"),
        ("https://a.example/api", "user?", "https://a.example/api/user"),
        ("https://a.example/api#base", "user", "https://a.example/api/user"),
        ("https://a.example/api", "user#f", "https://a.example/api/user#f"),
        ("http://[::1]:8080/api", "/x", "http://[::1]:8080/api/x"),
        ("http://u:p@a.example:81/api", "/x", "http://u:p@a.example:81/api/x"),
        ("https://a.example/a%2Fb", "c%2Fd%20e", "https://a.example/a%2Fb/c%2Fd%20e"),
        ("https://a.example/a%2Fb?x=%26", "c?y=%3D%2B", "https://a.example/a%2Fb/c?x=%26&y=%3D%2B"),
        ("https://a.example/ä", "ö", "https://a.example/%C3%A4/%C3%B6"),
        ("https://a.example/api", "a/../b", "https://a.example/api/a/../b"),
    ])
    func `A relative URL is placed under the base`(base: String, url: String, expected: String) async throws {
        let request = try await Self.adapted(url, .baseURL(try #require(URL(string: base))))
        #expect(request.url?.absoluteString == expected)
    }

    @Test(arguments: ["https://b.example/x", "http://b.example", "HTTPS://B.example/x?q#f", "data:,x"])
    func `An absolute URL stays as it is`(url: String) async throws {
        let request = try await Self.adapted(url, .baseURL(try #require(URL(string: "https://a.example/api"))))
        #expect(request.url?.absoluteString == url)
    }

    @Test func `A URL that is relative to another base is absolute`() async throws {
        let url = try #require(URL(string: "x", relativeTo: URL(string: "https://b.example/y/")))
        let adapter = RequestAdapter.baseURL(try #require(URL(string: "https://a.example/")))
        #expect(try await adapter.adapt(URLRequest(url: url)).url?.absoluteString == "https://b.example/y/x")
    }

    @Test func `A relative URL with a host of its own is refused`() async throws {
        let error = await #expect(throws: RequestError.self) {
            try await Self.adapted("//b.example/x", .baseURL(#require(URL(string: "https://a.example/"))))
        }
        #expect(error?.code == .badURL && error?.stage == .process)
    }

    @Test func `Placing under a base twice changes nothing more`() async throws {
        let adapter = RequestAdapter.baseURL(try #require(URL(string: "https://a.example/api")))
        #expect(try await Self.adapted("x", adapter, adapter).url?.absoluteString == "https://a.example/api/x")
    }

    // MARK: Fields

    @Test func `A field takes the place of one of its name in any case`() async throws {
        let request = try await Self.adapted("http://a.example/", .field("X-A", "1"), .field("x-a", "2"))
        #expect(request.value(forHTTPHeaderField: "X-A") == "2")
        #expect(request.allHTTPHeaderFields?.count == 1)
    }

    @Test func `A default field yields to one of its name in any case`() async throws {
        let request = try await Self.adapted(
            "http://a.example/", .field("x-a", "1"), .defaultField("X-A", "2"), .defaultField("X-B", "3"))
        #expect(request.value(forHTTPHeaderField: "X-A") == "1")
        #expect(request.value(forHTTPHeaderField: "X-B") == "3")
    }

    @Test func `A field that no request can have is refused and not lost`() async throws {
        var configuration = RequestConfiguration()
        configuration.adapters = [.field("X-A", "1\r\nX-B: 2")]
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        let error = await #expect(throws: RequestError.self) { try await operation.value }
        #expect(error?.code == .invalidField)
    }

    @Test func `A field leaves the other fields as they are`() async throws {
        let request = try await Self.adapted(
            "http://a.example/", .field("X-A", "1"), .field("X-a-B", "2"), .field("x-A", "3"))
        #expect(request.allHTTPHeaderFields == ["x-A": "3", "X-a-B": "2"])
    }

    @Test func `The bearer token is asked for at every call`() async throws {
        let tokens = Tokens()
        let adapter = RequestAdapter.bearerToken { await tokens.next() }
        for number in 1...3 {
            let request = try await Self.adapted("http://a.example/", adapter)
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer token\(number)")
        }
    }

    private actor Tokens {
        private var count = 0

        func next() -> String {
            count += 1
            return "token\(count)"
        }
    }

    @Test func `An error of the token is that of the adapter`() async throws {
        struct NoToken: Error {}
        await #expect(throws: NoToken.self) {
            try await Self.adapted("http://a.example/", .bearerToken { throw NoToken() })
        }
    }

    @Test func `An edit changes the request in place`() async throws {
        let request = try await Self.adapted("http://a.example/", .edit { $0.httpMethod = "PUT" })
        #expect(request.httpMethod == "PUT")
    }

    @Test func `An adapter runs on its queue`() async throws {
        let queue = OperationQueue()
        let adapter = RequestAdapter { request in
            #expect(OperationQueue.current === queue)
            return request
        }
        _ = try await Self.adapted("http://a.example/", adapter.on(queue))
    }

    @Test func `A token that does not change is a field`() async throws {
        let request = try await Self.adapted("http://a.example/", .bearerToken("abc"))
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer abc")
        #expect(!"\(RequestAdapter.bearerToken("abc"))".contains("abc"))
    }
}
