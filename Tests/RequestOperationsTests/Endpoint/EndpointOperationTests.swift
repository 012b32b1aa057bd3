import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct EndpointOperationTests {
    private let base = URL(string: "http://a.example")!

    private struct Failure: Error, Decodable, Equatable {
        var message: String
    }

    private struct Fetch<Response: Sendable>: Endpoint {
        var path: String { "x" }
        @Ignored var responseDecoder: ResponseDecoder<Response>
        @Ignored var acceptedContentTypes: [String] = []
        @Ignored var errorBodyDecoder: ErrorBodyDecoder?
    }

    @Test func `The decoder is that of the responses type`() async throws {
        struct Bytes: Endpoint {
            typealias Response = Data
            let path = "x"
        }
        struct Text: Endpoint {
            typealias Response = String
            let path = "x"
        }
        struct Nothing: Endpoint {
            typealias Response = Void
            let path = "x"
        }
        struct Numbers: Endpoint {
            typealias Response = [Int]
            let path = "x"
        }
        func configuration() -> RequestConfiguration { .scripted([.body(Data("[1]".utf8))]) }
        #expect(try await run(Bytes().operation(relativeTo: base, configuration: configuration())) == Data("[1]".utf8))
        #expect(try await run(Text().operation(relativeTo: base, configuration: configuration())) == "[1]")
        #expect(try await run(Nothing().operation(relativeTo: base, configuration: configuration())) == ())
        #expect(try await run(Numbers().operation(relativeTo: base, configuration: configuration())) == [1])
    }

    @Test func `A decoder of its own takes the place`() async throws {
        let endpoint = Fetch(responseDecoder: ResponseDecoder { $0.body.count })
        #expect(
            try await run(endpoint.operation(relativeTo: base, configuration: .scripted([.body(Data("abc".utf8))])))
                == 3)
    }

    @Test func `A type that is not accepted fails`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/x", .text("t"))
        let endpoint = Fetch(responseDecoder: .string, acceptedContentTypes: ["application/json"])
        let error = await failure(of: endpoint.operation(relativeTo: server.url)) as? RequestError
        #expect(error?.code == .unacceptableContentType)
        #expect(server.requests.first?.field("Accept") == "application/json")
    }

    // MARK: Errors with a body

    private func refused(
        _ body: String, status: Int = 422, limit: Int = 64 << 10, over transport: (any Transport)? = nil
    ) async throws -> RequestError? {
        let server = try await LoopbackServer.start()
        server.route("/x", .status(status, fields: ["X-ID": "7"], body: Data(body.utf8)))
        let endpoint = Fetch(responseDecoder: .data, errorBodyDecoder: .json(Failure.self))
        var configuration = RequestConfiguration()
        configuration.errorBodyLimit = limit
        if let transport { configuration.transport = transport }
        return await failure(of: endpoint.operation(relativeTo: server.url, configuration: configuration))
            as? RequestError
    }

    @Test func `The body of a refusal is a typed error and the status is kept`() async throws {
        let error = try #require(try await refused(#"{"message": "no"}"#))
        #expect(error.underlying as? Failure == Failure(message: "no"))
        #expect(error.code == .unacceptableStatus && error.head?.status == 422 && error.head?.field("X-ID") == "7")
    }

    @Test func `Every transport hands it over`() async throws {
        let message = String(repeating: "x", count: 20_000)
        let error = try #require(
            try await refused(#"{"message": "\#(message)"}"#, over: URLSessionTransport()))
        #expect(error.underlying as? Failure == Failure(message: message) && error.head?.status == 422)
    }

    @Test func `A problem may be longer than what the error keeps`() async throws {
        let server = try await LoopbackServer.start()
        let detail = String(repeating: "x", count: 50_000)
        let body = Data(#"{"title": "t", "detail": "\#(detail)"}"#.utf8)
        server.route("/x", .status(403, fields: ["Content-Type": "application/problem+json"], body: body))
        let operation = Fetch(responseDecoder: .data).operation(relativeTo: server.url)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.problem?.detail == detail && error.bodyPrefix.count == 4 << 10)
    }

    @Test func `It may be longer than what the error keeps`() async throws {
        let message = String(repeating: "x", count: 50_000)
        let error = try #require(try await refused(#"{"message": "\#(message)"}"#))
        #expect(error.underlying as? Failure == Failure(message: message))
        #expect(error.bodyPrefix.count == 4 << 10)
    }

    @Test func `Beyond the limit the status is left`() async throws {
        let message = String(repeating: "x", count: 50_000)
        let error = try #require(try await refused(#"{"message": "\#(message)"}"#, limit: 20_000))
        #expect(error.underlying == nil && error.head?.status == 422 && error.bodyPrefix.count == 4 << 10)
    }

    @Test(arguments: ["", "no json", "{}"]) func `A body that is none leaves the status`(_ body: String) async throws {
        let error = try #require(try await refused(body))
        #expect(error.underlying == nil && error.code == .unacceptableStatus && error.head?.status == 422)
    }

    @Test func `A retry decision sees the typed error`() async throws {
        let transport = ScriptedTransport([
            .status(503, body: Data(#"{"message": "busy"}"#.utf8)), .body(Data("ok".utf8)),
        ])
        var configuration = RequestConfiguration.over(transport)
        let seen = Collector<String>()
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.onEvent = { event in
            if case .attemptFailed(let failure) = event.step, let error = failure.error as? RequestError {
                seen.append((error.underlying as? Failure)?.message ?? "none")
            }
        }
        let endpoint = Fetch(responseDecoder: .string, errorBodyDecoder: .json(Failure.self))
        #expect(try await run(endpoint.operation(relativeTo: base, configuration: configuration)) == "ok")
        await configuration.deliverEvents()
        #expect(seen.elements == ["busy"])
    }

    // MARK: Bodies that are streamed

    private struct Upload: Endpoint {
        typealias Response = String
        let method = HTTPMethod.post
        let path = "x"
        @Ignored var bodyEncoder = ParameterEncoder.multipart
        @Ignored var files: [MultipartFormData.Part]
        var title: String
        var data = Data([0, 255])
    }

    @Test func `A multipart body is sent again for a retry`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/x", .status(503), .text("ok"))
        let path = TemporaryPath()
        try Data("content".utf8).write(to: path.url)
        var configuration = RequestConfiguration()
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.retryPolicy.idempotentMethods.insert("POST")
        let endpoint = Upload(files: [.file(path.url, name: "file", fileName: "a.txt")], title: "t")
        #expect(try await run(endpoint.operation(relativeTo: server.url, configuration: configuration)) == "ok")
        let requests = server.requests
        #expect(requests.count == 2 && requests[0].body == requests[1].body)
        let body = String(decoding: requests[0].body, as: Unicode.ASCII.self)
        #expect(body.contains("name=\"title\"\r\n\r\nt\r\n") && body.contains("filename=\"a.txt\""))
        #expect(requests[0].field("Content-Length") == "\(requests[0].bodyByteCount)")
    }

    @Test func `A file may be written by an operation before`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/x", .text("ok"))
        let path = TemporaryPath()
        let upload = Upload(files: [.file(path.url, name: "file")], title: "t").operation(relativeTo: server.url)
        let writing = BlockOperation {
            _ = FileManager.default.createFile(atPath: path.url.path, contents: Data("content".utf8))
        }
        upload.addDependency(writing)
        let queue = OperationQueue()
        queue.addOperation(upload)
        queue.addOperation(writing)
        #expect(try await upload.value == "ok")
        #expect(String(decoding: server.requests[0].body, as: UTF8.self).contains("\r\n\r\ncontent\r\n"))
    }

    @Test func `A streamed body is no part of a URL request`() throws {
        let path = TemporaryPath()
        try Data("content".utf8).write(to: path.url)
        let endpoint = Upload(files: [.file(path.url, name: "file")], title: "t")
        #expect(throws: RequestError.self) { try endpoint.urlRequest(relativeTo: base) }
    }

    @Test func `A multipart body in memory is one`() throws {
        let request = try Upload(files: [], title: "t").urlRequest(relativeTo: base)
        let body = try #require(request.httpBody)
        #expect(body.range(of: Data("name=\"title\"\r\n\r\nt\r\n".utf8)) != nil)
        let type = try #require(request.value(forHTTPHeaderField: "Content-Type"))
        #expect(type.hasPrefix("multipart/form-data; boundary=") && body.starts(with: "--\(type.dropFirst(30))".utf8))
    }
}
