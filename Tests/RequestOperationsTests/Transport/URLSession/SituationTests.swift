import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// What holds in each situation, whoever made the session and whoever is its delegate.
@Suite(.timeLimit(.minutes(15)))
struct SituationTests {
    @Test(arguments: Situation.allCases)
    func `A body arrives byte for byte`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .large(byteCount: 300_000))
        let response = try await situation.transport.perform(.data(server.request()))
        #expect(response.head.status == 200)
        #expect(response.head.url == server.url("/"))
        #expect(response.head.field("content-length") == "300000")
        #expect(response.body == LoopbackServer.pattern(300_000))
    }

    @Test(arguments: Situation.allCases)
    func `The head is reported once and before the transport returns`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .informational(103, then: .text("hello")))
        let heads = Collector<Int>()
        _ = try await situation.transport.perform(.data(server.request())) { heads.append($0.status) }
        #expect(heads.elements == [200])
    }

    @Test(arguments: Situation.allCases)
    func `An empty body is empty data`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .empty())
        let response = try await situation.transport.perform(.data(server.request()))
        #expect(response.head.status == 204)
        #expect(response.body == Data())
        #expect(response.bodySize == 0)
    }

    @Test(arguments: Situation.allCases)
    func `A rejected head fails with its error, the head and the first 4 KiB of the body`(
        situation: Situation
    ) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .status(503, fields: ["Retry-After": "7"], body: Data(repeating: 7, count: 10_000)))
        let failure = await situation.transport.failure(of: .data(server.request())) { _ in throw Rejected() }
        #expect(failure?.error is Rejected)
        #expect(failure?.head?.status == 503)
        #expect(failure?.head?.field("Retry-After") == "7")
        #expect(failure?.bodyPrefix == Data(repeating: 7, count: 4096))
    }

    @Test(arguments: Situation.allCases)
    func `A body beyond the limit is refused`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .large(byteCount: 100_001))
        var task = TransportTask.data(server.request())
        task.limits.maximumBodySize = 100_000
        let failure = await situation.transport.failure(of: task)
        #expect((failure?.error as? RequestError)?.code == .bodyTooLarge)
        #expect(failure?.head?.status == 200)
    }

    @Test(arguments: Situation.allCases, [301, 302, 303, 307, 308])
    func `A redirect is not followed and its head is reported`(situation: Situation, status: Int) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .redirect(to: "/other", status: status))
        let response = try await situation.transport.perform(.data(server.request()))
        #expect(response.head.status == status)
        #expect(response.head.field("Location") == "/other")
        #expect(server.requests.count == 1)
    }

    @Test(arguments: Situation.allCases)
    func `A redirect without a target is an ordinary response`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .status(302))
        #expect(try await situation.transport.perform(.data(server.request())).head.status == 302)
    }

    @Test(arguments: Situation.allCases, ["Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\"", "Bearer"])
    func `A 401 is an ordinary response`(situation: Situation, challenge: String) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .status(401, fields: ["WWW-Authenticate": challenge], body: Data("denied".utf8)))
        let response = try await situation.transport.perform(.data(server.request()))
        #expect(response.head.status == 401)
        #expect(response.head.field("WWW-Authenticate") == challenge)
        #expect(response.body == Data("denied".utf8))
    }

    @Test(arguments: Situation.allCases)
    func `A body from memory is sent with its length and without an invented media type`(
        situation: Situation
    ) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .echo)
        let body = RequestBody.data(Data("hello".utf8))
        _ = try await situation.transport.perform(.upload(server.request(method: "POST"), from: body))
        let request = try #require(server.requests.first)
        #expect(request.body == Data("hello".utf8))
        #expect(request.field("Content-Length") == "5")
        #expect(request.field("Content-Type") == nil)
        #expect(request.field("Expect") == nil)
    }

    @Test(arguments: Situation.allCases)
    func `An empty body is sent with the length 0`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        _ = try await situation.transport.perform(.upload(server.request(method: "POST"), from: .data(Data())))
        #expect(server.requests.first?.field("Content-Length") == "0")
        #expect(server.requests.first?.field("Content-Type") == nil)
    }

    @Test(arguments: Situation.allCases, [10, 200_000])
    func `A body from a stream is sent with its length`(situation: Situation, size: Int) async throws {
        let server = try await LoopbackServer.start()
        let content = LoopbackServer.pattern(size)
        let stream = BodyStream {
            let rest = Locked(content)
            return BodyStream.Reader {
                rest.withLock { rest in
                    guard !rest.isEmpty else { return nil }
                    defer { rest = rest.dropFirst(9000) }
                    return Data(rest.prefix(9000))
                }
            }
        }
        _ = try await situation.transport.perform(.upload(server.request(method: "PUT"), from: .stream(stream)))
        let request = try #require(server.requests.first)
        #expect(request.body == content)
        #expect(request.field("Content-Length") == "\(size)")
        #expect(request.field("Transfer-Encoding") == nil)
    }

    @Test(arguments: Situation.allCases, ["PUT", "POST"])
    func `A body from a file is sent with its length and without an invented media type`(
        situation: Situation, method: String
    ) async throws {
        let server = try await LoopbackServer.start()
        let file = TemporaryPath()
        try Data(repeating: 3, count: 100_000).write(to: file.url)
        _ = try await situation.transport.perform(.upload(server.request(method: method), from: .file(file.url)))
        let request = try #require(server.requests.first)
        #expect(request.body == Data(repeating: 3, count: 100_000))
        #expect(request.fields.filter { $0.name.lowercased() == "content-length" }.map(\.value) == ["100000"])
        for name in ["Transfer-Encoding", "Content-Type", "Expect"] { #expect(request.field(name) == nil) }
    }

    @Test(arguments: Situation.allCases)
    func `The media type of a file is sent as it is given`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        let file = TemporaryPath()
        try Data("abc".utf8).write(to: file.url)
        var request = server.request(method: "POST")
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        _ = try await situation.transport.perform(.upload(request, from: .file(file.url)))
        #expect(server.requests.first?.field("Content-Type") == "text/plain")
    }

    @Test(arguments: Situation.allCases)
    func `A length that the request declares itself is dropped`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        var request = server.request(method: "POST")
        request.setValue("3", forHTTPHeaderField: "Content-Length")
        request.setValue("chunked", forHTTPHeaderField: "Transfer-Encoding")
        _ = try await situation.transport.perform(.upload(request, from: .data(Data("hello".utf8))))
        let sent = try #require(server.requests.first)
        #expect(sent.fields.filter { $0.name.lowercased() == "content-length" }.map(\.value) == ["5"])
        #expect(sent.field("Transfer-Encoding") == nil)
    }

    @Test(arguments: Situation.allCases)
    func `An accepted body is written to its file`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .large(byteCount: 3_000_000))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let response = try await situation.transport.perform(.download(server.request(), to: file))
        #expect(response.file == file)
        #expect(response.bodySize == 3_000_000)
        #expect(response.body.isEmpty)
        #expect(try Data(contentsOf: file) == LoopbackServer.pattern(3_000_000))
    }

    @Test(arguments: Situation.allCases)
    func `A consumer gets the body in order`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .large(byteCount: 3_000_000))
        let received = Locked(Data())
        let task = TransportTask.stream(server.request()) { piece in received.withLock { $0.append(piece) } }
        _ = try await situation.transport.perform(task)
        #expect(received.withLock { $0 } == LoopbackServer.pattern(3_000_000))
    }

    @Test(arguments: Situation.allCases)
    func `A cancel closes the connection and throws CancellationError`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .stall)
        let transport = situation.transport
        let transfer = Task { try await transport.perform(.data(server.request())) }
        try await server.requests(atLeast: 1)
        transfer.cancel()
        await #expect(throws: CancellationError.self) { try await transfer.value }
        try await server.connectionsClosed(atLeast: 1)
    }

    @Test(arguments: Situation.allCases)
    func `A Task that is cancelled already sends nothing`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        let transport = situation.transport
        let transfer = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.perform(.data(server.request()))
        }
        await #expect(throws: CancellationError.self) { try await transfer.value }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: Situation.allCases)
    func `A custom task is carried out`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .echo)
        let task = TransportTask.custom(server.request()) { session, request in
            var request = request
            request.setValue("1", forHTTPHeaderField: "X-Custom")
            return session.dataTask(with: request)
        }
        let response = try await situation.transport.perform(task)
        #expect(response.head.status == 200)
        #expect(server.requests.first?.field("X-Custom") == "1")
        #expect(!response.body.isEmpty)
    }

    @Test(arguments: Situation.allCases)
    func `The size limit and the rejection of a head hold for a custom task`(situation: Situation) async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .large(byteCount: 100_000))
        var task = TransportTask.custom(server.request()) { $0.dataTask(with: $1) }
        task.limits.maximumBodySize = 1000
        #expect(await situation.transport.code(of: task) == .bodyTooLarge)
        let rejected = await situation.transport.failure(of: task) { _ in throw Rejected() }
        #expect(rejected?.error is Rejected)
    }

    @Test(arguments: Situation.allCases)
    func `A connection that is refused surely sent nothing`(situation: Situation) async throws {
        let port = try RefusingPort()
        let failure = await situation.transport.failure(of: .data(URLRequest(url: port.url)))
        #expect((failure?.error as? RequestError)?.code == .cannotConnect)
        #expect(failure?.phase == .connect)
        #expect(failure?.requestMayHaveBeenProcessed == false)
    }

    @Test(arguments: Situation.allCases)
    func `A data URL is a response that is not HTTP`(situation: Situation) async throws {
        let request = URLRequest(url: URL(string: "data:text/plain;charset=utf-8,hello")!)
        let response = try await situation.transport.perform(.data(request))
        #expect(response.head.status == 0)
        #expect(response.body == Data("hello".utf8))
        #expect(response.head.field("Content-Type")?.hasPrefix("text/plain") == true)
    }
}
