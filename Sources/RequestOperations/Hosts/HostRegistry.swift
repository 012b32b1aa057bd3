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
/// most three seconds longer. A request that is already waiting for a slot checks again when it gets the slot. If the
/// host must still be left alone, the request releases the slot, waits, and returns to its old position.
///
/// A retry fails at once with ``RequestError/Code/retryAfterTooLong`` if that time is longer than its
/// ``RetryPolicy/maximumRetryAfter``. It also fails that way if the time goes beyond its deadline or elapsed limit. A
/// request that has sent nothing yet is only delayed. It fails with that code only if its own deadline comes first.
/// ``RetryingOperation/retryNow()`` ends this wait like any other. A redirect to this host does not wait: its request
/// is already under way.
///
/// ## Memory
///
/// Entries that no longer matter are removed, at most a day after the last use of their host.
///
/// You can use a registry from any thread.
public final class HostRegistry: Sendable {
    /// The registry of every configuration that sets no other. The process has one, and it runs in real time.
    public static let shared = HostRegistry()

    let clock: RequestClock
    private let table = Locked(HostTable())

    /// Makes an empty registry.
    ///
    /// - Parameter clock: The clock of the registry. It must be that of the configurations that use the registry. The
    ///   continuous clock by default.
    public convenience init(clock: any Clock<Duration> = ContinuousClock()) {
        self.init(RequestClock(clock))
    }

    init(_ clock: RequestClock) {
        self.clock = clock
    }

    /// How many retries to a URL's host could be sent at once. For a budget of tokens it is the number of tokens.
    ///
    /// Other threads may take some meanwhile, so the real number can be smaller.
    ///
    /// - Parameters:
    ///   - url: A URL of the host. Its scheme, host and port count.
    ///   - budget: The setting of the budget. By default that of a ``RetryPolicy``.
    public func retriesLeft(to url: URL, under budget: RetryBudget = RetryBudget()) -> Int {
        visit(Origin(url)) { $0.bucket(of: budget, at: $1).balance(at: $1) }
    }

    /// The state of the circuit to a URL's host.
    ///
    /// An open circuit does not become half open by itself. It does so with the first attempt after its open time.
    ///
    /// - Parameters:
    ///   - url: A URL of the host. Its scheme, host and port count.
    ///   - breaker: The setting of the breaker. By default one with its defaults.
    public func circuitState(of url: URL, under breaker: CircuitBreaker = CircuitBreaker()) -> CircuitBreaker.State {
        visit(Origin(url)) { $0.circuit(breaker).state(at: $1) }
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
        let origin = Origin(url)
        let broadcast = visit(origin) { host, now in host.change(breaker) { $0.watch(at: now) }.0 }
        return broadcast.stream { [weak self] in
            let unused = self?.visit(origin) { host, _ in host.change(breaker) { $0.unwatch() }.0 }
            withExtendedLifetime(unused) {}
        }
    }

    /// How long no request should go to a URL's host. Zero if requests can go now.
    public func timeLeftAlone(_ url: URL) -> Duration {
        visit(Origin(url)) { $0.timeLeftAlone(at: $1) }
    }

    /// How long no request should go to a URL's host, also because its circuit is open.
    package func timeLeftAlone(_ url: URL, under breaker: CircuitBreaker?) -> Duration {
        visit(Origin(url)) { host, now in
            let open = breaker.map { Duration.nanoseconds(host.circuit($0).timeLeft(at: now)) } ?? .zero
            return max(host.timeLeftAlone(at: now), open)
        }
    }

    /// The hosts of which anything is known.
    var origins: [Origin] { table.withLock { $0.origins } }

    // MARK: For requests without an operation

    /// Counts a request that is made without an operation.
    ///
    /// Call it once for each such request, when it is about to be sent for the first time. Operations count themselves.
    ///
    /// - Parameters:
    ///   - url: A URL of the host. Its scheme, host and port count.
    ///   - budget: The setting of the budget. By default that of a ``RetryPolicy``.
    public func countRequest(to url: URL, under budget: RetryBudget = RetryBudget()) {
        visit(Origin(url)) { $0.countRequest(under: budget, at: $1) }
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
        draw(budget.cost, from: budget, of: Origin(url), within: limit)?.wait
    }

