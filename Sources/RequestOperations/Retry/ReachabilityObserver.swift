/// Ends a wait early when the machine is connected to a network again.
///
/// ```swift
/// configuration.retryPolicy.earlyRetryObservers = [ReachabilityObserver(), HostRecoveryObserver()]
/// ```
///
/// Only a change counts, from unreachable to reachable, or from a network without a default route to one with it: a machine
/// that is and stays connected wakes nobody. All who wait at that moment are woken once, in the order in which they began to
/// wait, spread evenly and with jitter over ``spread``, and never later than they would have gone anyway. They then pass the
/// limiter, the retry budget and the breaker as others do.
///
/// A wait that it ends does not count for the backoff: should the attempt fail, the same delay follows once more.
public struct ReachabilityObserver: EarlyRetryObserver, TabledObserver {
    /// Over how long those are spread whom one change wakes. 0.5 s by default; negative counts as zero.
    public let spread: Duration

    private let path: NetworkPath
    /// Whether a network that is there already counts.
    private let countsWhatIs: Bool

    /// Makes an observer.
    ///
    /// - Parameters:
    ///   - path: What it watches. The machine's own connection by default.
    ///   - spread: Over how long those are spread whom one change wakes. 0.5 s by default.
    public init(path: NetworkPath = .shared, spread: Duration = .milliseconds(500)) {
        self.init(path: path, spread: spread, countsWhatIs: false)
    }

    init(path: NetworkPath, spread: Duration = .milliseconds(500), countsWhatIs: Bool) {
        self.path = path
        self.spread = max(spread, .zero)
        self.countsWhatIs = countsWhatIs
    }

    /// Returns when the path has become reachable, and the place among those who waited is due.
    ///
    /// - Throws: `CancellationError`.
    public func wait(after failure: AttemptFailure) async throws {
        try await waitInTask(after: failure)
    }

    func watch(
        after failure: AttemptFailure?, _ waiter: @escaping @Sendable (Range<Double>) -> Alarm
    ) -> @Sendable () -> Void {
        let remove = path.watch(waiter)
        // Only now that a change would be seen.
        guard countsWhatIs, path.isConnected else { return remove }
        remove()
        let alarm = waiter(0..<1)
        return { alarm.cancel() }
    }
}
