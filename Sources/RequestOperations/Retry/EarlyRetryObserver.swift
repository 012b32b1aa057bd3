/// Watches for a sign that another attempt makes sense before the backoff is over.
public protocol EarlyRetryObserver: Sendable {
    /// Returns when another attempt makes sense.
    ///
    /// It is called once for each wait, in a Task of its own. That Task is cancelled when the wait ends for another
    /// reason. An observer that throws, or returns after the cancellation, has no effect and causes no failure.
    ///
    /// - Parameter failure: The attempt that failed.
    func wait(after failure: AttemptFailure) async throws
}

extension EarlyRetryObserver {
    /// The name under which the observer is reported when it ends a wait.
    var name: String {
        switch self {
        case let delayed as DelayedObserver: delayed.observer.name
        default: String(describing: type(of: self))
        }
    }
}

/// Ends a wait early when another request to the same scheme, host and port succeeds. It is one of the default observers
/// of a ``RetryPolicy``.
///
/// ```swift
/// configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
/// ```
///
/// Each success releases two requests that wait for the host, in the order in which they began to wait. So two start after the
/// first success, then four, then eight. The recovery is as fast as the host answers, and the waiting requests never all start at
/// once. The success of any ``URLRequestOperation`` with the same ``HostRegistry`` counts, once its response was accepted and
/// decoded. It counts only if requests waited for the host when it was sent. The success of the probe of a ``CircuitBreaker``
/// counts even if no request waited then. Work that names no host (``RetryingOperation``) is not released.
///
/// A released request passes the limiter and the breaker like any other. It does not draw on the ``RetryBudget``. If
/// its retry already took a token, the token is returned. A wait that a `Retry-After` or an open circuit requires is
/// never shortened. If a released request fails, it waits again as after any failure. If it ends for a reason that does
/// not concern the host, such as a cancel or status 404, the next request is released.
///
/// Each released request that fails doubles the number of successes until the next release, and each one that succeeds
/// halves it. So a host that serves some requests and fails others does not undo the backoff of those that fail. An
/// hour after the last failure, each success counts again.
///
/// A wait that ends early does not count for the backoff. If the attempt then fails, the same delay follows once more.
/// If that wait also ends early and its attempt fails, the next delay follows.
public struct HostRecoveryObserver: EarlyRetryObserver, TabledObserver {
    /// Makes an observer.
    public init() {}

    /// Returns when successes of other requests to the host release this request.
    ///
    /// - Throws: `CancellationError`.
    public func wait(after failure: AttemptFailure) async throws {
        try await waitInTask(after: failure)
    }

    /// Returns when successes of other requests release one that waits for the host of a URL.
    ///
    /// - Throws: `CancellationError`.
    package func wait(forHostOf url: URL, in hosts: HostRegistry) async throws {
        let failure = AttemptFailure(
            CancellationError(), attempt: 1, request: URLRequest(url: url), stage: .transfer, head: nil,
            requestMayHaveBeenProcessed: true, bodyIsReplayable: true, backoffStep: 1, elapsed: .zero, timeLeft: nil,
            date: Date(), uncounted: 0, redirect: nil, wasRefused: false, hosts: hosts)
        try await waitInTask(after: failure)
    }

    func watch(
        for origin: Origin, in hosts: HostRegistry, on clock: RequestClock, using random: RandomSource,
        notBefore delay: Duration, _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void {
        // A success of work without a host says nothing about other work without one.
        guard !origin.host.isEmpty else { return {} }
        return hosts.join(origin, notBefore: delay, wake)
    }
}

/// Ends a wait early when the machine connects to a network again. It is one of the default observers of a
/// ``RetryPolicy``.
///
/// ```swift
/// configuration.retryPolicy.earlyRetryObservers = [ReachabilityObserver(path: path), HostRecoveryObserver()]
/// ```
///
/// Only a change counts: from unreachable to reachable, or from a network without a default route to one with it. A
/// machine that stays connected ends no wait.
///
/// A new network says nothing about the hosts behind it. So the requests that wait at that moment join the queue of
/// their host. They join in the order in which they began to wait, with jitter over `spread`. Two requests to each
/// host start at once. If both fail, the new network starts no other requests. The others are released as with a
/// ``HostRecoveryObserver``: each success releases two. A request that is not released waits its full time. All rules
/// of that observer apply here too. A released retry does not draw on the ``RetryBudget``, and it passes the limiter
/// and the breaker. A wait that a `Retry-After` or an open circuit requires is not shortened.
///
/// Work that names no host (``RetryingOperation``) has no queue. All of it starts, with jitter over `spread`, and
/// draws on the budget.
///
/// A wait that ends early does not count for the backoff. If the attempt fails, the same delay follows once more.
public struct ReachabilityObserver: EarlyRetryObserver, TabledObserver {
    /// The time over which the requests that wait are spread after a change. 0.5 s by default; a negative time counts
    /// as zero.
    package let spread: Duration

