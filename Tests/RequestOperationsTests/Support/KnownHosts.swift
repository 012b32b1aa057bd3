import RequestOperationsTesting
import Testing

@testable import RequestOperations

extension ManualClock {
    private static let registries = Locked<[ObjectIdentifier: HostRegistry]>([:])

    /// The registry of all configurations of a test on this clock. It keeps the clock, so no other one has its identity.
    var hosts: HostRegistry {
        Self.registries.withLock { registries in
            if let known = registries[ObjectIdentifier(self)] { return known }
            let new = HostRegistry(clock: self)
            registries[ObjectIdentifier(self)] = new
            return new
        }
    }
}

extension HostRegistry {
    /// How many requests wait for the recovery of a host.
    func waitingCount(for url: URL) -> Int { visit(Origin(url)) { host, _ in host.waitingCount } }

    /// Waits for the recovery of a host. The closure that is returned ends that.
    func watch(
        _ url: URL, on clock: ManualClock, notBefore delay: Duration, whenReleased: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        HostRecoveryObserver().watch(
            for: Origin(url), in: self, on: RequestClock(clock), using: .system, notBefore: delay
        ) { release in
            release?.finish(nil)
            whenReleased()
            return true
        }
    }
}

/// A retry budget with the registry that keeps its buckets.
struct KnownBudget: Sendable {
    let budget: RetryBudget
    let hosts: HostRegistry

    init(_ budget: RetryBudget, in hosts: HostRegistry = HostRegistry()) {
        self.budget = budget
        self.hosts = hosts
    }

    init(
        ratio: Double = 0.2, minimumPerSecond: Double = 10, window: Duration = .seconds(10),
        mode: RetryBudget.Mode = .delaying, clock: ManualClock
    ) {
        self.init(
            RetryBudget(ratio: ratio, minimumPerSecond: minimumPerSecond, window: window, mode: mode), in: clock.hosts)
    }

    static func tokens(
        capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10, throttlingCost: Int = 5, refund: Int = 1
    ) -> KnownBudget {
        KnownBudget(
            .tokens(
                capacity: capacity, cost: cost, timeoutCost: timeoutCost, throttlingCost: throttlingCost, refund: refund
            ))
    }

    func balance(of url: URL) -> Int { hosts.retriesLeft(to: url, under: budget) }

    func countRequest(to url: URL) { hosts.countRequest(to: url, under: budget) }

    /// What a retry after an error gets; `nil` if it is refused.
    func draw(
        to url: URL, after error: any Error = RequestError(.timedOut, stage: .transfer), status: Int? = nil,
        within left: Duration = .seconds(300)
    ) -> (wait: Duration, draw: RetryDraw)? {
        hosts.draw(budget.cost(after: error, status: status), from: budget, of: Origin(url), within: left)
    }

    /// How long a retry waits; `nil` if it is refused.
    func waitOfRetry(to url: URL) -> Duration? { draw(to: url)?.wait }

    /// What the success of a first attempt brings back.
    func countSuccess(of url: URL) {
        hosts.visit(Origin(url)) { $0.putBack(budget.refund ?? 0, into: budget, at: $1) }
    }
}

/// A circuit breaker with the registry that keeps its circuits.
struct KnownBreaker: Sendable {
    let breaker: CircuitBreaker
    let hosts: HostRegistry

    init(
        failureRatio: Double = 0.5, minimumThroughput: Int = 20, samplingWindow: Duration = .seconds(10),
        openTime: Duration = .seconds(5), probes: Int = 1, clock: any Clock<Duration>
    ) {
        breaker = CircuitBreaker(
            failureRatio: failureRatio, minimumThroughput: minimumThroughput, samplingWindow: samplingWindow,
            openTime: openTime, probes: probes)
        hosts = (clock as? ManualClock)?.hosts ?? HostRegistry(clock: clock)
    }

    func state(of url: URL) -> CircuitBreaker.State { hosts.circuitState(of: url, under: breaker) }

    func states(of url: URL) -> AsyncStream<CircuitBreaker.State> { hosts.circuitStates(of: url, under: breaker) }

    func admit(_ url: URL?) throws -> CircuitPermit {
        try #require(try hosts.admit(to: Origin(url), asking: breaker)?.permit)
    }

    /// Has an attempt fail that the circuit admits.
    func fail(_ url: URL?) throws { try admit(url).finish(.failed) }

    /// Has an attempt succeed that the circuit admits.
    func succeed(_ url: URL?) throws { try admit(url).finish(.succeeded) }

    /// Whether the circuit admits an attempt.
    func hasRoom(for url: URL?) -> Bool { (try? admit(url).finish(.cancelled)) != nil }

    /// An attempt that the circuit admits; the closure has it succeed.
    func begin(_ url: URL?) throws -> @Sendable () -> Void {
        let permit = try admit(url)
        return { permit.finish(.succeeded) }
    }

    func timeLeft(for url: URL?) -> Duration {
        .nanoseconds(hosts.visit(Origin(url)) { $0.circuit(breaker).timeLeft(at: $1) })
    }

    /// Whether anybody reads the states of a circuit.
    func isWatched(_ url: URL) -> Bool { hosts.visit(Origin(url)) { host, _ in host.circuit(breaker).news != nil } }
}

extension RequestConfiguration {
    mutating func use(_ budget: KnownBudget?) {
        retryPolicy.budget = budget?.budget
        if let budget { hosts = budget.hosts }
    }

    mutating func use(_ breaker: KnownBreaker?) {
        retryPolicy.circuitBreaker = breaker?.breaker
        if let breaker { hosts = breaker.hosts }
    }
}

/// What hosts asked for by `Retry-After`, in the registry of a clock.
struct KnownSilences: Sendable {
    let hosts: HostRegistry

    init(clock: ManualClock) {
        hosts = clock.hosts
    }

    func note(_ asked: Duration, for url: URL, keeping longest: Duration = .seconds(Int64.max)) {
        hosts.visit(Origin(url)) { $0.leaveAlone(for: asked, keeping: longest, at: $1) }
    }

    func timeLeft(for url: URL) -> Duration { hosts.timeLeftAlone(url) }

    var hostCount: Int { hosts.hostCount }
}

extension RequestConfiguration {
    /// Has the requests heed what hosts asked others, or, without any, only what they were told themselves.
    mutating func use(_ silences: KnownSilences?) {
        retryPolicy.sharesRetryAfter = silences != nil
        if let silences { hosts = silences.hosts }
    }
}

extension RetryPolicy {
    /// What an operation makes of the policy's decision, once it has asked what is known of the host.
    func planned(
        after failure: AttemptFailure, in hosts: HostRegistry, using random: RandomSource = .system
    ) -> RetryDecision {
        let decision = decision(after: failure, using: random)
        guard case .retry(let delay, let observers, _, _, _) = decision else { return decision }
        var configuration = RequestConfiguration()
        configuration.retryPolicy = self
        configuration.hosts = hosts
        configuration.randomSource = random
        do {
            let wait = try RequestRunner(failure.request, configuration: configuration).plan(delay, after: failure)
            return .retry(after: wait.delay, or: wait.observers(of: observers))
        } catch {
            return .fail(error)
        }
    }
}
