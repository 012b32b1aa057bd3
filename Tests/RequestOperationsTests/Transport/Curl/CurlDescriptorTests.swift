#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Glibc
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Processes with few descriptors.
    @Suite(.timeLimit(.minutes(15)))
    struct CurlDescriptorTests {
        @Test(arguments: [1024, 64, 40])
        func `Requests of a plain queue by default all succeed, whatever the limit of open files`(limit: Int)
            async throws
        {
            let server = try await LoopbackServer.start { _ in .text("here") }
            await #expect(processExitsWith: .success) { [limit, url = server.url.absoluteString as String] in
                try lowerDescriptorLimit(to: limit)
                let url = try #require(URL(string: url))
                guard await successes(of: 300, to: url, over: .shared) == 300 else { exit(EXIT_FAILURE) }
            }
        }

        @Test(arguments: [64, 40])
        func `Without a bound for a host, requests wait for descriptors and all succeed`(limit: Int) async throws {
            let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(20), then: .text("here")) }
            await #expect(processExitsWith: .success) { [limit, url = server.url.absoluteString as String] in
                try lowerDescriptorLimit(to: limit)
                let url = try #require(URL(string: url))
                let transport = CurlTransport.with { $0.maximumConnectionsPerHost = nil }
                // What fails is not sent again: nothing was lost.
                guard await successes(of: 200, to: url, over: transport) == 200 else { exit(EXIT_FAILURE) }
            }
            #expect(server.requests.count == 200)
            // 40 leave 20 for connections and all that the process has open beside them.
            #expect(server.maximumConcurrentRequests <= DescriptorShare(limit: Int64(limit)).bound)
        }

        @Test func `A transport that has no descriptor gets those of another's idle connections`() async throws {
            let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(20), then: .text("here")) }
            await #expect(processExitsWith: .success) { [url = server.url.absoluteString as String] in
                try lowerDescriptorLimit(to: 40)
                let url = try #require(URL(string: url))
                let (first, second) = (CurlTransport.with { _ in }, CurlTransport.with { _ in })
                guard await successes(of: 50, to: url, over: first) == 50 else { exit(EXIT_FAILURE) }
                guard await successes(of: 50, to: url, over: second) == 50 else { exit(EXIT_FAILURE) }
                // The first has forgotten nothing that it needs.
                guard await successes(of: 50, to: url, over: first) == 50 else { exit(EXIT_FAILURE) }
                await first.shutdown()
                await second.shutdown()
            }
        }

        @Test func `Idle connections to other hosts are closed for one that has none`() async throws {
            let first = try await LoopbackServer.start { _ in .delayed(.milliseconds(20), then: .text("here")) }
            let second = try await LoopbackServer.start { _ in .delayed(.milliseconds(20), then: .text("here")) }
            let urls = [first.url.absoluteString, second.url.absoluteString]
            await #expect(processExitsWith: .success) { [urls = urls as [String]] in
                try lowerDescriptorLimit(to: 40)
                let transport = CurlTransport.with { _ in }
                for text in urls + urls {
                    let url = try #require(URL(string: text))
                    guard await successes(of: 50, to: url, over: transport) == 50 else { exit(EXIT_FAILURE) }
                }
            }
        }

        @Test
        func `Requests go on, one at a time, in a process that has opened nearly all descriptors for something else`()
            async throws
        {
            let server = try await LoopbackServer.start { _ in .text("here") }
            await #expect(processExitsWith: .success) { [url = server.url.absoluteString as String] in
                try lowerDescriptorLimit(to: 128)
                let transport = CurlTransport.with { _ in }
                let url = try #require(URL(string: url))
                guard await successes(of: 1, to: url, over: transport) == 1 else { exit(EXIT_FAILURE) }
                let others = (0..<128).map { _ in dup(STDERR_FILENO) }.filter { $0 >= 0 }
                for descriptor in others.suffix(12) { close(descriptor) }
                guard await successes(of: 50, to: url, over: transport) == 50 else { exit(EXIT_FAILURE) }
                let another = CurlTransport.with { _ in }
                guard await successes(of: 50, to: url, over: another) == 50 else { exit(EXIT_FAILURE) }
            }
        }

        @Test func `Downloads to files leave descriptors for their files`() async throws {
            let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(20), then: .text("here")) }
            let folder = TemporaryPath()
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: false)
            await #expect(processExitsWith: .success) {
                [url = server.url.absoluteString as String, folder = folder.url.path as String] in
                try lowerDescriptorLimit(to: 64)
                let url = try #require(URL(string: url))
                let transport = CurlTransport.with { $0.maximumConnectionsPerHost = nil }
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<100 {
                        let file = URL(fileURLWithPath: folder).appendingPathComponent("\(number)")
                        group.addTask {
                            try await transport.perform(.download(URLRequest(url: url), to: file)) { _ in }.head.status
                        }
                    }
                    return try await group.reduce(into: [Int]()) { $0.append($1) }
                }
                guard statuses == Array(repeating: 200, count: 100) else { exit(EXIT_FAILURE) }
            }
        }

        @Test func `The wait for a connection does not count for the time limit of an attempt`() async throws {
            let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(500), then: .text("here")) }
            var configuration = RequestConfiguration()
            configuration.transport = CurlTransport.with { $0.maximumConnectionsPerHost = 1 }
            // The last of thirty is sent after 14.5 s.
            configuration.attemptTimeLimit = .seconds(12)
            let operations = (0..<30).map { _ in URLRequestOperation(server.url, configuration: configuration) }
            let queue = OperationQueue()
            for operation in operations { queue.addOperation(operation) }
            for operation in operations { #expect(try await operation.value == Data("here".utf8)) }
            #expect(operations.allSatisfy { $0.attempts.count == 1 })
        }

        @Test func `By default no more than 64 connections are made to a host`() async throws {
            let server = try await LoopbackServer.start { _ in .delayed(.milliseconds(20), then: .text("here")) }
            let transport = CurlTransport.with { _ in }
            #expect(await successes(of: 300, to: server.url, over: transport) == 300)
            #expect(server.connections.count <= 64)
        }

        @Test func `Requests for which there never is a descriptor fail at their connect limit`() async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let configuration = CurlTransport.with { _ in }.configuration
            let driver = OwnDriver(configuration, descriptorLimit: 4)
            var task = TransportTask(URLRequest(url: server.url))
            task.limits.connect = .milliseconds(100)
            let transfers = try (0..<3).map { _ in try driver.transfer(task) }
            for transfer in transfers {
                await #expect {
                    _ = try await transfer.run()
                } throws: { error in
                    RequestError.Code.outOfLocalResources ~= ((error as? TransferFailure)?.error ?? error)
                }
            }
            await driver.drain()
        }
    }

    /// Lowers the limit of open files of this process.
    private func lowerDescriptorLimit(to limit: Int) throws {
        closeInheritedDescriptors()
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var bounds = rlimit()
        try #require(getrlimit(files, &bounds) == 0)
        bounds.rlim_cur = rlim_t(limit)
        try #require(setrlimit(files, &bounds) == 0)
    }

    /// Closes what an exit test has inherited. The test library closes only descriptors above its own, which have numbers
    /// beyond the limit where many tests run. The descriptors of Dispatch are neither sockets nor pipes.
    private func closeInheritedDescriptors() {
        let environment = ProcessInfo.processInfo.environment
        let needed = ["SWT_BACKCHANNEL", "SWT_CAPTURED_VALUES"].compactMap { environment[$0].flatMap { Int32($0) } }
        for descriptor in 3..<Int32(1024) where !needed.contains(descriptor) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { continue }
            let kind = status.st_mode & S_IFMT
            if kind == S_IFSOCK || kind == S_IFIFO { close(descriptor) }
        }
    }

    /// How many of so many requests succeed with their first attempt, in a queue without a width.
    private func successes(of count: Int, to url: URL, over transport: CurlTransport) async -> Int {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        let operations = (0..<count).map { _ in URLRequestOperation(url, configuration: configuration) }
        let queue = OperationQueue()
        for operation in operations { queue.addOperation(operation) }
        var successes = 0
        for operation in operations {
            do {
                if try await operation.value == Data("here".utf8), operation.attempts.count == 1 { successes += 1 }
            } catch {
                print("\(error)")
            }
        }
        return successes
    }
#endif
