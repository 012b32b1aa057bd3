/// How many retries a host is burdened with, at most, in proportion to the requests that it is sent.
///
/// Each failing request has its retries. Together they would multiply what an overloaded host has to bear, just when it can
/// bear it least. A budget bounds them for each scheme, host and port. With the defaults a bucket gets one token for every five
/// requests and ten a second, and holds a hundred. Each retry takes one.
///
/// ```swift
/// configuration.retryPolicy.budget = RetryBudget(ratio: 0.1, mode: .failing)
/// print(configuration.hosts.retriesLeft(to: url, under: RetryBudget(ratio: 0.1, mode: .failing)))
/// ```
///
/// A value of this type is a setting. The buckets are in the ``HostRegistry`` of the configuration, one for each host and each
/// setting.
///
/// A request counts once, when it is about to be sent for the first time. A retry takes its token when its wait is over, whoever
/// decided it. What it took is given back if it is not sent, for example when its request is cancelled. A retry that the recovery
/// of its host releases (``HostRecoveryObserver``) takes none: the successes of the host bound those. A hedge
/// (``RequestConfiguration/hedging``) takes one when it is sent, and is not sent if there is none.
public struct RetryBudget: Sendable, Hashable {
    /// What becomes of a retry for which there is no token.
    public enum Mode: Sendable, Hashable {
        /// It waits for the next token. If that comes after the deadline or the policy's elapsed limit, the request fails as with
        /// ``failing``. Those that wait follow each other evenly.
        case delaying
        /// The request fails with ``RequestError/Code/retryBudgetExhausted``, which has the failure as its cause.
        case failing
    }

    /// What retries cost where they cost tokens that time does not bring back.
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

    /// Makes a budget of a token bucket.
    ///
    /// A new bucket has `minimumPerSecond × window` tokens. It holds as many, and at least ten.
    ///
    /// - Parameters:
    ///   - ratio: The retries for each request. 0.2 by default; what is negative or no number counts as 0.
    ///   - minimumPerSecond: The retries a second besides, for hosts that are sent few requests. 10 by default; what is
    ///     negative or no number counts as 0.
    ///   - window: For how long unused retries of `minimumPerSecond` are saved. 10 s by default; at least a microsecond.
    ///   - mode: What becomes of a retry without a token. ``Mode/delaying`` by default.
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

    /// Makes a budget of tokens that only successes bring back: each retry costs some. Without enough of them a retry is refused,
    /// as with ``Mode/failing``. A host whose tokens nobody used for 12 hours has all of them again: it is forgotten.
    ///
    /// The defaults are those of the AWS SDKs' standard mode; `tokens(cost: 14, timeoutCost: 14, throttlingCost: 5)` is
    /// that of 2026. Negative numbers count as 0.
    ///
    /// - Parameters:
    ///   - capacity: The tokens of each host, at its beginning and at most. 500 by default.
    ///   - cost: The tokens for a retry, and for a hedge. 5 by default.
    ///   - timeoutCost: The tokens for a retry after a time-out. 10 by default.
    ///   - throttlingCost: The tokens for a retry after status 429. 5 by default.
    ///   - refund: The tokens that a success of a first attempt brings back. 1 by default. That of a retry or a hedge brings back
    ///     what it cost itself.
    public static func tokens(
        capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10, throttlingCost: Int = 5, refund: Int = 1
    ) -> RetryBudget {
        RetryBudget(
            .quota(
                Costs(
                    capacity: max(capacity, 0), cost: max(cost, 0), timeoutCost: max(timeoutCost, 0),
                    throttlingCost: max(throttlingCost, 0), refund: max(refund, 0))))
    }

    /// What becomes of a retry for which there is no token; of a budget of ``tokens(capacity:cost:timeoutCost:throttlingCost:refund:)``
    /// ``Mode/failing``.
    public var mode: Mode {
        switch terms {
        case .bucket(_, let mode): mode
        case .quota: .failing
        }
    }

    /// Whether a success makes a difference.
    var countsSuccesses: Bool {
        if case .quota = terms { true } else { false }
    }
}
