import RequestOperations
import RequestOperationsTesting
import Testing

/// What becomes of many requests when their host is back, in virtual time. The server takes 10 ms to answer.
@Suite(.timeLimit(.minutes(15))) struct RecoveryTests {
    @Test func `Two hundred that wait end within two seconds of the first success`() async throws {
        let recovery = Recovery()
        try await recovery.run(200)
        let times = recovery.successes.elements.sorted()
        let (first, last) = (try #require(times.first), try #require(times.last))
        #expect(times.count == 200)
        #expect(first >= Recovery.outage)
        #expect(last - first <= .seconds(2))
    }

    @Test func `The budget still bounds what a host bears while it is down`() async throws {
        let recovery = Recovery()
        try await recovery.run(200)
        // The first attempts, a hundred retries, and ten a second. The bucket was full when the requests began.
        #expect(recovery.failures.count <= 200 + 100 + 5 * 10)
    }

    @Test func `Nothing is left when all have ended`() async throws {
        let recovery = Recovery()
        try await recovery.run(50)
        #expect(recovery.inLine == 0)
    }

    @Test func `A released attempt that cannot be sent passes its turn to nobody`() async throws {
        let url = try #require(URL(string: "http://recovery-\(UUID()).invalid/"))
        let isUp = Locked(false)
        var configuration = RequestConfiguration.scripted([
            .dynamic { _ in isUp.withLock { $0 } ? .body(Data()) : .status(503) }
        ])
        let clock = ManualClock()
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.retryPolicy.budget = nil
        configuration.retryPolicy.sharesRetryAfter = false
        configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
        var failing = configuration
        failing.adapters = [
            RequestAdapter { request in
                if isUp.withLock({ $0 }) { throw RequestError(.unsupported, stage: .process) }
                return request
            }
        ]
        let operations = (0..<20).map { _ in URLRequestOperation(url, configuration: failing) }
        let ended = Collector<Bool>()
        let queue = OperationQueue()
        for operation in operations {
            operation.whenFinished { result in ended.append((try? result.get()) != nil) }
            queue.addOperation(operation)
        }
        await eventually { clock.hosts.waitingCount(for: url) == 20 }
        isUp.withLock { $0 = true }
        _ = try await run(URLRequestOperation(url, configuration: configuration))
        await eventually { ended.count == 2 }
        #expect(ended.elements == [false, false])
        #expect(clock.hosts.waitingCount(for: url) == 18)
        queue.cancelAllOperations()
        await eventually { ended.count == 20 }
    }
}

/// A host that is down for a while, and those that wait for it.
private final class Recovery: Sendable {
    static let outage = Duration.seconds(5)
    private static let step = Duration.milliseconds(5)

    /// Of a host of its own: those that wait for a recovery are one table for the process.
    let url = URL(string: "http://recovery-\(UUID()).invalid/")!  // Names of hosts make a URL.
    /// When requests succeeded and failed.
    let (successes, failures) = (Collector<Duration>(), Collector<Duration>())
    private let clock = ManualClock()
    private let finished = Collector<Bool>()

    /// How many wait for the host.
    var inLine: Int { clock.hosts.waitingCount(for: url) }

    private let atServer = Locked(0)
    private let configuration: RequestConfiguration

    init() {
        let (clock, atServer, successes, failures) = (clock, atServer, successes, failures)
        var configuration = RequestConfiguration.scripted([
            .dynamic { _ in
                let isUp = clock.now.offset >= Self.outage
                atServer.withLock { $0 += 1 }
                try? await clock.sleep(for: .milliseconds(10))
                (isUp ? successes : failures).append(clock.now.offset)
                atServer.withLock { $0 -= 1 }
                return isUp ? .body(Data()) : .status(503)
            }
        ])
        configuration.clock = clock
        configuration.hosts = clock.hosts
        configuration.randomSource = RandomSource(seed: 1)
        configuration.retryPolicy = .default
        configuration.retryPolicy.maximumRetries = 10
        configuration.retryPolicy.sharesRetryAfter = false
        self.configuration = configuration
    }

    /// Begins requests all at once and moves the clock until they have ended, at most for a minute.
    func run(_ count: Int) async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = count
        for _ in 0..<count {
            let operation = URLRequestOperation(url, configuration: configuration)
            operation.whenFinished { [finished] result in finished.append((try? result.get()) != nil) }
            queue.addOperation(operation)
        }
        await rest(count)
        while finished.count < count, clock.now.offset < .seconds(60) {
            clock.advance(by: Self.step)
            await rest(count)
        }
        #expect(finished.elements.allSatisfy { $0 } && finished.count == count)
    }

    /// Returns when each request has ended, waits for its next attempt, or is at the server.
    private func rest(_ count: Int) async {
        await eventually {
            let (ended, inLine) = (finished.count, clock.hosts.waitingCount(for: url))
            return ended + clock.sleeperCount == count && ended + inLine + atServer.withLock { $0 } == count
        }
    }
}
