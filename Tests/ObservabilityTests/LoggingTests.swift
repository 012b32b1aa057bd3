#if Observability
    import InMemoryLogging
    import Logging
    import RequestOperationsObservability
    import RequestOperationsTesting
    import Testing
    import Tracing

    private enum PlaceKey: ServiceContextKey { typealias Value = String }

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

        @Test func `An attempt that the deadline ends is a line`() async throws {
            let clock = ManualClock()
            var configuration = configuration(over: ScriptedTransport([.stall]))
            configuration.clock = clock
            configuration.deadline = .seconds(5)
            configuration.log(to: logger(.info))
            async let ended: Void = end(URLRequestOperation(anyURL, configuration: configuration))
            await clock.sleepers(1)
            clock.advance(by: .seconds(5))
            await ended
            #expect(handler.entries.map(\.level) == [.info, .warning])
            #expect(handler.entries.first?.metadata["attempt"] == "1")
            #expect(handler.entries.first?.metadata["error.type"] == "timedOut")
        }

        @Test func `A failed attempt is logged before the wait for the next one`() async throws {
            let clock = ManualClock()
            var configuration = configuration(over: ScriptedTransport([.status(503), .body(Data())]))
            configuration.clock = clock
            configuration.retryPolicy.backoff = .constant(.seconds(9), jitter: .none)
            configuration.log(to: logger(.debug))
            async let ended: Void = end(URLRequestOperation(anyURL, configuration: configuration))
            await clock.sleepers(1)
            #expect(handler.entries.map(\.metadata["attempt"]) == ["1"])
            #expect(handler.entries.first?.metadata["stage"] == "validate")
            clock.advance(by: .seconds(9))
            await ended
            #expect(handler.entries.map(\.metadata["attempt"]) == ["1", "2"])
        }

        @Test func `Other work of an operation is not logged`() async throws {
            struct Broken: Error {}
            var configuration = configuration(over: ScriptedTransport([.stall]))
            configuration.retryPolicy.maximumRetries = 1
            configuration.log(to: logger(.trace))
            await end(RetryingOperation<Int>(configuration: configuration) { _ in throw Broken() })
            #expect(handler.entries.isEmpty)
        }

        @Test func `All lines have the context in which the operation was made, even after a stage that goes on`() async
        {
            var handler = handler
            handler.metadataProvider = Logger.MetadataProvider {
                ["place": "\(ServiceContext.current?[PlaceKey.self] ?? "none")"]
            }
            var logger = Logger(label: "test") { [handler] _ in handler }
            logger.logLevel = .debug
            var configuration = configuration(over: ScriptedTransport([.body(Data())]))
            configuration.log(to: logger)
            var context = ServiceContext.topLevel
            context[PlaceKey.self] = "page"
            await ServiceContext.withValue(context) { [configuration] in
                await end(URLRequestOperation(anyURL, configuration: configuration))
                await cancelInStage(configuration)
            }
            #expect(handler.entries.map(\.metadata["place"]) == ["page", "page"])
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
