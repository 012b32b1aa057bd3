#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Connections that take several requests, and over which nothing comes any more.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlSilenceTests {
        /// Answers with the number of the connection. Its first connection is silent from when it is asked for `/freeze`, and
        /// says what it is asked for then.
        private static func freezingPeer() async throws -> HTTP2Peer {
            try await HTTP2Peer(
                """
                if s.path == "/freeze" and s.connection.number == 1: s.connection.is_frozen = True
                if getattr(s.connection, "is_frozen", False):
                    tell(s.method, s.path)
                    s.reset()
                else:
                    s.head(200)
                    s.send(b"%d" % s.connection.number)
                """)
        }

        private static func task(_ request: URLRequest, idle: Duration) -> TransportTask {
            var task = TransportTask.data(request)
            task.limits.idle = idle
            return task
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `A connection over which nothing comes is used no more, and others on it are attempted again at once`()
            async throws
        {
            let peer = try await Self.freezingPeer()
            #expect(try await peer.text() == "1")
            var configuration = RequestConfiguration.over(peer.transport)
            configuration.retryPolicy.backoff = .constant(.seconds(3600))
            let operation = URLRequestOperation(peer.request("/freeze"), configuration: configuration)
            let other = Task { try await run(operation) }
            #expect(await peer.line() == "GET /freeze")
            let row = await peer.transport.row(Self.task(peer.request("/late"), idle: .seconds(1)))
            #expect(row.code == .timedOut)
            let value = try await other.value
            #expect(value == Data("2".utf8) && operation.attempts.count == 2)
            for _ in 1...10 {
                let response = try await peer.transport.perform(Self.task(peer.request(), idle: .seconds(10))) { _ in }
                #expect(response.body == Data("2".utf8))
            }
        }

        @Test func `A connection that is silent is not used again though nobody else was on it`() async throws {
            let peer = try await Self.freezingPeer()
            #expect(try await peer.text() == "1")
            let row = await peer.transport.row(Self.task(peer.request("/freeze"), idle: .seconds(1)))
            #expect(row.code == .timedOut)
            #expect(try await peer.text() == "2")
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `A request that is not safe fails with its silent connection, and may have been processed`()
            async throws
        {
            let peer = try await Self.freezingPeer()
            #expect(try await peer.text() == "1")
            let other = Task {
                var task = TransportTask.upload(
                    peer.request("/freeze", method: "POST"), from: .data(Data("1".utf8)))
                task.limits.idle = .seconds(60)
                return await peer.transport.row(task)
            }
            #expect(await peer.line() == "POST /freeze")
            let row = await peer.transport.row(Self.task(peer.request("/late"), idle: .seconds(1)))
            #expect(row.code == .timedOut)
            let otherRow = await other.value
            #expect(otherRow.code == .connectionLost && !otherRow.isSurelyNotSent)
            #expect(try await peer.text() == "2")
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `A connection over which another stream was answered meanwhile stays`() async throws {
            try await oneOfFiveTries(answerBesideSilence)
        }

        private func answerBesideSilence() async throws {
            let peer = try await HTTP2Peer(
                """
                if s.path == "/silent":
                    # Surely later than this stream was sent, and sooner than its limit.
                    threading.Event().wait(1.5)
                    s.connection.held.head(200)
                    s.reset()
                elif s.path == "/hold":
                    s.connection.held = s
                    tell("hold")
                    door.wait()
                    s.send(b"%d" % s.connection.number)
                else:
                    if s.path == "/open": door.set()
                    s.head(200)
                    s.send(b"%d" % s.connection.number)
                """)
            #expect(try await peer.text() == "1")
            let held = Task { try await peer.text("/hold") }
            #expect(await peer.line() == "hold")
            let row = await peer.transport.row(Self.task(peer.request("/silent"), idle: .seconds(5)))
            #expect(row.code == .timedOut)
            guard try await peer.text("/open") == "1", try await held.value == "1" else { throw Problem() }
        }
    }
#endif
