/// Ends a wait early when another request to the same scheme, host and port succeeds: where one came through, others may.
///
/// ```swift
/// configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver()]
/// ```
///
/// Each success releases two of those that wait for the host, in the order in which they began to wait. So two go after the
/// first success, then four, then eight: a recovery is as fast as the host answers, and releases no herd. The success of any
/// ``URLRequestOperation`` with the same ``HostRegistry`` counts, once its response was accepted and decoded. So does that of the probe of a
/// ``CircuitBreaker``.
///
/// What is released passes the limiter and the breaker as others do. It does not draw on the ``RetryBudget``, and what its
/// retry drew before is given back. A wait that a `Retry-After` or an open circuit imposes is never shortened. If a
/// released request fails, it waits again as after any failure. If it ends without a sign of a fault of the host, as with a
/// cancel or status 404, the next one goes.
///
/// Releases that fail stop the rest. After two in a row, or more than one of five, no success releases anyone for the
/// ``pause``. Each time that happens again soon, the pause is twice as long, up to twenty times. So a host of which every other
/// request fails does not undo the backoff of those that do.
///
/// A wait that it ends does not count for the backoff: should the attempt fail, the same delay follows once more. Should that
/// end early, too, and in vain, the next delay follows.
public struct HostRecoveryObserver: EarlyRetryObserver, TabledObserver {
    /// For how long no success releases anyone after releases were in vain. 3 s by default; negative counts as zero.
    public let pause: Duration

    /// Makes an observer.
    ///
    /// - Parameter pause: For how long no success releases anyone after releases were in vain. 3 s by default.
    public init(pause: Duration = .seconds(3)) {
        // As an alarm is bounded, so that twenty times as long can be told.
        self.pause = min(max(pause, .zero), .seconds(Int32.max))
    }

    /// Makes an observer; the former name of its parameter.
    @available(*, deprecated, renamed: "init(pause:)")
    public init(spread: Duration) {
        self.init(pause: spread)
    }

    /// Returns when successes of other requests to the host of the failed one have released this one.
    ///
    /// - Throws: `CancellationError`.
    public func wait(after failure: AttemptFailure) async throws {
        try await waitInTask(after: failure)
    }

    func watch(
        after failure: AttemptFailure?, in hosts: HostRegistry, on clock: RequestClock, using random: RandomSource,
        holdingBack hold: Duration, _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void {
        hosts.recoveries.enter(Origin(failure?.request.url), pause: pause, after: hold, on: clock, wake)
    }
}
