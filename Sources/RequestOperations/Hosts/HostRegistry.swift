/// Remembers what is known about hosts: retry budgets, circuits, `Retry-After` times and recoveries.
///
/// All of it is kept separately for each scheme, host and port.
///
/// The settings are in the ``RetryPolicy``; the registry holds the state that they need. Every ``RequestConfiguration``
/// uses ``shared`` unless you give it another registry. The requests of a process share nothing else. A test can use
/// its own registry:
///
/// ```swift
/// let hosts = HostRegistry()
/// configuration.hosts = hosts
/// print(hosts.retriesLeft(to: url), hosts.circuitState(of: url), hosts.timeLeftAlone(url))
/// ```
///
/// ## Retry-After
///
/// A response with status 503 and a usable `Retry-After` is recorded for its host, if 503 is one of the
/// ``RetryPolicy/statuses``. With 503 the field says how long the service is unavailable (RFC 9110, section 10.2.3). A
/// 429 concerns one client (RFC 6585, section 4). It is recorded only if the policy of the request that received it
/// sets ``RetryPolicy/sharesTooManyRequests``. With every other status, such as 408, 413 or 500, the field concerns
/// only that one request and delays only it.
///
/// Until that time is over, no other request sends an attempt to the host. The exception is a request whose policy sets
/// ``RetryPolicy/sharesRetryAfter`` to `false`. The others wait without a slot. Each waits up to a tenth longer, but at
/// most three seconds longer. A request that is already in line for a slot checks again when it gets the slot. If the
/// host is to be left alone, the request gives the slot back, waits, and returns to its old place in the line.
///
/// A retry fails at once with ``RequestError/Code/retryAfterTooLong`` if that time is longer than its
/// ``RetryPolicy/maximumRetryAfter``. It also fails so if the time goes beyond its deadline or elapsed limit. A request
/// of which nothing was sent yet is only delayed. It fails with that code only if its own deadline comes first.
/// ``RetryingOperation/retryNow()`` ends this wait like any other. A redirect to this host does not wait: its request
/// is already under way.
///
/// ## Memory
///
/// Entries that no longer matter are removed, at most a day after the last use of their host.
///
/// You can use a registry from any thread.
public final class HostRegistry: Sendable {
    /// The registry of every configuration that has no other one. There is one for the process, in real time.
    public static let shared = HostRegistry()

    let clock: RequestClock
    let budgets: BudgetTable
    let circuits: CircuitTable
    let silences: SilenceTable
    let recoveries: RecoveryLines

    /// Makes an empty registry.
    ///
    /// - Parameter clock: The clock of the registry. It must be that of the configurations that use the registry. The
    ///   continuous clock by default.
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

    /// How many retries to a URL's host could be sent at once. For a budget of tokens it is the number of tokens.
    ///
    /// Other threads may take some meanwhile, so the real number can be smaller.
    ///
    /// - Parameters:
    ///   - url: A URL of the host. Its scheme, host and port count.
    ///   - budget: The setting of the budget. By default that of a ``RetryPolicy``.
    public func retriesLeft(to url: URL, under budget: RetryBudget = RetryBudget()) -> Int {
        budgets.balance(of: Origin(url), under: budget)
    }

    /// The state of the circuit to a URL's host.
    ///
    /// An open circuit does not become half open by itself. It does so with the first attempt after its open time.
    ///
    /// - Parameters:
    ///   - url: A URL of the host. Its scheme, host and port count.
    ///   - breaker: The setting of the breaker. By default one with its defaults.
    public func circuitState(of url: URL, under breaker: CircuitBreaker = CircuitBreaker()) -> CircuitBreaker.State {
        circuits.state(of: CircuitTable.Key(origin: Origin(url), terms: breaker.terms))
    }

    /// A stream of the states of the circuit to a URL's host: the present one and each change.
    ///
    /// The stream never ends by itself. If you do not read states in time, only the last one is kept.
    ///
    /// - Parameters:
    ///   - url: A URL of the host. Its scheme, host and port count.
    ///   - breaker: The setting of the breaker. By default one with its defaults.
    public func circuitStates(
        of url: URL, under breaker: CircuitBreaker = CircuitBreaker()
    ) -> AsyncStream<CircuitBreaker.State> {
        circuits.states(of: CircuitTable.Key(origin: Origin(url), terms: breaker.terms))
    }

    /// How long a URL's host must still be left alone. Zero if it need not be.
    public func timeLeftAlone(_ url: URL) -> Duration {
        silences.timeLeft(for: Origin(url))
    }

    // MARK: For requests without an operation

    /// Counts a request that is made without an operation.
    ///
    /// Call it once for each such request, when it is about to be sent for the first time. Operations count themselves.
    ///
    /// - Parameters:
    ///   - url: A URL of the host. Its scheme, host and port count.
    ///   - budget: The setting of the budget. By default that of a ``RetryPolicy``.
    public func countRequest(to url: URL, under budget: RetryBudget = RetryBudget()) {
        budgets.countRequest(to: Origin(url), under: budget)
    }

    /// Takes a token for a retry that is made without an operation.
    ///
    /// Call it when the backoff of the retry is over. Operations take their tokens themselves.
    ///
    /// - Parameters:
    ///   - url: A URL of the host. Its scheme, host and port count.
    ///   - budget: The setting of the budget. By default that of a ``RetryPolicy``.
    ///   - limit: The longest further wait. 300 s by default.
    /// - Returns: How long the retry still has to wait. `nil` if there is no token within the limit.
    public func drawRetry(
        to url: URL, under budget: RetryBudget = RetryBudget(), within limit: Duration = .seconds(300)
    ) -> Duration? {
        let withdrawal = budgets.withdraw(
            to: Origin(url), under: budget, after: RequestError(.unknown, stage: .transfer), status: nil, within: limit)
        guard case .granted(let wait, _) = withdrawal else { return nil }
        return wait
    }
}
