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
/// over, no matter what decided the retry. The token is returned if the retry is not sent, for example because its
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

    let bucket: TokenBucket.Terms
    /// The tokens that each request adds.
    var perRequest = 0.0
    /// The tokens that a retry or a hedge takes.
    private(set) var cost = 1.0
    private var timeoutCost = 1.0
    private var throttlingCost = 1.0
    /// The tokens that the success of a first attempt brings back. `nil` if successes bring back nothing.
    private(set) var refund: Double?
    /// What happens to a retry for which there is no token. A budget of
    /// ``tokens(capacity:cost:timeoutCost:throttlingCost:refund:)`` has ``Mode/failing``.
    public let mode: Mode

    private init(_ bucket: TokenBucket.Terms, _ mode: Mode) {
        (self.bucket, self.mode) = (bucket, mode)
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
        let perSecond = usable(minimumPerSecond)
        let reserve = min(perSecond * window.inSeconds, 1e9)
        self.init(
            TokenBucket.Terms(
                reserve: reserve, capacity: max(reserve, 10), perSecond: perSecond,
                rest: window.nanoseconds),
            mode)
        perRequest = usable(ratio)
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
        // A larger `Double` has no room for a single token.
        func usable(_ number: Int) -> Double { Double(min(max(number, 0), 1_000_000_000_000_000)) }
        let capacity = usable(capacity)
        var budget = RetryBudget(
            TokenBucket.Terms(
                reserve: capacity, capacity: capacity, perSecond: 0, rest: HostMemory.longestRest),
            .failing)
        budget.cost = usable(cost)
        budget.timeoutCost = usable(timeoutCost)
        budget.throttlingCost = usable(throttlingCost)
        budget.refund = usable(refund)
        return budget
    }

    /// Whether successes change the tokens of this budget.
    var countsSuccesses: Bool { refund != nil }

    /// The tokens that a retry takes after an error.
    ///
    /// - Parameter status: The status of the response, if there was one.
    func cost(after error: any Error, status: Int?) -> Double {
        switch error {
        case RequestError.Code.timedOut: timeoutCost
        default: status == 429 ? throttlingCost : cost
        }
    }
}

/// What a retry took from a budget. It is a reference, because few requests take anything but all of them have room for
/// it.
final class RetryDraw: Sendable {
    private let tokens: Double
    private let budget: RetryBudget
    private let origin: Origin
    private let hosts: HostRegistry

    init(_ tokens: Double, from budget: RetryBudget, of origin: Origin, in hosts: HostRegistry) {
        (self.tokens, self.budget, self.origin, self.hosts) = (tokens, budget, origin, hosts)
    }

    /// Returns the tokens to the budget, because the retry is not made.
    func takeBack() {
        hosts.visit(origin) { $0.putBack(tokens, into: budget, at: $1) }
    }

    /// Records that the retry succeeded. This brings back tokens that time does not.
    func succeeded() {
        if budget.countsSuccesses { takeBack() }
    }
}
