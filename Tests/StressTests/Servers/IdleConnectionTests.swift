#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Servers that end connections over which nothing comes for some seconds.
    @Suite(.timeLimit(.minutes(5)))
    struct IdleConnectionTests {
        @Test(arguments: ServerSite.all.filter(\.program.endsIdleConnections))
        func `Requests are answered after the server has ended idle connections`(_ site: ServerSite) async throws {
            try await RunningServer.with(site) { server in
                for _ in 0..<Stress.rounds(2, shortened: 1) {
                    _ = try await concurrently(0..<8) { _ in try await server.get("1k") }
                    try #require(try await server.endsConnections())
                    _ = try await concurrently(0..<8) { number in
                        number % 2 == 0 && !site.program.uploads.isEmpty
                            ? try await server.post(.data(RunningServer.body(1 << 10)), isSumOf: "1k")
                            : try await server.get("1k")
                    }
                }
            }
        }
    }
#endif
