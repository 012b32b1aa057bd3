#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Glibc
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Many requests of a process with few descriptors.
    @Suite(.serialized, .timeLimit(.minutes(15)))
    struct DescriptorTests {
        @Test(arguments: [1024, 256, 64, 40])
        func `Of three thousand requests none is lost, with as many in flight as descriptors allow`(limit: Int)
            async throws
        {
            let server = try await LoopbackServer.start(logLimit: 1) { _ in
                .delayed(.milliseconds(20), then: .text("here"))
            }
            let count = Stress.rounds(3000, shortened: 100)
            await #expect(processExitsWith: .success) {
                [limit, count = count as Int, url = server.url.absoluteString as String] in
                try lowerDescriptorLimit(to: limit)
                var configuration = CurlTransport.Configuration()
                configuration.maximumConnectionsPerHost = nil
                let transport = CurlTransport(configuration: configuration)
                guard try await successes(of: count, to: url, over: transport) == count else { exit(EXIT_FAILURE) }
            }
        }

        @Test(arguments: [1024, 256, 64, 40])
        func `Of ten thousand requests of a plain queue none is lost by default, and they take no minute`(
            limit: Int
        ) async throws {
            let server = try await LoopbackServer.start(logLimit: 1) { _ in .text("here") }
            let count = Stress.rounds(10_000, shortened: 100)
            await #expect(processExitsWith: .success) {
                [limit, count = count as Int, url = server.url.absoluteString as String] in
                try lowerDescriptorLimit(to: limit)
                let start = ContinuousClock.now
                guard try await successes(of: count, to: url, over: .shared) == count else { exit(EXIT_FAILURE) }
                print("\(count) requests with \(limit) descriptors took \(start.duration(to: .now))")
                guard start.duration(to: .now) < .seconds(60) else { exit(EXIT_FAILURE) }
            }
        }
    }

    /// Lowers the limit of open files of this process.
    private func lowerDescriptorLimit(to limit: Int) throws {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var bounds = rlimit()
        try #require(getrlimit(files, &bounds) == 0)
        bounds.rlim_cur = rlim_t(limit)
        try #require(setrlimit(files, &bounds) == 0)
    }

    /// How many of so many requests succeed, in a queue without a width.
    private func successes(of count: Int, to text: String, over transport: CurlTransport) async throws -> Int {
        let url = try #require(URL(string: text))
        var configuration = RequestConfiguration()
        configuration.transport = transport
        let operations = (0..<count).map { _ in URLRequestOperation(url, configuration: configuration) }
        let queue = OperationQueue()
        for operation in operations { queue.addOperation(operation) }
        var successes = 0
        for operation in operations {
            do {
                if try await operation.value == Data("here".utf8) { successes += 1 }
            } catch {
                print("\(error)")
            }
        }
        return successes
    }
#endif
