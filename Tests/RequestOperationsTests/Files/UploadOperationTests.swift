import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// Uploads in one request.
@Suite(.timeLimit(.minutes(15))) struct UploadOperationTests {
    private let folder: DownloadFolder
    private let url = URL(string: "http://a.example/path")!

    init() throws {
        folder = try DownloadFolder()
        try folder.write("0123456789", to: "a.txt")
    }

    private var file: URL { folder.file("a.txt") }

    private func server(_ responses: LoopbackServer.Response...) async throws -> LoopbackServer {
        let server = try await LoopbackServer.start()
        server.route("/", responses)
        return server
    }

    private func stream(length: Int64? = nil) -> BodyStream {
        .of(Data("streamed".utf8), length: length)
    }

    @Test func `A file is put with its length and its media type`() async throws {
        let server = try await server(.text("done"))
        let answer = try await run(
            UploadOperation(.file(file), to: server.url, configuration: .downloading()))
        let request = try #require(server.requests.first)
        #expect(String(decoding: answer, as: UTF8.self) == "done" && request.method == "PUT")
        #expect(request.field("Content-Length") == "10" && request.field("Content-Type") == "text/plain")
        #expect(request.body == Data("0123456789".utf8))
    }

    @Test func `A form is posted`() async throws {
        let server = try await server(.empty())
        var form = MultipartFormData(boundary: "b")
        form.append("Ada", name: "author")
        form.append(file: file, name: "file")
        _ = try await run(UploadOperation(form, to: server.url, configuration: .downloading()))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.field("Content-Type") == "multipart/form-data; boundary=b")
        #expect(request.field("Content-Length") == "\(request.body.count)")
        #expect(String(decoding: request.body, as: UTF8.self).contains("0123456789"))
    }

    @Test func `The caller's method and media type count, and a value is decoded`() async throws {
        let server = try await server(.json("[1]"))
        var request = URLRequest(url: server.url)
        request.httpMethod = "PATCH"
        request.setValue("text/x", forHTTPHeaderField: "Content-Type")
        let operation = UploadOperation(
            .file(file), to: request, decoder: .json([Int].self), configuration: .downloading())
        #expect(try await run(operation) == [1])
        #expect(server.requests.first?.method == "PATCH" && server.requests.first?.field("Content-Type") == "text/x")
    }

    @Test func `A stream is sent with its length or in chunks`() async throws {
        let server = try await server(.empty())
        for length in [8, nil] as [Int64?] {
            _ = try await run(
                UploadOperation(.stream(stream(length: length)), to: server.url, configuration: .downloading()))
        }
        #expect(server.requests.map { $0.field("Content-Length") } == ["8", nil])
        #expect(server.requests.map { $0.field("Transfer-Encoding") } == [nil, "chunked"])
        #expect(server.requests.allSatisfy { $0.body == Data("streamed".utf8) })
    }

    @Test func `Any body is sent in chunks by option`() async throws {
        let server = try await server(.empty())
        for body in [.file(file), .data(Data("0123456789".utf8))] as [RequestBody] {
            let operation = UploadOperation(
                body, to: server.url, by: .plain(isChunked: true), configuration: .downloading())
            let progress = operation.progress
            _ = try await run(operation)
            #expect(progress.completedUnitCount == 10)
        }
        #expect(server.requests.allSatisfy { $0.field("Transfer-Encoding") == "chunked" })
        #expect(server.requests.allSatisfy { $0.body == Data("0123456789".utf8) })
    }

    @Test func `The server is asked first by option, and refuses before it gets the body`() async throws {
        let server = try await server(.rejectingExpectation(403))
        let operation = UploadOperation(
            .file(file), to: server.url, by: .plain(expectsContinue: true), configuration: .downloading())
        #expect(await code(of: operation) == .unacceptableStatus)
        #expect(server.requests.map { $0.field("Expect") } == ["100-continue"])
        #expect(server.requests.map(\.bodyByteCount) == [0])
    }

    @Test func `Each attempt sends the body from its first byte`() async throws {
        let bodies: [RequestBody] = [.file(file), .data(Data("x".utf8)), .stream(stream())]
        for body in bodies {
            let server = try await server(.status(503), .closeWithoutAnswer, .empty())
            _ = try await run(UploadOperation(body, to: server.url, configuration: .downloading()))
            #expect(server.requests.count == 3 && Set(server.requests.map(\.body)).count == 1)
        }
    }

    @Test func `A file that changes between attempts is an error`() async throws {
        let file = file
        var configuration = RequestConfiguration.downloading(over: ScriptedTransport([.status(503), .status(204)]))
        configuration.retryDeciders = [
            RetryDecider { _, decision in
                try? Data("changed".utf8).write(to: file)
                return decision
            }
        ]
        let operation = UploadOperation(.file(file), to: url, configuration: configuration)
        #expect(await code(of: operation) == .fileChanged && operation.attempts.count == 2)
        var form = MultipartFormData()
        form.append(file: file, name: "file")
        try Data("0".utf8).write(to: file)
        configuration.transport = ScriptedTransport([.error(.cannotConnect), .status(204)])
        #expect(await code(of: UploadOperation(form, to: url, configuration: configuration)) == .fileChanged)
    }

    @Test func `A file that changes while it is sent is an error`() async throws {
        let file = file
        let transport = ScriptedTransport([
            .dynamic { _ in
                try Data("changed meanwhile".utf8).write(to: file)
                return .status(204)
            }
        ])
        let operation = UploadOperation(.file(file), to: url, configuration: .downloading(over: transport))
        #expect(await code(of: operation) == .fileChanged && operation.attempts.count == 1)
    }

    @Test func `A file that is missing, or is none, is an error before anything is sent`() async throws {
        let transport = ScriptedTransport([.status(204)])
        for body in [folder.file("missing"), folder.url, URL(string: "http://a.example/a")!] {
            let operation = UploadOperation(
                .file(body), to: url, configuration: .downloading(over: transport))
            #expect(await code(of: operation) == .unencodableBody)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func `A stream that opens only once is not sent again`() async throws {
        let input = InputStream(data: Data("once".utf8))
        var request = URLRequest(url: url)
        request.httpBodyStream = input
        let operation = UploadOperation(
            RequestBody(of: request), to: url,
            configuration: .downloading(over: ScriptedTransport([.status(503), .status(204)])))
        #expect(await code(of: operation) == .bodyNotReplayable)
    }

    @Test func `The progress has a total while the body is sent`() async throws {
        let totals = Locked<Set<Int64>>([])
        var configuration = RequestConfiguration.downloading()
        configuration.onProgress = { progress in
            let total = (progress.bytesToSend ?? -1) + (progress.bytesToReceive ?? -1)
            totals.withLock { _ = $0.insert(total) }
        }
        let server = try await server(.empty())
        let operation = UploadOperation(.file(file), to: server.url, configuration: configuration)
        let progress = operation.progress
        _ = try await run(operation)
        #expect(totals.withLock { $0 } == [10] && progress.fractionCompleted == 1)
    }

    @Test func `A redirect that keeps the method sends the body again`() async throws {
        let server = try await server(.redirect(to: "/other", status: 307))
        server.route("/other", .empty())
        _ = try await run(UploadOperation(.file(file), to: server.url, configuration: .downloading()))
        #expect(server.requests.map(\.method) == ["PUT", "PUT"])
        #expect(server.requests.last?.body == Data("0123456789".utf8))
    }

    @Test(arguments: [(301, HTTPMethod.post), (302, .post), (303, .post), (303, .put)])
    func `A redirect that would drop the body fails`(_ status: Int, _ method: HTTPMethod) async throws {
        let server = try await server(.redirect(to: "/other", status: status))
        server.route("/other", .empty(200))
        let error = await failure(
            of: UploadOperation(.file(file), to: server.url, method: method, configuration: .downloading()))
        #expect((error as? RequestError)?.code == .unacceptableStatus)
        #expect((error as? RequestError)?.head?.status == status)
        #expect(server.requests.count == 1)
    }

    @Test func `The caller may allow a redirect that drops the body`() async throws {
        let server = try await server(.redirect(to: "/other", status: 303))
        server.route("/other", .empty(200))
        var configuration = RequestConfiguration.downloading()
        configuration.redirects.allowsMethodChange = true
        _ = try await run(UploadOperation(.file(file), to: server.url, configuration: configuration))
        #expect(server.requests.map(\.method) == ["PUT", "GET"])
    }

    @Test func `A subclass may change the task`() async throws {
        let transport = ScriptedTransport([.status(204)])
        _ = try await run(
            Limited(.file(file), to: URLRequest(url: url), decoder: .data, configuration: .over(transport)))
        #expect(transport.tasks.first?.limits.idle == .seconds(5))
    }

    @Test func `A file that is removed when it was sent is no error`() async throws {
        let file = file
        let transport = ScriptedTransport([
            .dynamic { _ in
                try FileManager.default.removeItem(at: file)
                return .body(Data("ok".utf8))
            }
        ])
        let operation = UploadOperation(.file(file), to: url, configuration: .downloading(over: transport))
        #expect(try await run(operation) == Data("ok".utf8))
    }
}

private final class Limited: UploadOperation<Data>, @unchecked Sendable {
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        var task = try await super.makeTask(for: request)
        task.limits.idle = .seconds(5)
        return task
    }
}
