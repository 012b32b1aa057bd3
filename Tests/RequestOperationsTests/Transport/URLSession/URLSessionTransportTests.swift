import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// What only some situations can do, and what happens around the session.
@Suite(.timeLimit(.minutes(15)))
struct URLSessionTransportTests {
    private let transport = URLSessionTransport()

    @Test func `A task with a trust policy is refused with a sentence before anything is sent`() async throws {
        let server = try await LoopbackServer.start()
        var task = TransportTask.data(server.request())
        task.trust = .system
        let failure = await #expect(throws: TransferFailure.self) { try await transport.perform(task) }
        let error = try #require(failure?.error as? RequestError)
        #expect(error.code == .unsupported && error.reason?.contains("trust") == true)
        #expect(failure?.phase == .connect && failure?.requestMayHaveBeenProcessed == false)
        #expect(server.connections.isEmpty)
    }

    // MARK: Sessions

    #if canImport(Darwin)
        @Test func `A caller's delegate hears nothing of the transport's tasks`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .redirect(to: "/other"))
            let (transport, delegate) = foreign()
            _ = try await transport.perform(.data(server.request()))
            #expect(delegate.calls.elements.isEmpty)
        }

        @Test func `A caller's delegate is asked for credentials`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .requiringBasic(user: "ada", password: "secret", then: .text("hello")))
            let (transport, delegate) = foreign(URLCredential(user: "ada", password: "secret", persistence: .none))
            let response = try await transport.perform(.data(server.request()))
            #expect(response.head.status == 200)
            #expect(response.body == Data("hello".utf8))
            #expect(delegate.calls.elements == ["challenge"])
        }

        @Test func `A session whose delegate queue is concurrent is refused with a sentence`() async throws {
            let session = URLSession(
                configuration: .ephemeral, delegate: URLSessionTransport.Delegate(), delegateQueue: OperationQueue())
            let failure = await URLSessionTransport(session: session).failure(of: .data(anyRequest))
            let error = try #require(failure?.error as? RequestError)
            #expect(error.code == .unsupported)
            #expect(error.reason?.contains("not serial") == true)
            #expect(failure?.phase == .connect)
        }

        private func foreign(_ credential: URLCredential? = nil) -> (URLSessionTransport, ForeignDelegate) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCredentialStorage = nil
            let delegate = ForeignDelegate(credential: credential)
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            return (URLSessionTransport(session: session), delegate)
        }
    #endif

    @Test func `The fields of a caller's configuration are sent, whatever their types`() async throws {
        let server = try await LoopbackServer.start()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Number": 7, "X-Text": "seven"]
        _ = try await URLSessionTransport(configuration: configuration).perform(.data(server.request()))
        #expect(server.requests.first?.field("X-Number") == "7")
        #expect(server.requests.first?.field("X-Text") == "seven")
    }

    @Test func `A configuration with a cache is carried out`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .text("hello"))
        let transport = URLSessionTransport(configuration: .default)
        #expect(try await transport.perform(.data(server.request())).body == Data("hello".utf8))
    }

    @Test func `The transport's own session sends back no cookie`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .status(200, fields: ["Set-Cookie": "a=1"]))
        for _ in 1...2 { _ = try await transport.perform(.data(server.request())) }
        #expect(server.requests.last?.field("Cookie") == nil)
    }

    @Test func `An invalidated session is refused when our delegate has heard of it`() async throws {
        let session = try #require(await sessionOfTransport())
        session.invalidateAndCancel()
        // Takes the way of the call that tells the delegate, behind it.
        await withCheckedContinuation { continuation in session.getAllTasks { _ in continuation.resume() } }
        #expect(await transport.code(of: .data(anyRequest)) == .unsupported)
    }

    @Test func `A session that is invalidated ends its transfers as cancelled by another`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .stall)
        let session = try #require(await sessionOfTransport())
        async let failure = transport.failure(of: .data(server.request()))
        try await server.requests(atLeast: 1)
        session.invalidateAndCancel()
        #expect((await failure?.error as? URLError)?.code == .cancelled)
    }

    /// The session of the transport, as the closure of a custom task gets it.
    private func sessionOfTransport() async -> URLSession? {
        let known = Locked<URLSession?>(nil)
        let task = TransportTask.custom(anyRequest) { session, _ in
            known.withLock { $0 = session }
            throw Rejected()
        }
        _ = await transport.failure(of: task)
        return known.withLock { $0 }
    }

    // MARK: Custom tasks

    @Test(arguments: Situation.allCases)
    func `A download task is refused with a sentence`(situation: Situation) async throws {
        let task = TransportTask.custom(anyRequest) { session, request in session.downloadTask(with: request) }
        #expect(await situation.transport.code(of: task) == .unsupported)
    }

    @Test(arguments: Situation.allCases)
    func `An error out of the closure of a custom task is kept`(situation: Situation) async throws {
        let task = TransportTask.custom(anyRequest) { _, _ in throw Rejected() }
        let failure = await situation.transport.failure(of: task)
        #expect(failure?.error is Rejected)
        #expect(failure?.requestMayHaveBeenProcessed == false)
    }

    // MARK: What is sent

    @Test func `A GET with a body is refused with a sentence`() async throws {
        let failure = await transport.failure(of: .upload(anyRequest, from: .data(Data("a".utf8))))
        #expect((failure?.error as? RequestError)?.code == .unsupported)
        #expect(failure?.phase == .connect)
    }

    @Test func `A scheme in capitals is understood`() async throws {
        let server = try await LoopbackServer.start()
        let url = try #require(URL(string: "HTTP://127.0.0.1:\(server.port)/"))
        #expect(try await transport.perform(.data(URLRequest(url: url))).head.status == 404)
    }

    @Test(arguments: ["/no/such/file", "/tmp", "/dev/zero"])
    func `A body that is no readable regular file is refused before anything is sent`(path: String) async throws {
        let server = try await LoopbackServer.start()
        let task = TransportTask.upload(server.request(method: "PUT"), from: .file(URL(fileURLWithPath: path)))
        let failure = await transport.failure(of: task)
        #expect((failure?.error as? RequestError)?.code == .unencodableBody)
        #expect(failure?.requestMayHaveBeenProcessed == false)
        #expect(server.requests.isEmpty)
    }

    @Test func `A stream that fails sends nothing`() async throws {
        let server = try await LoopbackServer.start()
        let stream = BodyStream { BodyStream.Reader { throw Rejected() } }
        let failure = await transport.failure(of: .upload(server.request(method: "PUT"), from: .stream(stream)))
        #expect(failure?.error is Rejected)
        #expect(failure?.requestMayHaveBeenProcessed == false)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [1, 3])
    func `A stream that does not give what it declared sends nothing`(length: Int64) async throws {
        let stream = BodyStream(length: length) {
            let pieces = Locked([Data("ab".utf8)])
            return BodyStream.Reader { pieces.withLock { $0.popLast() } }
        }
        #expect(await transport.code(of: .upload(anyRequest, from: .stream(stream))) == .unencodableBody)
    }

    @Test func `A cancel does not wait for the source of a body`() async throws {
        let asked = Door()
        let never = Door()
        let stream = BodyStream {
            BodyStream.Reader {
                asked.open()
                await never.pass()
                return nil
            }
        }
        let transfer = Task { [transport] in
            try await transport.perform(.upload(anyRequest, from: .stream(stream)))
        }
        await asked.pass()
        transfer.cancel()
        await #expect(throws: CancellationError.self) { try await transfer.value }
        never.open()
    }

    @Test func `A kept connection that is dead costs a PUT neither its body nor an attempt`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/put", .closeWithoutAnswer, .echo)
        _ = try await transport.perform(.data(server.request()))
        let task = TransportTask.upload(server.request("/put", method: "PUT"), from: .data(Data("hello".utf8)))
        let response = try await transport.perform(task)
        #expect(response.head.status == 200)
        #expect(response.timings?.wasReplayed == true)
        #expect(String(decoding: response.body, as: UTF8.self).contains("hello"))
        // What Foundation itself sent again, without the body, was not a whole request.
        #expect(
            server.requests.filter { $0.method == "PUT" && $0.isBodyComplete }.map(\.body).allSatisfy {
                $0 == Data("hello".utf8)
            })
    }

    @Test func `A POST that a kept connection swallowed is not sent again`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/post", .closeWithoutAnswer, .echo)
        _ = try await transport.perform(.data(server.request()))
        let task = TransportTask.upload(server.request("/post", method: "POST"), from: .data(Data("hello".utf8)))
        let failure = await transport.failure(of: task)
        #expect((failure?.error as? RequestError)?.code == .connectionLost)
        #expect(failure?.requestMayHaveBeenProcessed == true)
        #expect(failure?.connectionWasReused == true)
        #expect(server.requests.filter { $0.method == "POST" && $0.isBodyComplete }.count == 1)
    }

    // MARK: What arrives

    @Test func `Progress ends with all that was sent and received`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .large(byteCount: 500_000))
        let reports = Collector<TransferProgress>()
        var task = TransportTask.upload(server.request(method: "POST"), from: .data(Data(count: 200_000)))
        task.onProgress = { reports.append($0) }
        _ = try await transport.perform(task)
        #expect(
            reports.elements.last
                == TransferProgress(
                    bytesSent: 200_000, bytesToSend: 200_000, bytesReceived: 500_000, bytesToReceive: 500_000))
    }

    @Test func `A slow consumer loses no byte of what had to be kept in a file`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .closing(.large(byteCount: 4_000_000)))
        let received = Locked(Data())
        let all = Door()
        let task = TransportTask.stream(server.request()) { piece in
            await all.pass()
            received.withLock { $0.append(piece) }
        }
        async let response = transport.perform(task)
        // The server closes when it has sent all, which it cannot before all of it has been taken from the socket but for
        // what the system's buffers hold.
        try await server.connectionsClosed(atLeast: 1)
        all.open()
        #expect(try await response.bodySize == 4_000_000)
        #expect(received.withLock { $0 } == LoopbackServer.pattern(4_000_000))
    }

    @Test func `An error of a consumer ends the transfer and closes the connection`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .stallBody(after: 1000, of: 2000))
        let failure = await transport.failure(of: .stream(server.request()) { _ in throw Rejected() })
        #expect(failure?.error is Rejected)
        #expect(failure?.phase == .body)
        try await server.connectionsClosed(atLeast: 1)
    }

    @Test func `A transfer in which nothing moves times out to the fraction of a second`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/head", .stall)
        server.route("/body", .stallBody(after: 10, of: 100))
        for path in ["/head", "/body"] {
            var task = TransportTask.data(server.request(path))
            task.limits.idle = .milliseconds(300)
            let start = ContinuousClock.now
            #expect(await transport.code(of: task) == .timedOut)
            let time = start.duration(to: .now)
            // Without its own limits the transport would wait for 60 s; a busy machine is late by less.
            #expect(time > .milliseconds(290) && time < .seconds(50))
        }
    }

    @Test func `A body that breaks off fails with the head kept, in memory and in a file`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .truncated(declared: 1000, sending: 400))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        for task in [TransportTask.data(server.request()), .download(server.request(), to: file)] {
            let failure = await transport.failure(of: task)
            #expect((failure?.error as? RequestError)?.code == .truncatedBody)
            #expect(failure?.head?.status == 200)
            #expect(failure?.phase == .body)
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `A connection that is reset or closed without an answer is lost`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/reset", .reset)
        server.route("/close", .closeWithoutAnswer)
        server.route("/body", .resetBody(after: 100, of: 1000))
        for path in ["/reset", "/close", "/body"] {
            #expect(await transport.code(of: .data(server.request(path))) == .connectionLost)
        }
    }

    @Test func `An IPv6 literal is refused with a sentence or works`() async throws {
        let server = try await LoopbackServer.start(includingIPv6: true)
        let url = try #require(URL(string: "http://[::1]:\(server.port)/"))
        let code = await transport.code(of: .data(URLRequest(url: url)))
        #expect(code == .unsupported || code == nil)
    }

    @Test func `A head without a body is not held back for it`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .stallBody(after: 0, of: 10))
        let head = Door()
        let transfer = Task { [transport] in try await transport.perform(.data(server.request())) { _ in head.open() } }
        await head.pass()
        transfer.cancel()
        await #expect(throws: CancellationError.self) { try await transfer.value }
    }

    @Test func `A rejected body is read no longer than its limits`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/large", .stallBody(after: 100_000, of: 200_000))
        server.route("/drip", .drip(Data(count: 1000), chunk: 1, every: .milliseconds(50)))
        for path in ["/large", "/drip"] {
            var task = TransportTask.data(server.request(path))
            task.limits.errorBodyTimeLimit = path == "/large" ? .seconds(30) : .milliseconds(100)
            let failure = await transport.failure(of: task) { _ in throw Rejected() }
            #expect(failure?.error is Rejected)
        }
        try await server.connectionsClosed(atLeast: 2)
    }
}
