import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestClientDefaultsTests {
    private let transport = ScriptedTransport([.user])

    private func urls(
        of paths: [String], base: String? = "http://example.invalid/v1",
        _ edit: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> [String] {
        let client = RequestClient(base, over: transport)
        for path in paths { _ = try await client.get(path, as: User.self, edit) }
        return transport.urls
    }

    @Test func `A path is joined to the base`() async throws {
        let all = try await urls(of: ["a", "/a", "a/b/", "a b", "", "a{b}?c=d"])
        let base = "http://example.invalid/v1"
        #expect(
            all == [base + "/a", base + "/a", base + "/a/b/", base + "/a%20b", base, base + "/a%7Bb%7D?c=d"])
    }

    @Test func `An absolute URL takes the place of the base`() async throws {
        #expect(try await urls(of: ["http://other.invalid/a?b=1"]) == ["http://other.invalid/a?b=1"])
        #expect(try await urls(of: ["http://other.invalid/b"], base: nil).last == "http://other.invalid/b")
    }

    @Test func `A request may name another base`() async throws {
        #expect(try await urls(of: ["a"]) { $0.baseURL = URL(string: "http://b.invalid") } == ["http://b.invalid/a"])
    }

    @Test func `A path without a base is an error that sends nothing`() async throws {
        let client = RequestClient(over: transport)
        await #expect(throws: RequestError.self) {
            try await client.get("a", as: User.self) { $0.usesDefaultBaseURL = false }
        }
        let error = await failure(of: RequestClient(nil, over: transport).operation(.get, "a", as: User.self))
        #expect((error as? RequestError)?.code == .badURL && transport.requests.isEmpty)
    }

    @Test func `The error of a request that cannot be made names its method and the base`() async throws {
        let client = RequestClient("http://example.invalid/v1", over: transport)
        let error = await failure(of: client.operation(.post, "//x/y", as: User.self))
        #expect("\(try #require(error))".contains("POST http://example.invalid"))
    }

    @Test func `A user in the base becomes an authorization`() async throws {
        _ = try await urls(of: ["a"], base: "http://u:p@example.invalid")
        #expect(transport.requests[0].value(forHTTPHeaderField: "Authorization") == "Basic dTpw")
        #expect(transport.urls == ["http://example.invalid/a"])
    }

    @Test func `The values of a request win over those of the client`() async throws {
        let client = RequestClient(over: transport)
        client.setField("client", for: "X-One")
        client.setField("client", for: "X-Two")
        client.setParameter("client", for: "one")
        client.setParameter("client", for: "two")
        client.setUserInfo("client", for: "one")
        client.setUserInfo("client", for: "two")
        let operation = client.operation(.get, "a", parameters: ["one": "call"], as: User.self) {
            $0.fields["x-one"] = "call"
            $0.userInfo["one"] = "call"
        }
        let info = try #require(client.submission(operation.id)).userInfo
        _ = try await run(operation)
        let sent = transport.requests[0]
        #expect(
            sent.value(forHTTPHeaderField: "X-One") == "call" && sent.value(forHTTPHeaderField: "X-Two") == "client")
        #expect(transport.urls == ["http://example.invalid/v1/a?one=call&two=client"])
        #expect(info["one"] as? String == "call" && info["two"] as? String == "client")
    }

    @Test func `Each kind of default can be switched off for one request`() async throws {
        let client = RequestClient(over: transport)
        client.setField("client", for: "X-One")
        client.setParameter("client", for: "one")
        client.setUserInfo("client", for: "one")
        let operation = client.operation(.get, "a", as: User.self) {
            $0.usesDefaultFields = false
            $0.usesDefaultParameters = false
            $0.usesDefaultUserInfo = false
        }
        #expect(client.submission(operation.id)?.userInfo.isEmpty == true)
        _ = try await run(operation)
        #expect(transport.requests[0].value(forHTTPHeaderField: "X-One") == nil)
        #expect(transport.urls == ["http://example.invalid/v1/a"])
    }

    @Test func `A nil removes a default, whatever the case of a field`() async throws {
        let client = RequestClient(over: transport)
        client.setField("client", for: "X-One")
        client.setField(nil, for: "x-one")
        client.setParameter("client", for: "one")
        client.setParameter(nil, for: "one")
        client.setUserInfo("client", for: "one")
        client.setUserInfo(nil, for: "one")
        #expect(client.defaults.fields.isEmpty && client.defaults.parameters.isEmpty)
        #expect(client.defaults.userInfo.isEmpty)
    }

    @Test func `A field of the client does not replace the content type of a body`() async throws {
        let client = RequestClient(over: transport)
        client.setField("text/plain", for: "Content-Type")
        _ = try await client.post("a", parameters: ["b": 1], as: User.self)
        #expect(
            transport.requests[0].value(forHTTPHeaderField: "Content-Type")?.hasPrefix(
                "application/x-www-form-urlencoded") == true)
        _ = try await client.post("a", parameters: ["b": 1], as: User.self) { $0.fields["Content-Type"] = "a/b" }
        #expect(transport.requests[1].value(forHTTPHeaderField: "Content-Type") == "a/b")
    }

    @Test func `Credentials of the client stay at the host of its base`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        client.setField("secret", for: "Authorization")
        client.setField("de", for: "Accept-Language")
        _ = try await client.get("a", as: User.self)
        _ = try await client.get("http://other.invalid/a", as: User.self)
        _ = try await client.get("https://example.invalid/a", as: User.self)
        _ = try await client.get("http://other.invalid/a", as: User.self) { $0.fields["Authorization"] = "own" }
        let fields = transport.requests.map { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(fields == ["secret", nil, nil, "own"])
        #expect(transport.requests.allSatisfy { $0.value(forHTTPHeaderField: "Accept-Language") == "de" })
    }

    @Test func `One default can be left out of one request`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        client.setField("secret", for: "Authorization")
        client.setField("de", for: "Accept-Language")
        client.setParameter(2, for: "version")
        client.setParameter(3, for: "page")
        _ = try await client.get("a", as: User.self) {
            $0.omitDefaultField("authorization")
            $0.omitDefaultParameter("page")
        }
        let request = transport.requests[0]
        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(request.value(forHTTPHeaderField: "Accept-Language") == "de" && request.url?.query == "version=2")
    }

    @Test func `The JSON decoder of the client makes values`() async throws {
        struct Event: Decodable, Sendable { var createdAt: Date }
        let client = RequestClient(
            over: ScriptedTransport([.body(Data(#"{"created_at":"1970-01-01T00:00:10Z"}"#.utf8))]))
        client.makeJSONDecoder = {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
        #expect(try await client.get("a", as: Event.self).createdAt.timeIntervalSince1970 == 10)
    }

    @Test func `Settings change while requests are made`() async throws {
        let client = RequestClient(over: transport)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        client.setField("\(number)", for: "X-\(number)")
                        client.setParameter(nil, for: "p")
                        client.setParameter(1, for: "p")
                    }
                }
            }
            for _ in 0..<20 { _ = try? await client.get("a", as: User.self) }
        }
        #expect(client.defaults.fields.count == 8 && transport.requests.count == 20)
    }

    @Test func `Clients side by side have settings of their own`() async throws {
        let (one, other) = (RequestClient(over: transport), RequestClient(over: transport))
        one.setField("1", for: "X-One")
        _ = try await other.get("a", as: User.self)
        #expect(transport.requests[0].value(forHTTPHeaderField: "X-One") == nil && one.queue !== other.queue)
    }

    @Test func `A default parameter that the URL already has is not sent twice`() async throws {
        let client = RequestClient("http://example.invalid?v=1", over: transport)
        for name in ["lang", "v", "ids", "other"] { client.setParameter("default", for: name) }
        _ = try await client.get("a?lang=de&ids%5B%5D=2", as: User.self)
        _ = try await client.send(Placed(lang: "fr"))
        #expect(
            transport.urls == [
                "http://example.invalid/a?v=1&lang=de&ids%5B%5D=2&other=default",
                "http://example.invalid/a?v=1&lang=fr&ids=default&other=default",
            ])
    }

    private struct Placed: Endpoint {
        typealias Response = User
        let path = "a{?lang}"
        @Path var lang: String
    }
}
