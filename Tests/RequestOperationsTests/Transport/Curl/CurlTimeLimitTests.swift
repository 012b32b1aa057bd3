#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(15))) struct CurlTimeLimitTests {
        @Test func `An attempt that only tried to connect surely sent nothing`() async throws {
            let port = try UnansweredPort()
            let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
            let operation = Persistent(url, attemptTimeLimit: .milliseconds(50))
            let error = await failure(of: operation) as? RequestError
            #expect(error?.code == .timedOut)
            #expect(operation.verdicts.elements.last == false)
            withExtendedLifetime(port) {}
        }

        @Test func `The connection over which a request is sent again has the limit for connecting as well`()
            async throws
        {
            var row = Row()
            // libcurl's own limit, half a second later, has a number: on a busy machine it may be noticed first.
            for _ in 0..<5 where row.code != .timedOut || row.number != nil {
                let peer = try await PythonPeer(.losingOnlyConnection)
                let url = try #require(URL(string: "http://127.0.0.1:\(peer.port)/"))
                let transport = CurlTransport.with { _ in }
                _ = try await transport.get(url)
                var task = TransportTask.data(URLRequest(url: url))
                task.limits.connect = .milliseconds(200)
                row = await transport.row(task)
            }
            #expect(row == .sent(.timedOut, .head))
        }

        @Test func `Time in which the process was stopped does not count as idle`() async throws {
            let peer = try await PythonPeer(.stopping)
            await #expect(processExitsWith: .success) { [port = peer.port as Int] in
                let url = try #require(URL(string: "http://127.0.0.1:\(port)/\(getpid())"))
                var task = TransportTask.data(URLRequest(url: url))
                task.limits.idle = .seconds(5)
                let response = try await CurlTransport().perform(task) { _ in }
                guard response.body == Data("ok".utf8) else { exit(EXIT_FAILURE) }
            }
        }

        @Test func `An attempt that sent its request may have been processed`() async throws {
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
