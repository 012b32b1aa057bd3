/// Limits the retries to a host in proportion to the requests that it gets.
///
/// Each failing request has its own retries. Together, they would multiply the load on an overloaded host at the worst
/// time. A budget limits them for each scheme, host and port. With the defaults, a bucket gets one token for every five
/// requests and ten per second, and holds a hundred. Each retry takes one token.
///
/// ```swift
/// configuration.retryPolicy.budget = RetryBudget(ratio: 0.1, mode: .failing)
/// print(configuration.hosts.retriesLeft(to: url, under: RetryBudget(ratio: 0.1, mode: .failing)))
/// ```
///
/// A value of this type is only a setting. The buckets are in the ``HostRegistry`` of the configuration, one for each
/// host and each setting.
///
/// A request counts once, when it is about to be sent for the first time. A retry takes its token when its wait is
/// over, no matter what decided the retry. The token is given back if the retry is not sent, for example because its
/// request is cancelled. A retry that the recovery of its host releases (``HostRecoveryObserver``) takes no token,
/// because the successes of the host already limit such retries. A hedge (``RequestConfiguration/hedging``) takes a
/// token when it is sent. Without a token, it is not sent.
public struct RetryBudget: Sendable, Hashable {
    /// What happens to a retry for which there is no token.
    public enum Mode: Sendable, Hashable {
        /// The retry waits for the next token, or until the recovery of its host releases it.
        ///
        /// If the token comes after the deadline or the policy's elapsed limit, the request fails as with ``failing``.
        /// Several waiting retries follow each other at even intervals.
        case delaying
        /// The request fails with ``RequestError/Code/retryBudgetExhausted``. The failure of the attempt is the cause
        /// of that error.
        case failing
    }

    /// What a retry costs in a budget whose tokens do not come back with time.
    struct Costs: Sendable, Hashable {
        let capacity: Int
        let cost: Int
        let timeoutCost: Int
        let throttlingCost: Int
        let refund: Int

        func cost(of error: any Error, status: Int?) -> Int {
            switch error {
            case RequestError.Code.timedOut: timeoutCost
            default: status == 429 ? throttlingCost : cost
            }
        }
    }

    enum Terms: Sendable, Hashable {
        case bucket(RetryBucket.Terms, Mode)
        case quota(Costs)
    }

    let terms: Terms

    private init(_ terms: Terms) {
        self.terms = terms
    }

    /// Makes a budget with a token bucket.
    ///
    /// A new bucket starts with `minimumPerSecond × window` tokens. It holds that many, and at least ten.
    ///
    /// - Parameters:
    ///   - ratio: The retries for each request. 0.2 by default. A negative number or NaN counts as 0.
    ///   - minimumPerSecond: Additional retries per second, for hosts that get few requests. 10 by default. A negative
    ///     number or NaN counts as 0.
    ///   - window: How long unused retries of `minimumPerSecond` are saved. 10 s by default, at least a microsecond.
    ///   - mode: What happens to a retry without a token. ``Mode/delaying`` by default.
    public init(
        ratio: Double = 0.2, minimumPerSecond: Double = 10, window: Duration = .seconds(10), mode: Mode = .delaying
    ) {
        let window = max(window, .microseconds(1))
        func usable(_ number: Double) -> Double { number > 0 ? min(number, 1e9) : 0 }
        self.init(
            .bucket(
                RetryBucket.Terms(
                    ratio: usable(ratio), perSecond: usable(minimumPerSecond),
                    reserve: min(usable(minimumPerSecond) * window.inSeconds, 1e9), window: window.nanoseconds),
                mode))
    }

    /// Makes a budget whose tokens only come back with successes.
    ///
    /// Each retry costs tokens. If there are not enough, the retry is refused, as with ``Mode/failing``. If the tokens
    /// of a host are not used for 12 hours, the host is forgotten. Then it has all of its tokens again.
    ///
    /// The defaults are those of the standard mode of the AWS SDKs. For the standard mode of 2026, use
    /// `tokens(cost: 14, timeoutCost: 14, throttlingCost: 5)`. Negative numbers count as 0.
    ///
    /// - Parameters:
    ///   - capacity: The tokens that each host starts with, and the most it can have. 500 by default.
    ///   - cost: The tokens for a retry or a hedge. 5 by default.
    ///   - timeoutCost: The tokens for a retry after a time-out. 10 by default.
    ///   - throttlingCost: The tokens for a retry after status 429. 5 by default.
    ///   - refund: The tokens that come back when a first attempt succeeds. 1 by default. The success of a retry or a
    ///     hedge brings back its own cost.
    public static func tokens(
        capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10, throttlingCost: Int = 5, refund: Int = 1
    ) -> RetryBudget {
        RetryBudget(
            .quota(
                Costs(
                    capacity: max(capacity, 0), cost: max(cost, 0), timeoutCost: max(timeoutCost, 0),
                    throttlingCost: max(throttlingCost, 0), refund: max(refund, 0))))
    }

    /// What happens to a retry for which there is no token. A budget of
    /// ``tokens(capacity:cost:timeoutCost:throttlingCost:refund:)`` has ``Mode/failing``.
    public var mode: Mode {
        switch terms {
        case .bucket(_, let mode): mode
        case .quota: .failing
        }
    }

    /// Whether successes change the tokens of this budget.
    var countsSuccesses: Bool {
        if case .quota = terms { true } else { false }
    }
}
