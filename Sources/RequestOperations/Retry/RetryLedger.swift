/// The budgets of all origins behind one ``RetryBudget``.
final class RetryLedger: Sendable {
    enum Terms: Sendable {
        case window(RetryWindow.Terms, RetryBudget.Mode)
        case tokens(TokenTerms)
    }

    /// What retries cost where they cost tokens.
    struct TokenTerms: Sendable {
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

    private struct State {
        var windows = OriginTable<RetryWindow>()
        var quotas = OriginTable<RetryQuota>()
    }

    let terms: Terms
    /// Whether requests on another clock than the real one are let pass without being counted.
    let isForRealTimeOnly: Bool
    private let stopwatch: Stopwatch
    private let state = Locked(State())

    init(_ terms: Terms, clock: any Clock<Duration>, isForRealTimeOnly: Bool = false) {
        self.terms = terms
        self.isForRealTimeOnly = isForRealTimeOnly
        stopwatch = Stopwatch(clock)
    }

    /// How many origins something is kept for.
    var count: Int { state.withLock { $0.windows.count + $0.quotas.count } }

    private var now: Int64 { stopwatch.nanoseconds }

    /// Counts a request.
    func countRequest(to url: URL?) {
        guard case .window(let terms, _) = terms else { return }
        let now = now
        state.withLock { state in
            state.windows.change(
                url, at: now, initially: RetryWindow(terms), isIdle: { $0.isIdle(at: now) },
                by: { $0.countRequest(at: now) })
        }
    }

    /// Counts a success of a first attempt, or of a hedge.
    func countSuccess(to url: URL?, isHedge: Bool = false) {
        guard case .tokens(let terms) = terms else { return }
        let refund = isHedge ? terms.cost : terms.refund
        let now = now
        state.withLock { state in
            state.quotas.sweep(at: now, isIdle: { $0.isFull(at: now) })
            // A quota that was never drawn upon is full.
            _ = state.quotas.change(url) { $0.refund(refund, at: now) }
        }
    }

    func withdraw(
        for failure: AttemptFailure, from start: Duration, within left: Duration
    ) -> RetryBudget.Withdrawal {
        let url = failure.request.url
        switch terms {
        case .tokens(let terms):
            let cost = terms.cost(of: failure.error, status: failure.head?.status)
            guard takeTokens(cost, for: url, terms) else { return .refused }
            failure.note(RetryBudget.Draw(kind: .tokens(cost), url: url, ledger: self))
            return .granted
        case .window(let terms, let mode):
            let now = now
            let limit = mode == .failing ? nil : Self.moment(left, after: now)
            let outcome = state.withLock { state in
                state.windows.change(
                    url, at: now, initially: RetryWindow(terms), isIdle: { $0.isIdle(at: now) },
                    by: { $0.withdraw(at: now, from: Self.moment(start, after: now), postponingUntil: limit) })
            }
            switch outcome {
            case .granted:
                failure.note(RetryBudget.Draw(kind: .room(at: now), url: url, ledger: self))
                return .granted
            case .postponed(let moment):
                failure.note(RetryBudget.Draw(kind: .room(at: moment), url: url, ledger: self))
                return .postponed(.nanoseconds(moment - now))
            case .refused:
                return .refused
            }
        }
    }

    /// Takes tokens, unless there are fewer; whether it did.
    private func takeTokens(_ count: Int, for url: URL?, _ terms: TokenTerms) -> Bool {
        let now = now
        return state.withLock { state in
            state.quotas.change(
                url, at: now, initially: RetryQuota(capacity: terms.capacity), isIdle: { $0.isFull(at: now) },
                by: { $0.withdraw(count, at: now) })
        }
    }

    /// Draws a hedge, if there is room for one now.
    func withdrawHedge(to url: URL?) -> RetryBudget.Draw? {
        switch terms {
        case .tokens(let terms):
            return takeTokens(terms.cost, for: url, terms)
                ? RetryBudget.Draw(kind: .tokens(terms.cost), url: url, ledger: self) : nil
        case .window(let terms, _):
            let now = now
            let outcome = state.withLock { state in
                state.windows.change(
                    url, at: now, initially: RetryWindow(terms), isIdle: { $0.isIdle(at: now) },
                    by: { $0.withdraw(at: now, postponingUntil: nil) })
            }
            return outcome == .granted ? RetryBudget.Draw(kind: .room(at: now), url: url, ledger: self) : nil
        }
    }

    /// Draws anew for a retry that a sign brings forward, if what it drew is no part of the window any more.
    ///
    /// - Parameter left: The retry goes after this time in any case, with what it drew.
    /// - Returns: What it has drawn now, and how long it still has to wait; `nil` if there is no room before.
    func bringForward(_ draw: RetryBudget.Draw, within left: Duration) -> (draw: RetryBudget.Draw, wait: Duration)? {
        guard case .room(let drawn) = draw.kind, case .window(let terms, _) = terms else { return (draw, .zero) }
        let now = now
        let limit = Self.moment(left, after: now)
        let moment = state.withLock { state in
            state.windows.change(
                draw.url, at: now, initially: RetryWindow(terms), isIdle: { $0.isIdle(at: now) },
                by: { $0.bringForward(drawn, at: now, before: limit) })
        }
        guard let moment else { return nil }
        let moved = RetryBudget.Draw(kind: .room(at: moment), url: draw.url, ledger: self)
        return (moved, .nanoseconds(max(moment - now, 0)))
    }

    private static func moment(_ time: Duration, after now: Int64) -> Int64 {
        let (sum, overflow) = now.addingReportingOverflow(time.nanoseconds)
        return overflow ? .max : sum
    }

    /// Takes back what was drawn for a retry that is not made.
    func takeBack(_ draw: RetryBudget.Draw.Kind, for url: URL?) {
        let now = now
        switch draw {
        case .tokens(let count):
            state.withLock { _ = $0.quotas.change(url) { $0.refund(count, at: now) } }
        case .room(let moment):
            state.withLock { _ = $0.windows.change(url) { $0.takeBack(moment, at: now) } }
        }
    }

    func balance(of url: URL) -> Int {
        let now = now
        switch terms {
        case .tokens(let terms):
            return state.withLock { $0.quotas.entry(of: url)?.tokens(at: now) } ?? terms.capacity
        case .window(let terms, _):
            return state.withLock { $0.windows.change(url) { $0.balance(at: now) } } ?? Int(terms.reserve)
        }
    }
}
