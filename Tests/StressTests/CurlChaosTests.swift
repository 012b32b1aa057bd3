#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Glibc
    import RequestOperations
    import Testing

    @testable import RequestOperationsTesting

    /// Faults and cancels over HTTP/1.1, over TLS and over HTTP/2: for a second, or ten minutes in full.
    @Suite(.timeLimit(.minutes(15)), .serialized)
    struct CurlChaosTests {
        @Test func `Mixed traffic with faults and cancels all ends, and leaves no descriptor and no memory behind`()
            async throws
        {
            // What Foundation and the suite open at the first use stays open.
            _ = try await mixedTraffic(for: .seconds(1))
            // In a short run other tests share the process, so that neither its descriptors nor its memory tell anything.
            guard !Stress.isShortened else { return }
            try #require(
                Stress.keepsNoErrors && Stress.hasOneArena,
                "memory can only be told with SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0 and MALLOC_ARENA_MAX=1")
            let descriptors = OpenFiles.count
            let memory = try await mixedTraffic(for: Stress.duration(.seconds(600), shortened: .zero))
            #expect(try await SocketTable.becomes(within: .seconds(60)) { _ in OpenFiles.count <= descriptors })
            // Fewer waves are no warm-up.
            try #require(memory.count >= 30, "\(memory.count) waves are too few to tell of memory")
            let (warm, last) = (memory.median(of: 0.2..<0.4), memory.median(of: 0.8..<1))
            print("resident \(warm >> 10) KiB after the warm-up, \(last >> 10) KiB at the end")
            #expect(last <= warm + warm / 20)
        }

        /// Waves of requests for some time; the size of the process after each.
        private func mixedTraffic(for duration: Duration) async throws -> [Int] {
            var memory: [Int] = []
            var ports: Set<Int> = []
            var tallies: [Chaos.Way: Tally] = [:]
            try await Chaos.with { chaos in
                ports = chaos.ports
                let end = ContinuousClock.now + duration
                repeat {
                    let wave = try await chaos.wave(memory.count)
                    tallies.merge(wave.tallies, uniquingKeysWith: +)
                    ports.insert(wave.port)
                    Self.giveBackFreeMemory()
                    memory.append(ResidentMemory.now)
                } while ContinuousClock.now < end
                await chaos.shutdown()
                #expect(OpenFiles.files(in: chaos.folder) == 0)
            }
            print("\(memory.count) waves, \(tallies)")
            for way in Chaos.Way.allCases {
                let tally = try #require(tallies[way])
                #expect(tally.responses > 0 && tally.failures > 0 && tally.cancels > 0)
            }
            #expect(try await OpenFiles.socketsThatStay(ofPorts: ports) == 0)
            return memory
        }

        /// Calls `malloc_trim`, which Swift's module of the C library leaves out: what nobody uses must not count.
        private static func giveBackFreeMemory() {
            typealias Trim = @convention(c) (Int) -> Int32
            guard let trim = dlsym(nil, "malloc_trim") else { return }
            _ = unsafeBitCast(trim, to: Trim.self)(0)
        }

        @Test func `A thousand resets during uploads kill nothing`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .withoutReadingBody(.reset))
            let transport = CurlTransport()
            var request = URLRequest(url: server.url)
            request.httpMethod = "PUT"
            let task = TransportTask.upload(request, from: .data(Data(count: 500_000)))
            for _ in 0..<Stress.rounds(1000, shortened: 200) {
                await #expect(throws: TransferFailure.self) { try await transport.perform(task) { _ in } }
            }
        }
    }

    /// What requests ended with.
    private struct Tally: Equatable {
        var responses = 0
        var failures = 0
        var cancels = 0
        var total: Int { responses + failures + cancels }

        mutating func add<Value>(_ result: Result<Value, any Error>?) {
            switch result {
            case .success: responses += 1
            case .failure(is CancellationError): cancels += 1
            case .failure, nil: failures += 1
            }
        }

        static func + (tally: Tally, other: Tally) -> Tally {
            Tally(
                responses: tally.responses + other.responses, failures: tally.failures + other.failures,
                cancels: tally.cancels + other.cancels)
        }
    }

    /// Requests of every kind, over one transport for each way.
    private struct Chaos: Sendable {
        /// How requests get to a server of ours: straight, or by way of nginx.
        enum Way: CaseIterable {
            case plain
            case secure
            case http2
        }

        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        private let transport = CurlTransport()
        private let secure: RunningServer
        private let http2: RunningServer
        private let queue = OperationQueue()

        /// How many requests a wave has, and how many of them run at a time.
        private static let count = 1000
        private static let width = 64

        /// Runs a function while both nginx run.
        static func with(_ body: (Chaos) async throws -> Void) async throws {
            try await RunningServer.with(ServerSite(program: .nginx, way: .http1Secure)) { secure in
                try await RunningServer.with(ServerSite(program: .nginx, way: .http2)) { http2 in
                    let chaos = try Chaos(secure, http2)
                    try await body(chaos)
                    try FileManager.default.removeItem(at: chaos.folder)
                }
            }
        }

        private init(_ secure: RunningServer, _ http2: RunningServer) throws {
            self.secure = secure
            self.http2 = http2
            Self.setUp(secure.origin)
            Self.setUp(http2.origin)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            queue.maxConcurrentOperationCount = Self.width
        }

        /// Those of both nginx, and of the servers behind them.
        var ports: Set<Int> {
            Set([secure, http2].flatMap { [$0.url("/").port, $0.origin.port] }.compactMap { $0 })
        }

        func shutdown() async {
            await transport.shutdown()
            await secure.transport.shutdown()
            await http2.transport.shutdown()
        }

        /// Sends requests, those that go straight to a server of their own, which ends with them, as does what it remembers of
        /// them.
        func wave(_ number: Int) async throws -> (tallies: [Way: Tally], port: Int) {
            let server = try await LoopbackServer.start()
            Self.setUp(server)
            let completions = Collector<Void>()
            let operations = Locked(0)
            let tallies = await withTaskGroup(of: (Way, Result<Void, any Error>).self) { group in
                var tallies: [Way: Tally] = [:]
                for number in number * Self.count..<(number + 1) * Self.count {
                    if number % Self.count >= Self.width, let (way, result) = await group.next() {
                        tallies[way, default: Tally()].add(result)
                    }
                    if number % 4 == 3 { operations.withLock { $0 += 1 } }
                    group.addTask {
                        let goal = goal(number, server)
                        let result =
                            number % 4 == 3 ? await operate(number, goal, completions) : await transfer(number, goal)
                        return (goal.way, result)
                    }
                }
                for await (way, result) in group { tallies[way, default: Tally()].add(result) }
                return tallies
            }
            #expect(tallies.values.reduce(0) { $0 + $1.total } == Self.count)
            // Each operation completes once.
            await completions.count(operations.withLock { $0 })
            #expect(completions.count == operations.withLock { $0 })
            server.stop()
            try await server.connectionsClosed(atLeast: server.connections.count)
            return (tallies, server.port)
        }

        private static func setUp(_ server: LoopbackServer) {
            server.route("/text", .text("hello"))
            server.route("/large", .large(byteCount: 200_000))
            server.route("/huge", .endless(chunk: Data(count: 10_000)))
            server.route("/reset", .reset)
            server.route("/resetBody", .resetBody(after: 5000, of: 100_000))
            server.route("/close", .closeWithoutAnswer)
            server.route("/503", .status(503, body: Data(count: 10_000)))
            server.route("/truncated", .truncated(declared: 10_000, sending: 5000))
            server.route("/slow", .drip(Data(count: 50), chunk: 10, every: .milliseconds(2)))
            server.route("/stall", .stall)
            server.route("/empty", .empty())
            server.route("/redirect", .redirect(to: "/text", status: 307))
        }

        /// Where a request goes.
        private struct Goal {
            let way: Way
            let transport: CurlTransport
            let url: URL
        }

        /// The ways take turns after so many requests that each gets some of every kind.
        private func goal(_ number: Int, _ server: LoopbackServer) -> Goal {
            let path = Self.paths[number % Self.paths.count]
            switch Way.allCases[number / 60 % Way.allCases.count] {
            case .plain: return Goal(way: .plain, transport: transport, url: server.url(path))
            case .secure: return Goal(way: .secure, transport: secure.transport, url: secure.url(path))
            case .http2: return Goal(way: .http2, transport: http2.transport, url: http2.url(path))
            }
        }

        private static let paths = [
            "/text", "/large", "/huge", "/reset", "/resetBody", "/close", "/503", "/truncated", "/slow", "/stall",
            "/empty", "/redirect", "/text",
        ]

        private func task(_ number: Int, _ goal: Goal) -> TransportTask {
            var request = URLRequest(url: goal.url)
            let body: RequestBody
            switch number % 5 {
            case 0: body = .data(Data(count: number % 7 == 0 ? 300_000 : 100))
            case 1: body = .stream(Self.stream)
            default: body = .none
            }
            if !body.isNone { request.httpMethod = "POST" }
            var task = TransportTask.upload(request, from: body)
            switch number % 3 {
            case 0: task.destination = .memory
            case 1: task.destination = .file(folder.appendingPathComponent(String(number % 1000)))
            default: task.destination = .stream { _ in await Task.yield() }
            }
            task.limits.idle = .milliseconds(50)
            task.limits.maximumBodySize = 1 << 20
            if number % 4 == 0 { task.onProgress = { _ in } }
            return task
        }

        private static let stream = BodyStream {
            let left = Locked(20)
            return BodyStream.Reader {
                await Task.yield()
                return left.withLock { left in
                    left -= 1
                    return left >= 0 ? Data(count: 5000) : nil
                }
            }
        }

        private func transfer(_ number: Int, _ goal: Goal) async -> Result<Void, any Error> {
            let transfer = Task {
                _ = try await goal.transport.perform(task(number, goal)) { head in
                    // Over libcurl before 8.1, some requests go over HTTP/1.1.
                    #expect(head.version == .http1_1 || head.version == .http2 && goal.way == .http2)
                    guard head.status == 200 || head.status == 204 else { throw Rejected() }
                }
            }
            if number % 2 == 0 {
                for _ in 0..<(number % 50) { await Task.yield() }
                transfer.cancel()
            }
            return await transfer.result
        }

        private func operate(
            _ number: Int, _ goal: Goal, _ completions: Collector<Void>
        ) async -> Result<Void, any Error> {
            var configuration = RequestConfiguration()
            configuration.transport = goal.transport
            configuration.retryPolicy = RetryPolicy(maximumRetries: 1, backoff: .constant(.milliseconds(1)))
            configuration.retryPolicy.budget = nil
            let operation = Mixed(task(number, goal), configuration)
            operation.whenFinished { _ in completions.append(()) }
            queue.addOperation(operation)
            if number % 3 == 0 {
                for _ in 0..<(number % 50) { await Task.yield() }
                operation.cancel()
            }
            do { _ = try await operation.value } catch { return .failure(error) }
            return .success(())
        }

        private struct Rejected: Error {}
    }

    /// An operation with a task of its own.
    private final class Mixed: URLRequestOperation<Data>, @unchecked Sendable {
        private let task: TransportTask

        init(_ task: TransportTask, _ configuration: RequestConfiguration) {
            self.task = task
            super.init(task.request, decoder: .data, configuration: configuration)
        }

        override func makeTask(for request: URLRequest) async throws -> TransportTask {
            var task = task
            task.request = request
            return task
        }
    }

    extension [Int] {
        /// The median of a part of the list.
        fileprivate func median(of part: Range<Double>) -> Int {
            let part = self[Int(Double(count) * part.lowerBound)..<Int(Double(count) * part.upperBound)].sorted()
            return part[part.count / 2]
        }
    }
#endif
