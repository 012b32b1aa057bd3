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
/// A new network says nothing about the hosts behind it. So the requests that wait at that moment join the line of
/// their host. They join in the order in which they began to wait, with jitter over ``spread``. Two requests to each
/// host start at once. If both fail, the network was too early a sign, and no others start because of it. The others
/// are released as with a ``HostRecoveryObserver``: each success releases two. A request that is not released waits its
/// full time. All rules of that observer apply here too. A released retry does not draw on the ``RetryBudget``, and it
/// passes the limiter and the breaker. A wait that a `Retry-After` or an open circuit requires is not shortened.
///
/// Work that names no host (``RetryingOperation``) has no line. All of it starts, with jitter over ``spread``, and
/// draws on the budget.
///
/// A wait that ends early does not count for the backoff. If the attempt fails, the same delay follows once more.
public struct ReachabilityObserver: EarlyRetryObserver, TabledObserver {
    /// The time over which the requests that wait are spread after a change. 0.5 s by default; a negative time counts
    /// as zero.
    public let spread: Duration

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

    /// Returns when the path has become reachable and the host's line releases this request.
    ///
    /// - Throws: `CancellationError`.
    public func wait(after failure: AttemptFailure) async throws {
        try await waitInTask(after: failure)
    }

    func watch(
        after failure: AttemptFailure?, in hosts: HostRegistry, on clock: RequestClock, using random: RandomSource,
        holdingBack hold: Duration, _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void {
        let path = path ?? .shared
        let end = hold > .zero ? clock.now + hold : nil
        let remove = path.watch { [spread] part in
            let share = part.lowerBound + (part.upperBound - part.lowerBound) * random.next()
            let held = end.map { $0 - clock.now } ?? .zero
            let delay = max(.rounded(seconds: spread.inSeconds * share), held)
            // Before a first attempt, the request waits only for the network, not for the host's line. Work without a
            // host has no line, and a success of such work says nothing about other work.
            let origin = Origin(failure?.request.url)
            guard !origin.host.isEmpty else {
                let alarm = clock.alarm(after: delay) { _ = wake(nil) }
                return { alarm.cancel() }
            }
            return hosts.recoveries.enter(
                origin, pause: HostRecoveryObserver().pause, after: delay, on: clock, tries: true, wake)
        }
        // We check this only after the watch has begun, so that no change is missed.
        guard countsWhatIs, path.isConnected else { return remove }
        remove()
        let alarm = clock.alarm(after: .zero) { _ = wake(nil) }
        return { alarm.cancel() }
    }
}
