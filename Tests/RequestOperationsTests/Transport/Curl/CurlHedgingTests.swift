#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What becomes of the connections of attempts that run beside each other.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlHedgingTests {
        private static func configuration() -> RequestConfiguration {
            var configuration = RequestConfiguration.over(CurlTransport.with { _ in })
            configuration.hedging = Hedging(delay: .milliseconds(20))
            return configuration
        }

        @Test func `The connection of the attempt that lost is closed, that of the winner stays`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .stall, .text("second"))
            let configuration = Self.configuration()
            let operation = URLRequestOperation(server.url, configuration: configuration)
            #expect(try await run(operation) == Data("second".utf8))
            let closed = try await server.connectionsClosed(atLeast: 1)
            #expect(closed.map(\.requestsServed) == [0])
            #expect(closed.allSatisfy { $0.end == .closedByPeer || $0.end == .resetByPeer })
            #expect(server.openConnectionCount == 1 && server.connections.count == 2)
            withExtendedLifetime(configuration) {}
        }

        @Test func `A cancel closes the connections of both attempts`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .stall)
            let operation = URLRequestOperation(server.url, configuration: Self.configuration())
            OperationQueue().addOperation(operation)
            try await server.requests(atLeast: 2)
            operation.cancel()
            let closed = try await server.connectionsClosed(atLeast: 2)
            #expect(closed.count == 2 && server.openConnectionCount == 0)
            #expect(operation.isCancelled)
        }
    }
#endif
