import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct HostRecoveryObserverTests {
    private let clock = ManualClock()

    /// A URL of a host that no other test has: those who wait are one table for the process.
    private func url(_ host: String, path: String = "/") -> URL {
        URL(string: "http://\(host).recovery.invalid\(path)")!  // Names of hosts make a URL.
    }

    private func configuration(
        _ answers: [ScriptedTransport.Answer], spread: Duration = .zero
    ) -> RequestConfiguration {
        var configuration = RequestConfiguration.scripted(answers)
        configuration.clock = clock
        configuration.randomSource = RandomSource(seed: 3)
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(60)))
        configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver(spread: spread)]
        return configuration
    }

    /// Operations that failed once and wait.
    private func waiting(
        for url: URL, _ count: Int = 1, spread: Duration = .zero
    ) async -> [URLRequestOperation<Data>] {
        let queue = OperationQueue()
        let operations = (0..<count).map { _ in
            URLRequestOperation(url, configuration: configuration([.status(503), .body(Data())], spread: spread))
        }
        for operation in operations { queue.addOperation(operation) }
        await clock.sleepers(count)
        return operations
    }

    private func succeed(_ url: URL) async throws {
        _ = try await run(URLRequestOperation(url, configuration: .scripted([.body(Data())])))
    }

    @Test func aSuccessOfAnotherRequestToTheHostEndsTheWait() async throws {
        let waiting = await waiting(for: url("one"))
        try await succeed(url("one", path: "/other"))
        _ = try await waiting[0].value
        #expect(waiting[0].attempts.last?.wokenBy == .observer("HostRecoveryObserver"))
    }

    @Test(arguments: [
        "https://two.recovery.invalid/", "http://two.recovery.invalid:81/", "http://two2.recovery.invalid/",
    ])
    func aSuccessElsewhereEndsNoWait(other: String) async throws {
        let waiting = await waiting(for: url("two"))
        try await succeed(try #require(URL(string: other)))
        #expect(waiting[0].attempts.count == 1)
        waiting[0].cancel()
        _ = try? await waiting[0].value
    }

    @Test(arguments: [ScriptedTransport.Answer.status(404), .status(503), .error(.connectionLost)])
    func aFailureEndsNoWait(answer: ScriptedTransport.Answer) async throws {
        let waiting = await waiting(for: url("three"))
        var configuration = RequestConfiguration.scripted([answer])
        configuration.retryPolicy = .none
        _ = await failure(of: URLRequestOperation(url("three"), configuration: configuration))
        #expect(waiting[0].attempts.count == 1)
        waiting[0].cancel()
        _ = try? await waiting[0].value
    }

    @Test func thoseWhomOneSuccessWakesAreSpreadInTheirOrder() async throws {
        let woken = Collector<Int>()
        let clock = clock
        let removals = (0..<10).map { index in
            HostRecoveryObserver(spread: .seconds(10)).watch(
                after: AttemptFailure(Problem(), request: URLRequest(url: url("four"))), on: clock,
                using: RandomSource(seed: UInt64(index))
            ) { woken.append(index) }
        }
        try await succeed(url("four"))
        await clock.sleepers(10)
        // Each has a second of its own.
        for count in 1...10 {
            clock.advance(by: .seconds(1))
            await woken.count(count)
            #expect(woken.elements == Array(0..<count))
        }
        for remove in removals { remove() }
    }

    @Test func aWakeUpIsNeverLaterThanTheBackoff() async throws {
        let waiting = await waiting(for: url("five"), spread: .seconds(3600))
        try await succeed(url("five"))
        await clock.sleepers(2)
        clock.advance(by: .seconds(60))
        _ = try await waiting[0].value
        #expect(try #require(waiting[0].attempts.last).waited <= .seconds(60))
    }

    @Test func oneSuccessWakesThoseWhoWaitOnce() async throws {
        let first = await waiting(for: url("six"))
        try await succeed(url("six"))
        _ = try await first[0].value
        // Whoever comes later waits for the next one.
        let second = await waiting(for: url("six"))
        #expect(second[0].attempts.count == 1)
        try await succeed(url("six"))
        _ = try await second[0].value
    }

    @Test func theSuccessOfAWokenRequestWakesNobodyWhoIsWokenAlready() async throws {
        let waiting = await waiting(for: url("seven"), 3)
        try await succeed(url("seven"))
        for operation in waiting { _ = try await operation.value }
        #expect(waiting.allSatisfy { $0.attempts.count == 2 })
    }

    @Test func anEarlyWakeUpDoesNotAdvanceTheBackoff() async throws {
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

    @Test func aSecondWakeUpInARowThatWasInVainAdvancesTheBackoff() async throws {
        let steps = Collector<Int>()
        let url = url("thirteen")
        let operation = Staged(configuration([.status(503)]), to: url)
        operation.decisions = { failure in
            steps.append(failure.backoffStep)
            return .retry(after: .seconds(60), or: [HostRecoveryObserver(spread: .zero)])
        }
        OperationQueue().addOperation(operation)
        for count in 1...4 {
            await steps.count(count)
            await clock.sleepers(1)
            try await succeed(url)
        }
        await steps.count(5)
        #expect(steps.elements.prefix(5) == [1, 1, 2, 3, 4])
        operation.cancel()
        _ = try? await operation.value
    }

    @Test func aHostThatHalfWorksHasABackoff() async throws {
        let url = url("fourteen")
        var configuration = configuration([.status(503)], spread: .seconds(3))
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
        // The backoff alone makes three of them; the signs after 0, 3, 9, 21 and 45 seconds may add one each.
        #expect(operation.attempts.count <= 8)
        operation.cancel()
        _ = try? await operation.value
    }

    @Test func aCancelledRequestWaitsForNothing() async throws {
        let waiting = await waiting(for: url("nine"))
        waiting[0].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[0].value }
        try await succeed(url("nine"))
        #expect(waiting[0].attempts.count == 1)
    }

    @Test func itCanBeAwaitedByAnObserverThatIsMadeOfIt() async throws {
        let failure = AttemptFailure(Problem(), request: URLRequest(url: url("ten")))
        let awaiting = Task { try await HostRecoveryObserver(spread: .zero).wait(after: failure) }
        await eventually { HostRecoveryObserver.isAwaited }
        // Another test's may be awaited, so it may take more than one.
        let success = Task {
            while !Task.isCancelled {
                try await succeed(url("ten"))
                await Task.yield()
            }
        }
        try await awaiting.value
        success.cancel()
        _ = try? await success.value
    }

    @Test func whoeverAwaitsItCanBeCancelled() async {
        let failure = AttemptFailure(Problem(), request: URLRequest(url: url("eleven")))
        let awaiting = Task { try await HostRecoveryObserver().wait(after: failure) }
        awaiting.cancel()
        await #expect(throws: CancellationError.self) { try await awaiting.value }
    }

    @Test func onlyTheLimitIsInFlightWhenAThousandAreWoken() async throws {
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
