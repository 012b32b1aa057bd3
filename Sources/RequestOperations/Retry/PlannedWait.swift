/// How long a retry waits, with the state of its host taken into account. A pure value.
struct PlannedWait {
    /// What is known about a host when a retry to it is decided.
    struct Host {
        /// How long its circuit stays open.
        let open: Duration
        /// How long the host asked to be left alone, in a response to this request or to another.
        let silence: Duration
        /// How long its budget has no room for the retry, in nanoseconds. The largest number means always.
        let shortage: Int64
    }

    let delay: Duration
    /// What decides the length of the wait.
    let reason: WaitReason
    /// How long no early-retry observer can end the wait.
    let minimum: Duration

    /// Plans the wait.
    ///
    /// - Parameters:
    ///   - decided: The delay that the retry decision chose.
    ///   - failure: The attempt that failed.
    ///   - host: The state of its host.
    ///   - policy: The policy.
    ///   - random: The source of the spread.
    /// - Throws: The error that ends the request if there is no time for the wait.
    init(
        _ decided: Duration, after failure: AttemptFailure, host: Host, by policy: RetryPolicy,
        using random: RandomSource
    ) throws(RequestError) {
        let left = policy.timeLeft(after: failure)
        let asked = policy.askedDelay(after: failure)
        var delay = max(decided, .zero)
        if failure.wasRefused {
            // Refused attempts do not count as retries. So a request that waits for the probes must not ask again and
            // again without a pause.
            if host.open == .zero { delay = max(delay, .milliseconds(100) + .rounded(seconds: 0.1 * random.next())) }
            // An open circuit only delays a request that has sent nothing. We shorten its backoff so that it does not
            // run past the deadline.
            if !failure.wasSent { delay = min(delay, max(left - host.open, .zero) / 2) }
        }
        // The decision already includes the `Retry-After` of this request itself. Only a longer time counts here.
        let others = host.silence > asked ?? .zero ? host.silence : .zero
        // A request that itself received the `Retry-After` needs no spread. The spread is for requests that wait
        // because of another request's response.
        let silence = asked == nil ? Self.spread(others, within: left, using: random) : others
        // A `Retry-After` of another request only delays a request that has sent nothing.
        guard others == .zero || (others <= policy.maximumRetryAfter || !failure.wasSent) && silence < left else {
            throw failure.error(
                .retryAfterTooLong, reason: "the host asked another request to wait for \(others) more")
        }
        // The backoff spreads the requests that wait for a circuit, so that they do not all come at once.
        let halfOpen = host.open > .zero ? host.open + delay : .zero
        guard host.open == .zero || halfOpen < left else {
            throw failure.error(.circuitOpen, reason: "the host is left alone for another \(host.open)")
        }
        let isAsked = asked.map { $0 > .zero && delay >= $0 } ?? false
        self.delay = max(delay, silence, halfOpen)
        guard host.shortage == 0 || host.shortage < (left - self.delay).nanoseconds else {
            throw failure.exhaustedBudget
        }
        minimum = max(isAsked ? asked ?? .zero : .zero, silence, host.open)
        reason =
            switch self.delay {
            case halfOpen where host.open > .zero: .circuit
            case silence where silence > .zero: .retryAfter
            case _ where isAsked || asked == .zero && delay == .zero: .retryAfter
            default: failure.wasRefused ? .circuit : .backoff
            }
    }

    /// How long a request waits if only another request received a `Retry-After` from the host.
    ///
    /// It waits up to a tenth longer, but at most three seconds longer, so that the waiting requests do not all come at
    /// once.
    ///
    /// - Parameter limit: The time in which the attempt must begin. The spread never uses up this time.
    static func spread(
        _ left: Duration, within limit: Duration, using random: RandomSource
    ) -> Duration {
        guard left > .zero else { return .zero }
        let room = max((limit.inSeconds - left.inSeconds) / 2, 0)
        return left + .rounded(seconds: min(left.inSeconds / 10, 3, room) * random.next())
    }

    /// The observers that may end the wait. None of them ends it before the minimum is over.
    func observers(of observers: [any EarlyRetryObserver]) -> [any EarlyRetryObserver] {
        guard minimum > .zero else { return observers }
        guard minimum < delay else { return [] }
        return observers.map { DelayedObserver(observer: $0, delay: minimum) }
    }
}

extension AttemptFailure {
    /// The error of a request whose retry the budget has no room for.
    var exhaustedBudget: RequestError {
        error(
            .retryBudgetExhausted, reason: "there were too many retries to the host, in proportion to its requests")
    }
}
