import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct HostRecoveryObserverTests {
    private let clock = ManualClock()

    /// A URL of a host that no other test has: those who wait are one table for the process.
    private func url(_ host: String, path: String = "/") -> URL {
        URL(string: "http://\(host).recovery.invalid\(path)")!  // Names of hosts make a URL.
    }

    private func configuration(_ answers: [ScriptedTransport.Answer]) -> RequestConfiguration {
        var configuration = RequestConfiguration.scripted(answers)
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.randomSource = RandomSource(seed: 3)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
        configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
        return configuration
    }

    /// Operations that failed once and wait.
    private func waiting(
        for url: URL, _ answers: [ScriptedTransport.Answer] = [.status(503), .body(Data())], count: Int = 1
    ) async -> [URLRequestOperation<Data>] {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = count
        let operations = (0..<count).map { _ in URLRequestOperation(url, configuration: configuration(answers)) }
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(count)
        return operations
    }

    private func succeed(_ url: URL) async throws {
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.hosts = clock.hosts
        _ = try await run(URLRequestOperation(url, configuration: configuration))
    }

    @Test func `A success of another request to the host ends the wait`() async throws {
        let waiting = await waiting(for: url("one"))
        try await succeed(url("one", path: "/other"))
        _ = try await waiting[0].value
        #expect(waiting[0].attempts.last?.wokenBy == .observer("HostRecoveryObserver"))
    }

    @Test(arguments: [
        "https://two.recovery.invalid/", "http://two.recovery.invalid:81/", "http://two2.recovery.invalid/",
    ])
    func `A success elsewhere ends no wait`(other: String) async throws {
        let waiting = await waiting(for: url("two"))
        try await succeed(try #require(URL(string: other)))
        #expect(waiting[0].attempts.count == 1)
        waiting[0].cancel()
        _ = try? await waiting[0].value
    }

    @Test func `A success that was sent before the wait began ends no wait`() async throws {
        let url = url("sent-before")
        let (arrived, mayAnswer) = (Door(), Door())
        let early = URLRequestOperation(
            url,
            configuration: configuration([
                .dynamic { _ in
                    arrived.open()
                    await mayAnswer.pass()
                    return .body(Data())
                }
            ]))
        OperationQueue().addOperation(early)
        await arrived.pass()
        let waiting = await waiting(for: url)
        mayAnswer.open()
        _ = try await early.value
        #expect(waiting[0].attempts.count == 1 && clock.hosts.waitingCount(for: url) == 1)
        try await succeed(url)
        _ = try await waiting[0].value
    }

    @Test(arguments: [ScriptedTransport.Answer.status(404), .status(503), .error(.connectionLost)])
    func `A failure ends no wait`(answer: ScriptedTransport.Answer) async throws {
        let waiting = await waiting(for: url("three"))
        var configuration = RequestConfiguration.scripted([answer])
        configuration.retryPolicy = .none
        _ = await failure(of: URLRequestOperation(url("three"), configuration: configuration))
        #expect(waiting[0].attempts.count == 1)
        waiting[0].cancel()
        _ = try? await waiting[0].value
    }

    @Test func `Work that names no host is not released`() async throws {
        let configuration = configuration([.status(503)])
        let waiting = RetryingOperation(configuration: configuration) { attempt in
            if attempt == 1 { throw Problem() }
        }
        OperationQueue().addOperation(waiting)
        await clock.sleepers(1)
        try await run(RetryingOperation(configuration: configuration) { _ in })
        #expect(waiting.attempts.count == 1)
        clock.advance(by: .seconds(60))
        try await waiting.value
    }

    /// Has some watch a host, of which each notes its number when it is released; what removes them.
    private func watch(
        _ url: URL, _ count: Int, _ released: Collector<Int>, notBefore delay: Duration = .zero
    ) -> [@Sendable () -> Void] {
        (0..<count).map { index in
            clock.hosts.watch(url, on: clock, notBefore: delay) { released.append(index) }
        }
    }

    @Test func `Each success releases two in the order in which they began to wait`() async throws {
        let released = Collector<Int>()
        let url = url("four")
        let removals = watch(url, 5, released)
        var counts: [Int] = []
        for _ in 1...4 {
            try await succeed(url)
            counts.append(released.count)
        }
        #expect(counts == [2, 4, 5, 5] && released.elements == [0, 1, 2, 3, 4])
        for remove in removals { remove() }
        #expect(clock.hosts.waitingCount(for: url) == 0)
    }

    @Test func `No success releases a wait that is held back`() async throws {
        let released = Collector<Int>()
        let url = url("five")
        let removals = watch(url, 2, released, notBefore: .seconds(10))
        try await succeed(url)
        #expect(released.count == 0)
        // Removed before it can be released.
        removals[0]()
        clock.advance(by: .seconds(10))
        try await succeed(url)
        #expect(released.elements == [1])
        removals[1]()
    }

    @Test func `Each round is twice as large as the one before`() async throws {
        let url = url("rounds")
        let (queue, arrived) = (OperationQueue(), Collector<Void>())
        queue.maxConcurrentOperationCount = 30
        let operations = (0..<30).map { _ in
            URLRequestOperation(
                url,
                configuration: configuration([
                    .status(503),
                    .dynamic { [clock] _ in
                        arrived.append(())
                        try? await clock.sleep(for: .milliseconds(10))
                        return .body(Data())
                    },
                ]))
        }
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(30)
        try await succeed(url)
        for count in [2, 6, 14, 30] {
            await arrived.count(count)
            // Those that wait, and those that the host is about to answer.
            await eventually { clock.sleeperCount == 30 - count + (count + 2) / 2 }
            #expect(arrived.count == count)
            clock.advance(by: .milliseconds(10))
        }
        for operation in operations { _ = try await operation.value }
    }

    @Test(arguments: [ScriptedTransport.Answer.status(404), .error(.secureConnectionFailed)])
    func `A release that says nothing against the host goes to the next`(answer: ScriptedTransport.Answer) async throws
    {
        let url = url("passed-on-\(UUID())")
        let queue = OperationQueue()
        let operations = (0..<5).map { _ in
            URLRequestOperation(url, configuration: configuration([.status(503), answer]))
        }
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(5)
        try await succeed(url)
        for operation in operations { await end(of: operation) }
        #expect(operations.allSatisfy { $0.attempts.count == 2 })
        #expect(clock.hosts.waitingCount(for: url) == 0)
    }

    @Test func `A release that is cancelled goes to the next`() async throws {
        let url = url("cancelled-in-line")
        let limiter = RequestLimiter(total: 1)
        let slot = try #require(limiter.hold(for: url))
        let queue = OperationQueue()
        var limited = configuration([.body(Data())])
        limited.limiter = limiter
        // They fail before they need a slot.
        let fails = Locked(true)
        limited.retryPolicy.isTransient = { $0 is Problem }
        limited.adapters = [
            RequestAdapter { request in
                if fails.withLock({ $0 }) { throw Problem() }
                return request
            }
        ]
        let operations = (0..<3).map { _ in URLRequestOperation(url, configuration: limited) }
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(3)
        fails.withLock { $0 = false }
        try await succeed(url)
        await eventually { limiter.waitingCount == 2 }
        let inLine = operations.filter { $0.attempts.count == 2 }
        for operation in inLine { operation.cancel() }
        await eventually { operations.allSatisfy { $0.attempts.count == 2 } }
        slot.release()
        let last = try #require(operations.first { !$0.isCancelled })
        _ = try await last.value
    }

    @Test func `After releases that fail more successes must come`() async throws {
        let url = url("down-again")
        let waiting = await waiting(for: url, [.status(503)], count: 10)
        try await succeed(url)
        await eventually { waiting.reduce(0) { $0 + $1.attempts.count } == 12 && clock.sleeperCount == 10 }
        try await succeed(url)
        #expect(waiting.reduce(0) { $0 + $1.attempts.count } == 12)
        try await succeed(url)
        await eventually { waiting.reduce(0) { $0 + $1.attempts.count } == 14 && clock.sleeperCount == 10 }
        for operation in waiting {
            operation.cancel()
            await end(of: operation)
        }
    }

    @Test func `One success wakes those who wait once`() async throws {
        let first = await waiting(for: url("six"))
        try await succeed(url("six"))
        _ = try await first[0].value
        // Whoever comes later waits for the next one.
        let second = await waiting(for: url("six"))
        #expect(second[0].attempts.count == 1)
        try await succeed(url("six"))
        _ = try await second[0].value
    }

    @Test func `The success of a woken request wakes nobody who is woken already`() async throws {
        let waiting = await waiting(for: url("seven"), count: 3)
        try await succeed(url("seven"))
        for operation in waiting { _ = try await operation.value }
        #expect(waiting.allSatisfy { $0.attempts.count == 2 })
    }

    @Test func `An early wake up does not advance the backoff`() async throws {
        let steps = Collector<Int>()
        let url = url("eight")
        var configuration = configuration([.status(503)])
        configuration.retryPolicy.maximumRetries = 9
        let operation = Staged(configuration, to: url)
        let policy = configuration.retryPolicy
        operation.decisions = { failure in
            steps.append(failure.backoffStep)
            return policy.decision(after: failure, using: .system)
        }
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        try await succeed(url)
        await steps.count(2)
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        await steps.count(3)
        #expect(steps.elements == [1, 1, 2])
        operation.cancel()
        _ = try? await operation.value
    }

    @Test func `A second wake up in a row that was in vain advances the backoff`() async throws {
        let steps = Collector<Int>()
        let url = url("thirteen")
        let operation = Staged(configuration([.status(503)]), to: url)
        operation.decisions = { failure in
            steps.append(failure.backoffStep)
            return .retry(after: .seconds(60), or: [HostRecoveryObserver()])
        }
        OperationQueue().addOperation(operation)
        // Each release that fails doubles the successes until the next one.
        for count in 1...4 {
            await steps.count(count)
            await clock.sleepers(1)
            for _ in 0..<1 << (count - 1) { try await succeed(url) }
        }
        await steps.count(5)
        #expect(steps.elements.prefix(5) == [1, 1, 2, 3, 4])
        operation.cancel()
        _ = try? await operation.value
    }

    @Test func `A host that half works has a backoff`() async throws {
        let url = url("fourteen")
        var configuration = configuration([.status(503)])
        configuration.retryPolicy.maximumRetries = 1000
        configuration.retryPolicy.backoff = .constant(.seconds(30))
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        var good = configuration
        good.transport = ScriptedTransport([.body(Data())])
        // A minute in which another request succeeds every second.
        for _ in 0..<60 {
            await clock.sleepers(1)
            _ = try await run(URLRequestOperation(url, configuration: good))
            clock.advance(by: .seconds(1))
        }
        // The backoff alone makes three of them. The first, third, seventh, fifteenth and thirty-first success may
        // release it.
        #expect(operation.attempts.count <= 8)
        operation.cancel()
        _ = try? await operation.value
    }

    @Test func `A cancelled request waits for nothing`() async throws {
        let waiting = await waiting(for: url("nine"))
        waiting[0].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[0].value }
        try await succeed(url("nine"))
        #expect(waiting[0].attempts.count == 1)
    }

    @Test func `It can be awaited by an observer that is made of it`() async throws {
        let url = url("ten")
        let hosts = HostRegistry.shared
        let awaiting = (0..<3).map { _ in
            Task {
                try await HostRecoveryObserver().wait(after: AttemptFailure(Problem(), request: URLRequest(url: url)))
            }
        }
        await eventually { hosts.waitingCount(for: url) == 3 }
        // They tell no outcome, so nobody goes in their place.
        _ = try await run(URLRequestOperation(url, configuration: .scripted([.body(Data())])))
        #expect(hosts.waitingCount(for: url) == 1)
        _ = try await run(URLRequestOperation(url, configuration: .scripted([.body(Data())])))
        for task in awaiting { try await task.value }
    }

    @Test func `Whoever awaits it can be cancelled`() async {
        let failure = AttemptFailure(Problem(), request: URLRequest(url: url("eleven")))
        let awaiting = Task { try await HostRecoveryObserver().wait(after: failure) }
        awaiting.cancel()
        await #expect(throws: CancellationError.self) { try await awaiting.value }
    }

    @Test func `Only the limit is in flight when a thousand are woken`() async throws {
        let limiter = RequestLimiter(perHost: 4)
        let peak = Locked((inFlight: 0, most: 0))
        let url = url("twelve")
        let queue = OperationQueue()
        let operations = (0..<1000).map { _ in
            var configuration = configuration([
                .status(503),
                .dynamic { _ in
                    peak.withLock { $0 = ($0.inFlight + 1, max($0.most, $0.inFlight + 1)) }
                    await Task.yield()
                    peak.withLock { $0.inFlight -= 1 }
                    return .body(Data())
                },
            ])
            configuration.limiter = limiter
            return URLRequestOperation(url, configuration: configuration)
        }
        queue.maxConcurrentOperationCount = 1000
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(1000)
        try await succeed(url)
        for operation in operations { _ = try await operation.value }
        #expect(peak.withLock { $0.most } <= 4)
        #expect(operations.allSatisfy { $0.attempts.last?.wokenBy == .observer("HostRecoveryObserver") })
    }
}
