#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// The rows of the table of errors that are about limits: of time, of size, of the system.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlLimitTests {
        private let transport = CurlTransport.with { _ in }

        @Test func `A source that gives nothing is timedOut after the idle limit`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .text("here"))
            var request = URLRequest(url: server.url)
            request.httpMethod = "POST"
            let silence = BodyStream {
                BodyStream.Reader {
                    // Ended when the transfer is, since nobody moves the clock.
                    try await ManualClock().sleep(for: .seconds(1))
                    return nil
                }
            }
            var task = TransportTask.upload(request, from: .stream(silence))
            task.limits.idle = .seconds(3)
            #expect(await transport.row(task) == .sent(.timedOut, .request))
        }

        @Test func `What ends a body that was held back ends the transfer at once`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .stallBody(after: 70_000, of: 1_000_000))
            var task = TransportTask(URLRequest(url: server.url))
            task.limits.idle = .seconds(60)
            task.limits.maximumBodySize = 65_000
            let mayGoOn = DispatchSemaphore(value: 0)
            let driver = OwnDriver(CurlTransport.with { _ in }.configuration)
            let held = try driver.transfer(task) { _ in mayGoOn.wait() }
            let transfer = Task { try await onBlockingThread { try await held.run() } }
            await eventually { held.waitsForAnswer }
            let start = ContinuousClock.now
            mayGoOn.signal()
            let failure = await #expect(throws: TransferFailure.self) { try await transfer.value }
            #expect((failure?.error as? RequestError)?.code == .bodyTooLarge)
            #expect(start.duration(to: .now) < .seconds(45))
            await driver.fail()
        }

        @Test
        func `A process without any descriptor fails its requests as outOfLocalResources, and goes on with new ones`()
            async throws
        {
            let port = try RefusingPort()
            await #expect(processExitsWith: .success) { [url = port.url.absoluteString as String] in
                let url = try #require(URL(string: url))
                let transport = CurlTransport.with { _ in }
                let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                getrlimit(files, &limit)
                var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
                setrlimit(files, &none)
                let first = await transport.row(url)
                setrlimit(files, &limit)
                let second = await transport.row(url)
                guard first == .unsent(.outOfLocalResources), second == .unsent(.cannotConnect, 7) else {
                    exit(EXIT_FAILURE)
                }
            }
        }

        @Test(arguments: [64 << 10, 1000])
        func `Of a rejected gibibyte no more is read than the limit and one buffer`(limit: Int) async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .large(byteCount: 1 << 30))
            var task = TransportTask(URLRequest(url: server.url))
            task.limits.errorBodyLimit = limit
            let failure = await transport.failure(of: task) { _ in throw CocoaError(.featureUnsupported) }
            #expect(try #require(failure).bodySize <= limit + 16 << 10)
        }

        @Test func `A pipe without a writer is no body, and is waited for by nobody`() async throws {
            let path = TemporaryPath()
            try #require(mkfifo(path.url.path, 0o600) == 0)
            let port = try RefusingPort()
            var request = URLRequest(url: port.url)
            request.httpMethod = "POST"
            #expect(await transport.row(.upload(request, from: .file(path.url))) == .unsent(.unencodableBody))
        }

        @Test func `More redirects than allowed are tooManyRedirects`() async throws {
            let server = try await LoopbackServer.start()
            for number in 0..<20 { server.route("/\(number)", .redirect(to: "/\(number + 1)")) }
            var configuration = RequestConfiguration()
            configuration.transport = transport
            let operation = URLRequestOperation(server.url("/0"), configuration: configuration)
            OperationQueue().addOperation(operation)
            let error = await #expect(throws: RequestError.self) { try await operation.value }
            #expect(error?.code == .tooManyRedirects)
            #expect(server.requests.count == 11)
        }

        @Test func `A server that never answers is timedOut after the idle limit`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .stall)
            var task = TransportTask(URLRequest(url: server.url))
            task.limits.idle = .seconds(4)
            let row = await transport.row(task)
            #expect(row == .sent(.timedOut, .head))
        }

        @Test func `A handshake that is never answered is timedOut after the connect limit`() async throws {
            let peer = try await PythonPeer(.silent)
            let url = try #require(URL(string: "https://127.0.0.1:\(peer.port)/"))
            var task = TransportTask(URLRequest(url: url))
            task.limits.connect = .seconds(2)
            let row = await CurlTransport.trusting().row(task)
            #expect(row == .unsent(.timedOut))
            #expect(await peer.line() == "begin")
            #expect(await peer.line() == "end")
        }

        @Test func `A request that is cancelled while it connects leaves no socket behind`() async throws {
            let peer = try await PythonPeer(.silent)
            let url = try #require(URL(string: "https://127.0.0.1:\(peer.port)/"))
            var unlimited = TransportTask(URLRequest(url: url))
            unlimited.limits.connect = nil
            let task = Task { [unlimited] in try await CurlTransport.trusting().perform(unlimited) { _ in } }
            #expect(await peer.line() == "begin")
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(await peer.line() == "end")
        }

        @Test(arguments: ["http", "socks5", "socks5h"])
        func `A request that is cancelled while a proxy does not answer leaves no socket behind`(scheme: String)
            async throws
        {
            let peer = try await PythonPeer(.silent)
            let proxy = try #require(URL(string: "\(scheme)://127.0.0.1:\(peer.port)"))
            let url = try #require(URL(string: "https://127.0.0.1:1/"))
            let task = Task { try await CurlTransport.with { $0.proxy = .url(proxy) }.get(url) }
            #expect(await peer.line() == "begin")
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(await peer.line() == "end")
        }

        @Test func `A request that is cancelled while its host does not answer leaves no socket behind`() async throws {
            let port = try UnansweredPort()
            let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
            let task = Task { [transport] in try await transport.get(url) }
            await eventually { Self.isConnecting(to: port) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await eventually { !Self.isConnecting(to: port) }
        }

        /// Whether a socket that is none of the port's own waits for it. The kernel has completed none but the port's.
        private static func isConnecting(to port: UnansweredPort) -> Bool {
            SocketTable.now.contains {
                $0.remotePort == port.number && $0.state == .connecting && !port.queuedPorts.contains($0.localPort)
            }
        }

        @Test func `A body that stalls is timedOut after the idle limit`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .stallBody(after: 10, of: 100))
            var task = TransportTask(URLRequest(url: server.url))
            task.limits.idle = .seconds(4)
            let row = await transport.row(task)
            #expect(row == .sent(.timedOut, .body, bytes: 10))
        }
    }
#endif
