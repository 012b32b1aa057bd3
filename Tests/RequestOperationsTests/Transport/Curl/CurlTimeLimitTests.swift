#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct CurlTimeLimitTests {
        @Test func anAttemptThatOnlyTriedToConnectSurelySentNothing() async throws {
            let port = try UnansweredPort()
            let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
            let operation = Persistent(url, attemptTimeLimit: .milliseconds(50))
            let error = await failure(of: operation) as? RequestError
            #expect(error?.code == .timedOut)
            #expect(operation.verdicts.elements.last == false)
            withExtendedLifetime(port) {}
        }

        @Test func anAttemptThatSentItsRequestMayHaveBeenProcessed() async throws {
            let server = try await LoopbackServer.start { _ in .stall }
            let operation = Persistent(server.url, attemptTimeLimit: .seconds(5), maximumAttempts: 1)
            _ = await failure(of: operation)
            #expect(operation.verdicts.elements == [true])
        }
    }

    /// Goes on until an attempt surely was not sent: on a busy system a transfer may take longer to end than it is given, and
    /// then keeps what it knows to itself.
    private final class Persistent: URLRequestOperation<Data>, @unchecked Sendable {
        /// Whether each attempt may have been processed.
        let verdicts = Collector<Bool>()
        private let maximumAttempts: Int

        init(_ url: URL, attemptTimeLimit: Duration, maximumAttempts: Int = 100) {
            self.maximumAttempts = maximumAttempts
            var configuration = RequestConfiguration.over(CurlTransport.with { _ in })
            configuration.connectTimeLimit = nil
            configuration.attemptTimeLimit = attemptTimeLimit
            super.init(URLRequest(url: url), decoder: .data, configuration: configuration)
        }

        override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
            verdicts.append(failure.requestMayHaveBeenProcessed)
            let goesOn = failure.requestMayHaveBeenProcessed && failure.attempt < maximumAttempts
            return goesOn ? .retry(after: .zero) : .stop
        }
    }
#endif
