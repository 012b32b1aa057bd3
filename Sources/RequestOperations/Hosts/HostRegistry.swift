/// What is known of hosts: retry budgets, circuits, what they asked for by `Retry-After`, and recoveries. Each is kept by scheme,
/// host and port.
///
/// The settings are in the ``RetryPolicy``; here is the state that they need. ``shared`` is that of every
/// ``RequestConfiguration`` which is given no other one. Nothing else is shared by the requests of a process. A test makes its
/// own:
///
/// ```swift
/// let hosts = HostRegistry()
/// configuration.hosts = hosts
/// print(hosts.retriesLeft(to: url), hosts.circuitState(of: url), hosts.timeLeftAlone(url))
/// ```
///
/// ## Retry-After
///
/// A response with the status 503 and a usable `Retry-After` is noted for its host, if 503 is one of the
/// ``RetryPolicy/statuses``. With 503 the field says how long the service is unavailable (RFC 9110, section 10.2.3). A 429 is
/// about one client (RFC 6585, section 4): it is noted only if the policy of the request that got it sets
/// ``RetryPolicy/sharesTooManyRequests``. With every other status, such as 408, 413 or 500, the field is about the one request,
/// and delays only that.
///
/// Until that time is over, no other request sends an attempt there, unless its policy has ``RetryPolicy/sharesRetryAfter`` set to
/// `false`. They wait without a slot, each for up to a tenth longer but at most three seconds. A request that stands in a line
/// already asks again when it gets its slot. If the host is to be left alone, it gives the slot back, waits, and lines up again at
/// its old place.
///
/// A retry for which that is longer than its ``RetryPolicy/maximumRetryAfter``, or than its deadline or elapsed limit leaves,
/// fails at once as ``RequestError/Code/retryAfterTooLong``. A request of which nothing was sent yet is only delayed: it fails so
/// only if its own deadline comes first. ``URLRequestOperation/retryNow()`` ends a wait here as any other. So does a redirect: a
/// request that another host sends on to this one is under way already, and goes on.
///
/// ## Memory
///
/// Entries that say nothing any more go away, at the latest a day after the last use of their host.
///
/// It can be used from any thread.
public final class HostRegistry: Sendable {
    /// The registry of every configuration that is given no other: one for the process, in real time.
    public static let shared = HostRegistry()

    let clock: RequestClock
    let budgets: BudgetTable
    let circuits: CircuitTable
    let silences: SilenceTable
    let recoveries: RecoveryLines

    /// Makes an empty registry.
    ///
    /// - Parameter clock: Its clock: that of the configurations which use it. The continuous one by default.
    public convenience init(clock: any Clock<Duration> = ContinuousClock()) {
        self.init(RequestClock(clock))
    }

    init(_ clock: RequestClock) {
        self.clock = clock
        budgets = BudgetTable(clock)
        circuits = CircuitTable(clock)
        silences = SilenceTable(clock)
        recoveries = RecoveryLines(clock)
    }

    /// How many retries to a URL's host could go at once. For a budget of tokens it is their number. What other threads take
    /// meanwhile may have made it less.
    ///
    /// - Parameter budget: The setting. That of a ``RetryPolicy`` by default.
    public func retriesLeft(to url: URL, under budget: RetryBudget = RetryBudget()) -> Int {
        budgets.balance(of: Origin(url), under: budget)
    }

    /// The state of the circuit to a URL's host. An open circuit becomes half open with the first attempt after its time, not by
    /// itself.
    ///
    /// - Parameter breaker: The setting. One with its defaults by default.
    public func circuitState(of url: URL, under breaker: CircuitBreaker = CircuitBreaker()) -> CircuitBreaker.State {
        circuits.state(of: CircuitTable.Key(origin: Origin(url), terms: breaker.terms))
    }

    /// The state of the circuit to a URL's host, now and whenever it changes.
    ///
    /// The stream never ends by itself. Of states that were not taken in time only the last is kept.
    ///
    /// - Parameter breaker: The setting. One with its defaults by default.
    public func circuitStates(
        of url: URL, under breaker: CircuitBreaker = CircuitBreaker()
    ) -> AsyncStream<CircuitBreaker.State> {
        circuits.states(of: CircuitTable.Key(origin: Origin(url), terms: breaker.terms))
    }

    /// How long a URL's host is still to be left alone; zero if it is not.
    public func timeLeftAlone(_ url: URL) -> Duration {
        silences.timeLeft(for: Origin(url))
    }

    // MARK: For requests that are no operations

    /// Counts a request that is made without an operation. To be called once for each, when it is about to be sent for the first
    /// time; operations count themselves.
    ///
    /// - Parameter budget: The setting. That of a ``RetryPolicy`` by default.
    public func countRequest(to url: URL, under budget: RetryBudget = RetryBudget()) {
        budgets.countRequest(to: Origin(url), under: budget)
    }

    /// Takes a token for a retry that is made without an operation. To be called when its backoff is over; operations take theirs
    /// themselves.
    ///
    /// - Parameters:
    ///   - budget: The setting. That of a ``RetryPolicy`` by default.
    ///   - limit: The longest further wait. 300 s by default.
    /// - Returns: How long the retry still has to wait; `nil` if there is no token in that time.
    public func drawRetry(
        to url: URL, under budget: RetryBudget = RetryBudget(), within limit: Duration = .seconds(300)
    ) -> Duration? {
        let withdrawal = budgets.withdraw(
            to: Origin(url), under: budget, after: RequestError(.unknown, stage: .transfer), status: nil, within: limit)
        guard case .granted(let wait, _) = withdrawal else { return nil }
        return wait
    }
}
