/// Ends a wait early when the machine is connected to a network again.
///
/// ```swift
/// configuration.retryPolicy.earlyRetryObservers = [ReachabilityObserver(), HostRecoveryObserver()]
/// ```
///
/// Only a change counts: from unreachable to reachable, or from a network without a default route to one with it. A machine
/// that stays connected wakes nobody.
///
/// A network says nothing of the hosts behind it. So those that wait at that moment enter the line of their host in the
/// order in which they began to wait, with jitter over ``spread``. Two to each host go at once. The others go as with a
/// ``HostRecoveryObserver``: each success releases two. Those that get no such sign wait for their own time. All rules of
/// that observer hold here. A released retry does not draw on the ``RetryBudget``, and passes the limiter and the breaker.
/// No wait that a `Retry-After` or an open circuit imposes is shortened.
///
/// A wait that it ends does not count for the backoff: should the attempt fail, the same delay follows once more.
public struct ReachabilityObserver: EarlyRetryObserver, TabledObserver {
    /// Over how long those are spread that one change concerns. 0.5 s by default; negative counts as zero.
    public let spread: Duration

    private let path: NetworkPath
    /// Whether a network that is there already counts.
    private let countsWhatIs: Bool

    /// Makes an observer.
    ///
    /// - Parameters:
    ///   - path: What it watches. The machine's own connection by default.
    ///   - spread: Over how long those are spread that one change concerns. 0.5 s by default.
    public init(path: NetworkPath = .shared, spread: Duration = .milliseconds(500)) {
        self.init(path: path, spread: spread, countsWhatIs: false)
    }

    init(path: NetworkPath, spread: Duration = .milliseconds(500), countsWhatIs: Bool) {
        self.path = path
        self.spread = max(spread, .zero)
        self.countsWhatIs = countsWhatIs
    }

    /// Returns when the path has become reachable, and it is this one's turn.
    ///
    /// - Throws: `CancellationError`.
    public func wait(after failure: AttemptFailure) async throws {
        try await waitInTask(after: failure)
    }

    func watch(
        after failure: AttemptFailure?, in hosts: HostRegistry, on clock: RequestClock, using random: RandomSource,
        holdingBack hold: Duration, _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void {
        let end = hold > .zero ? clock.now + hold : nil
        let remove = path.watch { [spread] part in
            let share = part.lowerBound + (part.upperBound - part.lowerBound) * random.next()
            let held = end.map { $0 - clock.now } ?? .zero
            let delay = max(.rounded(seconds: spread.inSeconds * share), held)
            // A first attempt waits for the network alone.
            guard let failure else {
                let alarm = clock.alarm(after: delay) { _ = wake(nil) }
                return { alarm.cancel() }
            }
            return hosts.recoveries.enter(
                Origin(failure.request.url), pause: HostRecoveryObserver().pause, after: delay, on: clock, tries: true,
                wake)
        }
        // Only now that a change would be seen.
        guard countsWhatIs, path.isConnected else { return remove }
        remove()
        let alarm = clock.alarm(after: .zero) { _ = wake(nil) }
        return { alarm.cancel() }
    }
}
