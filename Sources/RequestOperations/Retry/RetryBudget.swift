/// How many retries a host is burdened with, at most, in proportion to the requests that it is sent.
///
/// Each failing request has its retries; together they would multiply what an overloaded host has to bear, just when it can
/// bear it least. A budget bounds them for each scheme, host and port: with the defaults, in any ten seconds at most one
/// retry for five requests, and a hundred besides. All that room may be used at once, after a time without retries; from then on
/// it comes back evenly, one retry for five requests and ten a second, so that one burst is not followed by the next.
///
/// A value of this type is a reference to one ledger: all configurations that are given it draw on the same. It can be used
/// from any thread.
///
/// ```swift
/// configuration.retryPolicy.budget = RetryBudget(ratio: 0.1, mode: .failing)
/// print(RetryBudget.shared.balance(of: url))
/// ```
///
/// A request is counted once, when it is about to be sent for the first time, a retry when it is decided upon: after every
/// other guard of the ``RetryPolicy``, so that a retry that is refused for another reason costs nothing. What was drawn for
/// a retry that is not made is given back, for example when its request was cancelled while it waited. So is what was drawn
/// for a retry that the recovery of its host releases (``HostRecoveryObserver``): the successes of the host bound those. A
/// retry that an ``EarlyRetryObserver`` of your own wakes when the window has moved past its decision draws anew. It waits
/// on until there is room, at most as long as it would have. A hedge (``RequestConfiguration/hedging``) draws when it is
/// sent, and is not sent if there is no room at once.
public struct RetryBudget: Sendable {
    /// What becomes of a retry for which there is no room.
    public enum Mode: Sendable, Hashable {
        /// It is postponed to the earliest time with room, which is kept for it; if that is beyond the deadline or the
        /// policy's elapsed limit, the request fails as with ``failing``. Those that are postponed are spread evenly. Room for
        /// a retry that the host asked to wait for is sought from the end of that wait on, so that many who were asked the
        /// same do not come all at once.
        case delaying
        /// The request fails with ``RequestError/Code/retryBudgetExhausted``, which has the failure as its cause.
        case failing
    }

    /// What came of asking for a retry.
    enum Withdrawal: Equatable {
        case granted
        /// Granted, but not before this time has passed.
        case postponed(Duration)
        case refused
    }

    /// What a retry drew. Few requests draw anything, and all have room for a draw; so that is a reference.
    final class Draw: Sendable {
        enum Kind: Sendable {
            /// Room in a window, at a time on the ledger's clock.
            case room(at: Int64)
            case tokens(Int)
        }

        let kind: Kind
        /// Where it was drawn; a decision may send the retry elsewhere.
        let url: URL?
        let ledger: RetryLedger

        init(kind: Kind, url: URL?, ledger: RetryLedger) {
            (self.kind, self.url, self.ledger) = (kind, url, ledger)
        }

        /// Gives it back: the retry is not made.
        func takeBack() {
            ledger.takeBack(kind, for: url)
        }

        /// The retry succeeded, and that brings back tokens.
        func succeeded() {
            if case .tokens = kind { takeBack() }
        }
    }

    private let ledger: RetryLedger

    /// The budget of every ``RetryPolicy`` that is given no other: one for the process, with the defaults of
    /// ``init(ratio:minimumPerSecond:window:mode:clock:)``.
    ///
    /// It counts in real time only: requests whose configuration has another clock, and failures that a test makes, are
    /// neither counted nor held back. Give those a budget of their own, on their clock.
    public static let shared = RetryBudget(
        RetryLedger(
            terms(ratio: 0.2, minimumPerSecond: 10, window: .seconds(10), mode: .delaying), clock: ContinuousClock(),
            isForRealTimeOnly: true))

