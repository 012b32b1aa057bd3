#if Observability
    import InMemoryLogging
    import Logging
    import RequestOperationsObservability
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(2))) struct LoggingTests {
        private let handler = InMemoryLogHandler()

        private func logger(_ level: Logger.Level) -> Logger {
            var logger = Logger(label: "test") { _ in handler }
            logger.logLevel = level
            return logger
        }

        @Test func `Each attempt is a line with its number, status and redacted URL`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .status(503), .text("ok"))
            let client = makeClient(of: server)
            client.log(to: logger(.debug))
            let _: String = try await client.get("x?token=hidden")
            await client.queue.finished()
            try #require(handler.entries.count == 2)
            let (failed, succeeded) = (handler.entries[0], handler.entries[1])
            #expect(failed.level == .info && succeeded.level == .debug)
            #expect(failed.metadata["attempt"] == "1" && succeeded.metadata["attempt"] == "2")
            #expect(failed.metadata["http.response.status_code"] == "503" && failed.metadata["error.type"] == "503")
            #expect(succeeded.metadata["http.response.status_code"] == "200" && succeeded.metadata["error.type"] == nil)
            #expect(succeeded.metadata["wait.reason"] == "backoff")
            #expect(failed.metadata["url.full"] == "\(server.url("/x?token=redacted"))")
            #expect(failed.metadata["request.id"] == succeeded.metadata["request.id"])
        }

        @Test func `A request that fails for good is a warning that says why it was not retried`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .status(404))
            let client = makeClient(of: server)
            client.log(to: logger(.warning))
            await #expect(throws: RequestError.self) { let _: String = try await client.get("x") }
            await client.queue.finished()
            #expect(handler.entries.map(\.level) == [.warning])
            #expect(handler.entries.first?.metadata["not_retried"] == "not a passing failure")
            #expect(handler.entries.first?.metadata["attempts"] == "1")
        }

        @Test func `A logger with a higher level gets no lines of attempts`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/x", .status(503), .text("ok"))
            let client = makeClient(of: server)
            client.log(to: logger(.error))
            let _: String = try await client.get("x")
            await client.queue.finished()
            #expect(handler.entries.isEmpty)
        }
    }
#endif