    /// `nil` means the shared path. It is made when the first request waits, because it opens a socket.
    private let path: NetworkPath?
    /// Whether a network that is already there counts as a sign.
    private let countsWhatIs: Bool

    /// Makes an observer.
    ///
    /// - Parameters:
    ///   - path: The connection to watch. `nil`, the default, means ``NetworkPath/shared``, the machine's own.
    ///   - spread: The time over which the requests that wait are spread after a change. 0.5 s by default.
    public init(path: NetworkPath? = nil, spread: Duration = .milliseconds(500)) {
        self.init(path: path, spread: spread, countsWhatIs: false)
    }

    init(path: NetworkPath?, spread: Duration = .milliseconds(500), countsWhatIs: Bool) {
        self.path = path
        self.spread = max(spread, .zero)
        self.countsWhatIs = countsWhatIs
    }

    /// Returns when the path has become reachable and the host's queue releases this request.
    ///
    /// - Throws: `CancellationError`.
    public func wait(after failure: AttemptFailure) async throws {
        try await waitInTask(after: failure)
    }

    func watch(
        for origin: Origin, in hosts: HostRegistry, on clock: RequestClock, using random: RandomSource,
        notBefore delay: Duration, _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void {
        let path = path ?? .shared
        let earliest = delay > .zero ? clock.now + delay : nil
        let remove = path.watch { [spread] part in
            let share = part.lowerBound + (part.upperBound - part.lowerBound) * random.next()
            let left = earliest.map { $0 - clock.now } ?? .zero
            let delay = max(.rounded(seconds: spread.inSeconds * share), left)
            // Before a first attempt, the request waits only for the network, not for the host's queue. Work without a
            // host has no queue, and a success of such work says nothing about other work.
            guard !origin.host.isEmpty else {
                let alarm = clock.alarm(after: delay) { _ = wake(nil) }
                return { alarm.cancel() }
            }
            return hosts.join(origin, notBefore: delay, sign: path.lastRise, wake)
        }
        // We check this only after the watch has begun, so that no change is missed.
        guard countsWhatIs, path.isConnected else { return remove }
        remove()
        let alarm = clock.alarm(after: .zero) { _ = wake(nil) }
        return { alarm.cancel() }
    }
}

/// An early-retry observer of this package. For each waiting request it costs an entry in a shared table, but no Task.
protocol TabledObserver: EarlyRetryObserver {
    /// Adds an entry for a wait.
    ///
    /// - Parameters:
    ///   - origin: The host of the attempt that failed. It has no name before the first attempt.
    ///   - hosts: The registry with the queues of requests that wait for a host.
    ///   - delay: How long, from now on, nothing ends the wait.
    ///   - wake: Ends the wait, with the release of a retry. Returns whether the wait was still under way.
    /// - Returns: A closure that removes the entry. It is called once.
    func watch(
        for origin: Origin, in hosts: HostRegistry, on clock: RequestClock, using random: RandomSource,
        notBefore delay: Duration, _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void
}

extension TabledObserver {
    /// Waits for the sign in a Task, for observers that are built on this one. It reports no outcome of the release.
    func waitInTask(after failure: AttemptFailure) async throws {
        let answer = Answer<Void>()
        let remove = watch(
            for: Origin(failure.request.url), in: failure.hosts, on: failure.hosts.clock, using: .system,
            notBefore: .zero
        ) { release in
            let isFirst = answer.resume(with: .success(()))
            if isFirst { release?.finish(nil) }
            return isFirst
        }
        defer { remove() }
        try await answer.cancellableValue()
    }
}

/// An observer whose sign counts only after a delay. Until then the host is to be left alone, or there is no room for
/// the retry. If the inner observer is one of this package, this costs no Task, see ``RetryWait``.
struct DelayedObserver: EarlyRetryObserver {
    let observer: any EarlyRetryObserver
    let delay: Duration

    func wait(after failure: AttemptFailure) async throws {
        try await wait(after: failure, on: failure.hosts.clock)
    }

    func wait(after failure: AttemptFailure, on clock: RequestClock) async throws {
        let end = clock.now + delay
        try await observer.wait(after: failure)
        let left = end - clock.now
        if left > .zero { try await clock.sleep(for: left) }
    }
}
