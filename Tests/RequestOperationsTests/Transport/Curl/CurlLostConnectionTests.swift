#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Operations whose reused connection is lost, over a real one.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlLostConnectionTests {
        /// A configuration whose backoff no test would survive.
        private static func configuration(
            _ transport: CurlTransport, _ adapters: [RequestAdapter] = []
        ) -> RequestConfiguration {
            var configuration = RequestConfiguration.over(transport)
            configuration.retryPolicy.backoff = .constant(.seconds(3600))
            configuration.retryPolicy.elapsedLimit = nil
            configuration.adapters = adapters
            return configuration
        }

        /// Gives each request a token that counts once.
        private static func tokens() -> RequestAdapter {
            let last = Locked(0)
            return .edit { request in
                let token = last.withLock { last in
                    last += 1
                    return last
                }
                request.setValue(String(token), forHTTPHeaderField: "X-Token")
            }
        }

        private func request(_ url: URL, _ method: String = "GET") -> URLRequest {
            var request = URLRequest(url: url)
            request.httpMethod = method
            return request
        }

        private func server() async throws -> LoopbackServer {
            let server = try await LoopbackServer.start()
            server.route("/", .text("first"), .closeWithoutAnswer, .text("third"))
            return server
        }

        @Test func `A token that counts once is sent once`() async throws {
            let server = try await server()
            let configuration = Self.configuration(.with { _ in }, [Self.tokens()])
            _ = try await run(URLRequestOperation(server.url, configuration: configuration))
            let operation = URLRequestOperation(server.url, configuration: configuration)
            #expect(try await run(operation) == Data("third".utf8))
            #expect(server.requests.map { $0.field("X-Token") } == ["1", "2", "3"])
            #expect(operation.attempts.map { $0.timings?.wasReplayed } == [false, false])
            #expect(operation.attempts.map { $0.timings?.connectionWasReused } == [true, false])
        }

        @Test func `What adapters make the same each time is sent again within the attempt`() async throws {
            let server = try await server()
            let adapters = [RequestAdapter.field("X-Token", "1"), .edit { _ in }.repeatable()]
            let configuration = Self.configuration(.with { _ in }, adapters)
            _ = try await run(URLRequestOperation(server.url, configuration: configuration))
            let operation = URLRequestOperation(server.url, configuration: configuration)
            #expect(try await run(operation) == Data("third".utf8))
            #expect(server.requests.count == 3)
            #expect(operation.attempts.map { $0.timings?.wasReplayed } == [true])
        }

        @Test(arguments: [LoopbackServer.Response.closeWithoutAnswer, .reset])
        func `A PUT is attempted again at once, over a new connection`(loss: LoopbackServer.Response) async throws {
            let server = try await LoopbackServer.start()
            let gate = LoopbackServer.Gate()
            server.route("/kept", .held(by: gate, then: .text("ok")))
            let transport = CurlTransport.with { _ in }
            // Two connections are kept; the server loses either with its next request.
            async let first = transport.get(server.url("/kept"))
            async let second = transport.get(server.url("/kept"))
            try await server.requests(atLeast: 2)
            gate.open()
            _ = try await (first, second)
            server.respond { $0.connection <= 2 ? loss : .text("done") }
            let operation = URLRequestOperation(
                request(server.url("/put"), "PUT"), configuration: Self.configuration(transport))
            #expect(try await run(operation) == Data("done".utf8))
            let connections = server.requests.dropFirst(2).map(\.connection)
            #expect(connections.count == 2 && connections.last == 3)
            #expect(operation.attempts.count == 2)
        }

        @Test func `A POST fails, and may have been processed`() async throws {
            let server = try await server()
            let transport = CurlTransport.with { _ in }
            _ = try await transport.get(server.url)
            let operation = URLRequestOperation(
                request(server.url, "POST"), configuration: Self.configuration(transport))
            #expect((await failure(of: operation) as? RequestError)?.code == .connectionLost)
            #expect(operation.attempts.count == 1 && server.requests.count == 2)
        }

        @Test func `Of an upload the connection that was lost is told as used again`() async throws {
            let server = try await server()
            let transport = CurlTransport.with { _ in }
            _ = try await transport.get(server.url)
            let task = TransportTask.upload(request(server.url, "PUT"), from: .data(Data(count: 100)))
            let failure = try #require(await transport.failure(of: task))
            #expect((failure.error as? RequestError)?.code == .connectionLost && failure.connectionWasReused == true)
        }

        @Test func `A fresh connection that is lost is told as fresh`() async throws {
            let server = try await LoopbackServer.start { _ in .closeWithoutAnswer }
            let failure = try #require(await CurlTransport.with { _ in }.failure(of: .data(request(server.url, "PUT"))))
            #expect(failure.connectionWasReused == false)
        }

        @Test(.enabled(if: Libcurl.sharesConnections), arguments: CurlReplayTests.losses, ["GET", "PUT"])
        func `Requests that lose a connection of HTTP/2 are attempted again at once, over another`(
            kind: PythonPeer.Kind, method: String
        ) async throws {
            let (peer, transport, url) = try await PythonPeer.http2(kind)
            _ = try await transport.get(url)
            #expect(await peer.line() == "stream 1 of connection 1")
            let operations = (1...2).map { _ in
                URLRequestOperation(request(url, method), configuration: Self.configuration(transport))
            }
            async let first = run(operations[0])
            async let second = run(operations[1])
            #expect(try await [first, second] == [Data("12345".utf8), Data("12345".utf8)])
            let streams = [await peer.line(), await peer.line(), await peer.line(), await peer.line()]
            #expect(streams.map { $0.hasSuffix(" of connection 1") } == [true, true, false, false])
            // Versions 8.0 to 8.6 send a safe request again by themselves.
            #expect(operations.allSatisfy { $0.attempts.count == 2 || $0.attempts.last?.timings?.wasReplayed == true })
        }

        @Test func `A stream of HTTP/2 that is reset alone is no lost connection`() async throws {
            let peer = try await HTTP2Peer(
                """
                if s.path == "/": s.head(200, ends=True)
                else: s.connection.send(3, 0, s.id, bytes([0, 0, 0, 2]))
                """)
            _ = try await peer.get()
            // A lost connection would say nothing about the host.
            let breaker = KnownBreaker(minimumThroughput: 1, clock: ManualClock())
            var configuration = RequestConfiguration.over(peer.transport)
            configuration.retryPolicy.maximumRetries = 0
            configuration.use(breaker)
            let operation = URLRequestOperation(peer.request("/reset"), configuration: configuration)
            #expect((await failure(of: operation) as? RequestError)?.code == .connectionLost)
            #expect(operation.attempts.map { $0.timings?.connectionWasReused } == [true])
            #expect(breaker.state(of: try #require(peer.request("/reset").url)) == .open)
        }
    }
#endif
