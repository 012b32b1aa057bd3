/// Ends a wait early when another request to the same scheme, host and port succeeds: where one came through, others may.
///
/// ```swift
/// configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
/// ```
///
/// Any ``URLRequestOperation`` of the process counts whose response was accepted and decoded, the probe of a
/// ``CircuitBreaker`` among them. One success wakes those who wait for the host at that moment, once: in the order in which
/// they began to wait, spread evenly and with jitter over ``spread``, and never later than they would have gone anyway. They
/// then pass the limiter, the retry budget and the breaker as others do, so that a recovery never releases a herd. Who
/// begins to wait afterwards waits for the next success that is a sign.
///
/// Not every success is: in the ``spread`` after one that woke somebody no other does, and where one recovery follows
/// another at once the pause between them doubles each time, up to twenty times the spread. So a host of which every other
/// request fails does not undo the backoff of those that do. After twice the pause without such a success it is forgotten.
///
/// A wait that it ends does not count for the backoff: should the attempt fail, the same delay follows once more. Should that
/// end early, too, and in vain, the next delay follows.
public struct HostRecoveryObserver: EarlyRetryObserver, TabledObserver {
    /// Over how long those are spread whom one success wakes. 3 s by default; negative counts as zero.
    public let spread: Duration

    /// Makes an observer.
    ///
    /// - Parameter spread: Over how long those are spread whom one success wakes. 3 s by default.
    public init(spread: Duration = .seconds(3)) {
        self.spread = max(spread, .zero)
    }

    /// Returns when another request to the host of the failed one has succeeded, and the place among those who waited is
    /// due.
    ///
    /// - Throws: `CancellationError`.
    public func wait(after failure: AttemptFailure) async throws {
        try await waitInTask(after: failure)
    }

    func watch(
        after failure: AttemptFailure?, _ waiter: @escaping @Sendable (Range<Double>) -> Alarm
    ) -> @Sendable () -> Void {
        let ticket = Self.waiters.add(Origin(failure?.request.url), spread: spread, waiter)
        return { Self.waiters.remove(ticket) }
    }

    /// Those of the whole process: where they come from makes no difference to a host.
    private static let waiters = WakeTable<Origin>()

    /// Whether anybody waits for the recovery of a host.
    static var isAwaited: Bool { !waiters.isEmpty }

    private static let recoveries = Locked(OriginTable<HostRecoveries>())

    /// A request to a URL succeeded.
    ///
    /// - Parameter clock: That of the request.
    static func succeeded(_ url: URL?, on clock: any Clock<Duration>) {
        guard isAwaited else { return }
        let origin = Origin(url)
        guard let spread = waiters.longestSpread(of: origin) else { return }
        // Before the lock: the clock may be code of others.
        let former = recoveries.withLock { $0.entry(of: url)?.last }
        let (elapsed, present) = (former?.elapsed, Stopwatch(clock))
        let isSign = recoveries.withLock { recoveries in
            recoveries.change(
                url, at: ContinuousTime.nanoseconds, initially: HostRecoveries(), isIdle: \.isIdle,
                by: { $0.isSign(after: elapsed, spread: spread, present) })
        }
        if isSign { waiters.release(origin) }
    }
}