    // MARK: For operations

    /// For how many hosts anything is kept.
    var hostCount: Int { table.withLock { $0.count } }

    /// Reads or changes what is known about a host, under the lock of the table.
    ///
    /// - Parameter body: Gets the time, in nanoseconds since a fixed start.
    func visit<Result>(_ origin: Origin, _ body: (inout HostState, Int64) -> Result) -> Result {
        // A clock may be foreign code, so it is not read under the lock.
        let now = clock.now.nanoseconds
        return table.withLock { $0.visit(origin, at: now) { body(&$0, now) } }
    }

    /// Takes tokens for a retry or a hedge. Returns `nil` if there are none within a limit. Only a delaying budget waits.
    func draw(
        _ tokens: Double, from budget: RetryBudget, of origin: Origin, within limit: Duration = .zero
    ) -> (wait: Duration, draw: RetryDraw)? {
        let limit = budget.mode == .delaying ? limit.nanoseconds : 0
        let wait = visit(origin) { $0.take(tokens, from: budget, within: limit, at: $1) }
        return wait.map { (.nanoseconds($0), RetryDraw(tokens, from: budget, of: origin, in: self)) }
    }

    /// Asks a host whether an attempt may be sent now. Returns `nil` if the host must be left alone.
    ///
    /// - Parameters:
    ///   - knownEnd: Until when the attempt knows that the host is to be left alone. `nil` if it may be sent anyway.
    ///   - budget: Counts this request. `nil` if it has been counted, or if there is no budget.
    ///   - breaker: The setting of the circuit that is asked.
    /// - Returns: The permit, if there is a breaker, and whether a success is reported to the requests that wait for
    ///   the host.
    /// - Throws: ``RequestError/Code/circuitOpen``.
    func admit(
        to origin: Origin, knowing knownEnd: Int64? = nil, counting budget: RetryBudget? = nil,
        asking breaker: CircuitBreaker?
    ) throws(RequestError) -> (permit: CircuitPermit?, isAwaited: Bool)? {
        let (answer, news) = visit(origin) { $0.admit(knowing: knownEnd, counting: budget, asking: breaker, at: $1) }
        news?.send()
        guard case .admitted(let circuit, let isAwaited) = answer else { return nil }
        guard let circuit, let breaker else { return (nil, isAwaited) }
        switch circuit {
        case .admitted(let era, let isProbe):
            return (CircuitPermit(for: origin, breaker, in: self, era: era, isProbe: isProbe), isAwaited)
        case .refused(let time):
            let reason = time > 0 ? "for another \(Duration.nanoseconds(time))" : "but for the probes under way"
            throw RequestError(.circuitOpen, stage: .slot, reason: "the host is left alone, \(reason)")
        }
    }

    /// Adds a request to the requests that wait for a host.
    ///
    /// - Parameters:
    ///   - delay: It is not released before this time is over.
    ///   - sign: The number of a sign that may release a request of this host when the time is over.
    /// - Returns: A closure that removes the request. It is called once.
    func join(
        _ origin: Origin, notBefore delay: Duration, sign: Int? = nil, _ waiter: @escaping WaitingRoom.Waiter
    ) -> @Sendable () -> Void {
        let number = visit(origin) { $0.join(waiter, notBefore: max(delay, .zero).nanoseconds, at: $1) }
        let alarm = sign.map { sign in clock.alarm(after: delay) { self.report(.sign(sign), to: origin) } }
        return {
            alarm?.cancel()
            // The waiter is freed outside of the lock.
            withExtendedLifetime(self.visit(origin) { host, _ in host.leave(number) }) {}
        }
    }

    /// Reports news to the requests that wait for a host, and wakes the requests that it releases.
    func report(_ news: WaitingRoom.News, to origin: Origin) {
        var woken = visit(origin) { $0.hear(news, at: $1) }[...]
        while let waiter = woken.popFirst() {
            let release = Release(of: origin, after: news.cause, in: self)
            guard !waiter(release) else { continue }
            // The wait of this request has just ended in another way. The next request takes its place.
            release.finish(nil)
            woken += visit(origin) { $0.hear(.outcome(.passesOn, of: news.cause), at: $1) }
        }
    }
}
