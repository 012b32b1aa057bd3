/// How long a retry waits, once its host was asked as well. A pure value.
struct PlannedWait {
    /// What is known of a host when a retry to it is decided.
    struct Host {
        /// How long its circuit is open.
        let open: Duration
        /// How long it asked to be left alone, this request or others.
        let silence: Duration
    }

    let delay: Duration
    /// What decides the length of the wait.
    let reason: WaitReason
    /// For so long no sign ends the wait.
    let hold: Duration

    /// Plans the wait.
    ///
    /// - Parameters:
    ///   - decided: The delay of the decision.
    ///   - failure: The attempt that failed.
    ///   - host: What is known of its host.
    ///   - policy: The policy.
    ///   - random: Where the spread comes from.
    /// - Throws: What the request ends with, where there is no time for the wait.
    init(
        _ decided: Duration, after failure: AttemptFailure, host: Host, by policy: RetryPolicy,
        using random: RandomSource
    ) throws(Refusal) {
        let left = policy.timeLeft(after: failure)
        let asked = policy.askedDelay(after: failure)
        var delay = max(decided, .zero)
        if failure.wasRefused {
            // Refused attempts do not count, so those who wait for the probes must not ask without end.
            if host.open == .zero { delay = max(delay, .milliseconds(100) + .rounded(seconds: 0.1 * random.next())) }
            // A circuit only delays what was never sent. So no backoff takes such a request past its deadline.
            if !failure.wasSent { delay = min(delay, max(left - host.open, .zero) / 2) }
        }
        // What this request was told itself was part of the decision.
        let others = host.silence > asked ?? .zero ? host.silence : .zero
        // A request that was told itself need not be spread among those that were not.
        let held = asked == nil ? SilenceTable.spread(others, within: left, using: random) : others
        // What was never sent is only delayed by what another one was told.
        guard others == .zero || (others <= policy.maximumRetryAfter || !failure.wasSent) && held < left else {
            throw Refusal(
                .retryAfterTooLong, after: failure, reason: "the host asked another request to wait for \(others) more")
        }
        // Those who wait for a circuit do not come all at once.
        let halfOpen = host.open > .zero ? host.open + delay : .zero
        guard host.open == .zero || halfOpen < left else {
            throw Refusal(.circuitOpen, after: failure, reason: "the host is left alone for another \(host.open)")
        }
        let isAsked = asked.map { $0 > .zero && delay >= $0 } ?? false
        self.delay = max(delay, held, halfOpen)
        hold = max(isAsked ? asked ?? .zero : .zero, held, host.open)
        reason =
            switch self.delay {
            case halfOpen where host.open > .zero: .circuit
            case held where held > .zero: .retryAfter
            case _ where isAsked || asked == .zero && delay == .zero: .retryAfter
            default: failure.wasRefused ? .circuit : .backoff
            }
    }

    /// Why there is no wait.
    struct Refusal: Error {
        let error: RequestError

        init(_ code: RequestError.Code, after failure: AttemptFailure, reason: String) {
            error = failure.error(code, reason: reason)
        }
    }

    /// The observers that may end the wait: none does before its hold is over.
    func observers(of observers: [any EarlyRetryObserver]) -> [any EarlyRetryObserver] {
        guard hold > .zero else { return observers }
        guard hold < delay else { return [] }
        return observers.map { HeldBackObserver(observer: $0, delay: hold) }
    }
}
