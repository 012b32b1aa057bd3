/// Ends a wait early when another request to the same scheme, host and port succeeds. It is one of the default observers
/// of a ``RetryPolicy``.
///
/// ```swift
/// configuration.retryPolicy.earlyRetryObservers = [HostRecoveryObserver(pause: .seconds(10))]
/// ```
///
/// Each success releases two requests that wait for the host, in the order in which they began to wait. So two start
/// after the first success, then four, then eight. The recovery is as fast as the host answers, and the waiting
/// requests never all start at once. The success of any ``URLRequestOperation`` with the same ``HostRegistry`` counts,
/// once its response was accepted and decoded. The success of the probe of a ``CircuitBreaker`` counts too. Work that
/// names no host (``RetryingOperation``) is not released.
///
/// A released request passes the limiter and the breaker like any other. It does not draw on the ``RetryBudget``. What
/// its retry took from the budget before is given back. A wait that a `Retry-After` or an open circuit requires is
/// never shortened. If a released request fails, it waits again as after any failure. It may also end without a sign of
/// a fault of the host, for example by a cancel or with status 404. Then the next one is released.
///
/// Failures of released requests stop the releases. After two in a row, or more than one in five, no success releases a
/// request for the length of ``pause``. If that soon happens again, the pause doubles each time, up to twenty times its
/// length. So a host that fails every other request does not undo the backoff of the failing requests.
///
/// A wait that ends early does not count for the backoff. If the attempt then fails, the same delay follows once more.
/// If that wait also ends early and its attempt fails, the next delay follows.
public struct HostRecoveryObserver: EarlyRetryObserver, TabledObserver {
    /// How long no success releases a request after releases failed. 3 s by default; a negative time counts as zero.
    public let pause: Duration

    /// Makes an observer.
    ///
    /// - Parameter pause: How long no success releases a request after releases failed. 3 s by default.
    public init(pause: Duration = .seconds(3)) {
        // An alarm has the same bound. It leaves room for a pause that is twenty times as long.
        self.pause = min(max(pause, .zero), .seconds(Int32.max))
    }

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
        after failure: AttemptFailure?, in hosts: HostRegistry, on clock: RequestClock, using random: RandomSource,
        holdingBack hold: Duration, _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void {
        let origin = Origin(failure?.request.url)
        // A success of work without a host says nothing about other work without one.
        guard !origin.host.isEmpty else { return {} }
        return hosts.recoveries.enter(origin, pause: pause, after: hold, on: clock, wake)
    }
}
