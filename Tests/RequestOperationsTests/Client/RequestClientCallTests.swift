import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestClientCallTests {
    struct GetUser: Endpoint {
        typealias Response = User
        var path: String { "users/{id}" }
        @Path var id: Int
        var page = 1
    }

    struct Photo: Endpoint {
        typealias Response = User
        let method = HTTPMethod.post
        let path = "photos"
        @Ignored var bodyEncoder = ParameterEncoder.multipart
        @Ignored var files: [MultipartFormData.Part]
    }

    struct Draft: Encodable, Sendable {
        var title: String
        var size: Int
    }

    @Test func `A value is decoded from JSON`() async throws {
        let client = RequestClient(over: ScriptedTransport([.users]))
        #expect(try await client.get("users", as: [User].self).map(\.name) == ["Ada", "Alan"])
    }

    @Test func `Data is the body and a String its text`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        #expect(try await client.get("a", as: Data.self) == Data(#"{"name":"Ada"}"#.utf8))
        #expect(try await client.get("a", as: String.self) == #"{"name":"Ada"}"#)
    }

    @Test func `A decoder makes the value`() async throws {
        let client = RequestClient(over: ScriptedTransport([.status(204)]))
        try await client.delete("users/1", decoder: .void)
        #expect(try await client.post("users", decoder: .data).isEmpty)
    }

    @Test func `Each call has its method`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        _ = try await client.get("a", as: User.self)
        _ = try await client.post("a", as: User.self)
        _ = try await client.put("a", as: User.self)
        _ = try await client.patch("a", as: User.self)
        _ = try await client.delete("a", as: User.self)
        #expect(try await client.head("a").status == 200)
        #expect(transport.requests.map(\.httpMethod) == ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"])
    }

    @Test func `Parameters go into the query or the body`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        _ = try await client.get("a?x=1", parameters: ["q": "b c"], as: User.self)
        _ = try await client.post("a", parameters: ["q": "b&c"], as: User.self)
        #expect(transport.urls == ["http://example.invalid/v1/a?x=1&q=b%20c", "http://example.invalid/v1/a"])
        #expect(transport.requests[1].httpBody == Data("q=b%26c".utf8))
    }

    @Test func `Members of an object are parameters, and parameters win over them`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        client.defaults.parameterEncoder = .json { Self.sorted }
        _ = try await client.post("a", object: Draft(title: "b", size: 2), parameters: ["size": 3], as: User.self)
        #expect(transport.requests[0].httpBody == Data(#"{"size":3,"title":"b"}"#.utf8))
        #expect(transport.requests[0].value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    private static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

    @Test func `An endpoint is sent with its own values`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        client.setParameter(9, for: "page")
        client.setParameter("en", for: "language")
        #expect(try await client.send(GetUser(id: 7, page: 2)) == User(name: "Ada"))
        #expect(transport.urls == ["http://example.invalid/v1/users/7?language=en&page=2"])
    }

    @Test func `A body is uploaded and its parameters go into the query`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        let user = try await client.post("photos", parameters: ["album": 3], as: User.self) { options in
            options.body = .data(Data("photo".utf8))
            options.fields["Content-Type"] = "image/png"
        }
        #expect(user.name == "Ada")
        #expect(transport.urls == ["http://example.invalid/v1/photos?album=3"])
        #expect(transport.requests[0].httpBody == Data("photo".utf8))
        #expect(transport.requests[0].value(forHTTPHeaderField: "Content-Type") == "image/png")
    }

    @Test func `A file is uploaded without being read into memory`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        let file = URL(fileURLWithPath: "/tmp/some.zip")
        _ = try await client.post("a", as: User.self) { $0.body = .file(file) }
        guard case .file(file) = transport.tasks[0].body else { throw Problem() }
    }

    @Test func `Files are uploaded in a form after the parameters`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        let part = MultipartFormData.Part(
            name: "photo", fileName: "a.png", contentType: "image/png", content: .data(Data("x".utf8)))
        try await client.post("a", parameters: ["author": "Ada"]) { $0.files = [part] }
        let body = String(decoding: transport.requests[0].httpBody ?? Data(), as: UTF8.self)
        #expect(body.contains("name=\"author\"") && body.contains("filename=\"a.png\""))
    }

    @Test func `An upload is not taken for done after a redirect that drops its body`() async throws {
        let redirect = ScriptedTransport.Answer.status(302, fields: [("Location", "/b")])
        let client = RequestClient(over: ScriptedTransport([redirect, .user, redirect, .user]))
        await #expect {
            _ = try await client.upload(.data(Data("a".utf8)), to: "a", decoder: .data)
        } throws: { RequestError.Code.unacceptableStatus ~= $0 }
        let data = try await client.upload(.data(Data("a".utf8)), to: "a", decoder: .data) { options in
            options.configuration.redirects.allowsMethodChange = true
        }
        #expect(data.count == 14)
    }

    @Test func `A request with a body or files of its own is not done after a redirect that drops them`() async throws {
        let redirect = ScriptedTransport.Answer.status(303, fields: [("Location", "/b")])
        let transport = ScriptedTransport([redirect])
        let client = RequestClient(over: transport)
        let part = MultipartFormData.Part(
            name: "photo", fileName: "a.png", contentType: "image/png", content: .data(Data("x".utf8)))
        let file = TemporaryPath()
        try Data("content".utf8).write(to: file.url)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await client.post("a", as: User.self) { $0.body = .file(file.url) } },
            { try await client.put("a") { $0.body = .data(Data("x".utf8)) } },
            { try await client.post("a") { $0.files = [part] } },
            { _ = try await client.send(Photo(files: [part])) },
            {
                let operation = client.operation(for: Photo(files: [part]))
                client.submit(operation)
                _ = try await operation.value
            },
        ]
        for (index, call) in calls.enumerated() {
            await #expect {
                try await call()
            } throws: { RequestError.Code.unacceptableStatus ~= $0 }
            #expect(transport.requests.count == index + 1)
        }
        // What parameters make is a plain request.
        await #expect {
            try await client.post("a", parameters: ["q": "x"])
        } throws: { RequestError.Code.redirectLoop ~= $0 }
    }

    @Test func `An operation runs in any queue`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        #expect(try await run(client.operation(.get, "a", as: User.self)).name == "Ada")
        #expect(try await run(client.operation(for: GetUser(id: 1))).name == "Ada")
        #expect(try await run(client.uploadOperation(.data(Data()), to: "a", decoder: .data)).count == 14)
        #expect(try await run(client.operation(.head, "a", decoder: .head)).status == 200)
    }

    @Test func `A server gets what was asked for`() async throws {
        let server = try await LoopbackServer.start { _ in .json(#"{"name":"Ada"}"#) }
        let file = TemporaryPath()
        try Data("content".utf8).write(to: file.url)
        let client = RequestClient(server.url("/v1").absoluteString, over: PlatformTransport.shared)
        client.setField("1", for: "X-Version")
        client.setParameter("en", for: "language")
        #expect(try await client.get("users", parameters: ["q": "ä&b"], as: User.self).name == "Ada")
        #expect(try await client.post("users", object: Draft(title: "b", size: 2), as: User.self).name == "Ada")
        #expect(try await client.upload(.file(file.url), to: "files", decoder: .json(User.self)).name == "Ada")
        let requests = server.requests
        #expect(
            requests.map(\.target) == ["/v1/users?language=en&q=%C3%A4%26b", "/v1/users", "/v1/files?language=en"])
        #expect(
            requests.map { String(decoding: $0.body, as: UTF8.self) } == ["", "language=en&size=2&title=b", "content"])
        #expect(requests.allSatisfy { $0.field("X-Version") == "1" })
    }

    @Test func `A cancelled call cancels its request`() async throws {
        let transport = ScriptedTransport([.stall])
        let client = RequestClient(over: transport)
        let task = Task { try await client.get("a", as: User.self) }
        await transport.requests(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(client.submissions.isEmpty)
    }

    @Test func `The type of a value can be inferred, and a call can be without one`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        let user: User = try await client.get("a")
        let other: User = try await client.post("a", object: user)
        try await client.post("b", object: user)
        try await client.put("b", parameters: ["a": 1])
        try await client.patch("b")
        try await client.delete("b")
        #expect(user == other)
        #expect(transport.requests.map(\.httpMethod) == ["GET", "POST", "POST", "PUT", "PATCH", "DELETE"])
    }

    @Test func `The response to an upload is decoded like any other`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        let form = [
            MultipartFormData.Part(
                name: "photo", fileName: "a.png", contentType: "image/png", content: .data(Data("x".utf8)))
        ]
        #expect(try await client.post("a", as: User.self) { $0.body = .data(Data()) }.name == "Ada")
        #expect(try await client.post("a", as: User.self) { $0.files = form }.name == "Ada")
        #expect(try await run(client.uploadOperation(files: form, to: "a", decoder: .json(User.self))).name == "Ada")
    }

    @Test func `Options change the configuration of one request`() async throws {
        let transport = ScriptedTransport([.status(503)])
        let client = RequestClient(over: transport)
        await #expect(throws: RequestError.self) {
            try await client.get("a", as: User.self) { $0.configuration.retryPolicy = .none }
        }
        #expect(transport.requests.count == 1 && client.configuration.retryPolicy.maximumRetries == 3)
    }

    @Test func `The shared queue is that of the shared client`() {
        #expect(RequestQueue.shared === RequestClient.shared.queue)
    }

    @Test func `Parameters come from variables of any encodable types`() async throws {
        let transport = ScriptedTransport([.user])
        let client = RequestClient(over: transport)
        let (id, text, missing): (Int, String, Int?) = (7, "a", nil)
        _ = try await client.get("a", parameters: ["id": id, "q": text, "all": true, "none": missing], as: User.self)
        let user: User = try await client.post("a", parameters: ["id": id])
        try await client.delete("a", parameters: ["id": id])
        #expect(user.name == "Ada" && transport.requests[1].httpBody == Data("id=7".utf8))
        let queries = transport.requests.map { Set($0.url?.query?.split(separator: "&") ?? []) }
        #expect(queries == [["id=7", "q=a", "all=1"], [], ["id=7"]])
    }
}