    /// Makes a budget over a sliding window, which moves in tenths of its length.
    ///
    /// There is room for a retry if with it the window that ends there has at most
    /// `minimumPerSecond × window + ratio × requests` retries, those included that were postponed to it. The room of retries that
    /// leave the window is given out in each tenth of it as far as `minimumPerSecond × window / 10 + ratio × requests` goes, of
    /// the requests in the tenth that leaves, and at least one; the rest is held back until the next.
    ///
    /// - Parameters:
    ///   - ratio: The retries for each request. 0.2 by default; what is negative or no number counts as 0.
    ///   - minimumPerSecond: The retries a second besides, for hosts that are sent few requests. 10 by default; what is
    ///     negative or no number counts as 0, and less than one in a window is none.
    ///   - window: The length of the window. 10 s by default; at least a microsecond.
    ///   - mode: What becomes of a retry without room. ``Mode/delaying`` by default.
    ///   - clock: The clock of the window: that of the configurations which use the budget. The continuous one by default.
    public init(
        ratio: Double = 0.2, minimumPerSecond: Double = 10, window: Duration = .seconds(10), mode: Mode = .delaying,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            RetryLedger(
                Self.terms(ratio: ratio, minimumPerSecond: minimumPerSecond, window: window, mode: mode), clock: clock))
    }

    init(_ ledger: RetryLedger) {
        self.ledger = ledger
    }

    /// Makes a budget of tokens: each retry costs some, a success brings them back, and time does not. Without enough of
    /// them a retry is refused, as with ``Mode/failing``. A host whose tokens nobody used for 12 hours has all of them again: it
    /// is forgotten.
    ///
    /// The defaults are those of the AWS SDKs' standard mode; `tokens(cost: 14, timeoutCost: 14, throttlingCost: 5)` is
    /// that of 2026. Negative numbers count as 0.
    ///
    /// - Parameters:
    ///   - capacity: The tokens of each host, at its beginning and at most. 500 by default.
    ///   - cost: The tokens for a retry, and for a hedge. 5 by default.
    ///   - timeoutCost: The tokens for a retry after a time-out. 10 by default.
    ///   - throttlingCost: The tokens for a retry after status 429. 5 by default.
    ///   - refund: The tokens that a success of a first attempt brings back; that of a later one brings back what its own
    ///     retry cost, which is nothing if it drew nothing, as after a decision of your own, and that of a hedge what the
    ///     hedge did. 1 by default.
    public static func tokens(
        capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10, throttlingCost: Int = 5, refund: Int = 1
    ) -> RetryBudget {
        RetryBudget(
            RetryLedger(
                .tokens(
                    RetryLedger.TokenTerms(
                        capacity: max(capacity, 0), cost: max(cost, 0), timeoutCost: max(timeoutCost, 0),
                        throttlingCost: max(throttlingCost, 0), refund: max(refund, 0))),
                clock: ContinuousClock()))
    }

    /// What becomes of a retry for which there is no room; of a budget of tokens ``Mode/failing``.
    public var mode: Mode {
        switch ledger.terms {
        case .window(_, let mode): mode
        case .tokens: .failing
        }
    }

    /// How many retries to a URL's scheme, host and port there is room for at once; of a budget of tokens how many of these
    /// there are. What other threads draw meanwhile may have made it less.
    public func balance(of url: URL) -> Int {
        ledger.balance(of: url)
    }

    /// Counts a request to a URL's scheme, host and port that is made without a ``URLRequestOperation``, for which a
    /// ``RetryPolicy`` is asked after each failure.
    ///
    /// To be called once for each such request, when it is about to be sent for the first time; operations count themselves.
    /// A budget of tokens counts none.
    public func countRequest(to url: URL) {
        ledger.countRequest(to: url)
    }

    // MARK: What a request does

    /// Counts a request; called once for each.
    func countRequest(to url: URL?, on timeline: Timeline) {
        if counts(timeline) { ledger.countRequest(to: url) }
    }

    /// Counts the success of a first attempt, or of a hedge.
    func countSuccess(to url: URL?, isHedge: Bool, on timeline: Timeline) {
        if counts(timeline) { ledger.countSuccess(to: url, isHedge: isHedge) }
    }

    /// Whether a success makes a difference.
    var countsSuccesses: Bool {
        if case .tokens = ledger.terms { true } else { false }
    }

    /// Asks for the retry after a failure, which must begin within a time.
    ///
    /// - Parameter start: The server asked not to be sent it before. Many whom it asked have the same time to wait for: where
    ///   retries can be postponed, room is needed there, and not now.
    func withdraw(for failure: AttemptFailure, from start: Duration = .zero, within left: Duration) -> Withdrawal {
        guard counts(failure.timeline) else { return .granted }
        // Whoever decides a second time draws but once.
        failure.takeUnusedDraw()?.takeBack()
        return ledger.withdraw(for: failure, from: start, within: left)
    }

    /// Asks for a hedge, for which there has to be room now, whatever the mode.
    ///
    /// - Returns: Whether there is, and what was drawn.
    func withdrawHedge(to url: URL?, on timeline: Timeline) -> (isGranted: Bool, draw: Draw?) {
        guard counts(timeline) else { return (true, nil) }
        let draw = ledger.withdrawHedge(to: url)
        return (draw != nil, draw)
    }

    private func counts(_ timeline: Timeline) -> Bool { timeline.isReal || !ledger.isForRealTimeOnly }

    private static func terms(
        ratio: Double, minimumPerSecond: Double, window: Duration, mode: Mode
    ) -> RetryLedger.Terms {
        let window = max(window, .microseconds(1))
        func usable(_ number: Double) -> Double { number > 0 ? min(number, 1e9) : 0 }
        return .window(
            RetryWindow.Terms(
                ratio: usable(ratio), reserve: min(usable(minimumPerSecond) * window.inSeconds, 1e9),
                window: window.nanoseconds),
            mode)
    }
}
