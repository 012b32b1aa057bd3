/// The retry budgets of all hosts. There is a bucket, or a quota of tokens, for each host and each ``RetryBudget``.
final class BudgetTable: Sendable {
    /// The answer to a request for a retry.
    enum Withdrawal {
        /// The retry may be sent after this time.
        case granted(after: Duration, RetryDraw)
        case refused
    }

    private struct State {
        var buckets: [RetryBucket.Terms: OriginTable<RetryBucket>] = [:]
        var quotas: [RetryBudget.Costs: OriginTable<RetryQuota>] = [:]

        /// Changes the bucket of an origin.
        mutating func bucket<Result>(
            _ origin: Origin, _ terms: RetryBucket.Terms, at now: Int64, _ change: (inout RetryBucket) -> Result
        ) -> Result {
            buckets[terms, default: OriginTable()].change(
                origin, at: now, initially: RetryBucket(terms, at: now), isIdle: { $0.isIdle(at: now) }, by: change)
        }

        /// Changes the quota of an origin.
        mutating func quota<Result>(
            _ origin: Origin, _ costs: RetryBudget.Costs, at now: Int64, _ change: (inout RetryQuota) -> Result
        ) -> Result {
            quotas[costs, default: OriginTable()].change(
                origin, at: now, initially: RetryQuota(capacity: costs.capacity), isIdle: { $0.isFull(at: now) },
                by: change)
        }
    }

    private let clock: RequestClock
    private let state = Locked(State())

    init(_ clock: RequestClock) {
        self.clock = clock
    }

    /// How many entries are kept.
    var count: Int {
        state.withLock { state in
            state.buckets.values.reduce(0) { $0 + $1.count } + state.quotas.values.reduce(0) { $0 + $1.count }
        }
    }

    private var now: Int64 { clock.now.nanoseconds }

    /// Counts a request. It is called once, when the request is about to be sent for the first time.
    func countRequest(to origin: Origin, under budget: RetryBudget) {
        guard case .bucket(let terms, _) = budget.terms else { return }
        let now = now
        state.withLock { $0.bucket(origin, terms, at: now) { $0.countRequest(at: now) } }
    }

    /// Counts the success of a first attempt.
    func countSuccess(of origin: Origin, under budget: RetryBudget) {
        guard case .quota(let costs) = budget.terms else { return }
        let now = now
        state.withLock { state in
            state.quotas[costs]?.sweep(at: now) { $0.isFull(at: now) }
            // A quota that is not in the table has never been used, so it is full.
            _ = state.quotas[costs]?.change(origin) { $0.refund(costs.refund, at: now) }
        }
    }

    /// Asks for a retry whose wait is over.
    ///
    /// - Parameters:
    ///   - error: The error of the last attempt.
    ///   - status: The status of its response, if there was one.
    ///   - left: The time within which the retry must begin.
    func withdraw(
        to origin: Origin, under budget: RetryBudget, after error: any Error, status: Int?, within left: Duration
    ) -> Withdrawal {
        let now = now
        switch budget.terms {
        case .quota(let costs): return draw(costs.cost(of: error, status: status), of: origin, costs, at: now)
        case .bucket(let terms, let mode):
            let limit = mode == .failing ? nil : left.nanoseconds
            let outcome = state.withLock {
                $0.bucket(origin, terms, at: now) { $0.withdraw(at: now, waitingFor: limit) }
            }
            switch outcome {
            case .granted: return .granted(after: .zero, RetryDraw(.bucket(terms), of: origin, from: self))
            case .postponed(let wait):
                return .granted(after: .nanoseconds(wait), RetryDraw(.bucket(terms), of: origin, from: self))
            case .refused: return .refused
            }
        }
    }

    /// Asks for a hedge. There must be room now, in any mode of the budget.
    func withdrawHedge(to origin: Origin, under budget: RetryBudget) -> Withdrawal {
        let now = now
        switch budget.terms {
        case .quota(let costs): return draw(costs.cost, of: origin, costs, at: now)
        case .bucket(let terms, _):
            let outcome = state.withLock { $0.bucket(origin, terms, at: now) { $0.withdraw(at: now, waitingFor: nil) } }
            return outcome == .refused
                ? .refused : .granted(after: .zero, RetryDraw(.bucket(terms), of: origin, from: self))
        }
    }

    /// Takes a token for a retry that is sent in any case. Returns `nil` if the budget is a quota.
    func withdrawAnyway(to origin: Origin, under budget: RetryBudget) -> RetryDraw? {
        guard case .bucket(let terms, _) = budget.terms else { return nil }
        let now = now
        state.withLock { $0.bucket(origin, terms, at: now) { $0.withdrawAnyway(at: now) } }
        return RetryDraw(.bucket(terms), of: origin, from: self)
    }

    private func draw(_ cost: Int, of origin: Origin, _ costs: RetryBudget.Costs, at now: Int64) -> Withdrawal {
        let isGranted = state.withLock { $0.quota(origin, costs, at: now) { $0.withdraw(cost, at: now) } }
        return isGranted
            ? .granted(after: .zero, RetryDraw(.quota(costs, tokens: cost), of: origin, from: self)) : .refused
    }

    /// Whether a retry that begins after a wait would be refused, as far as we know now.
    ///
    /// - Parameter left: How much time is left after the wait for the retry to begin.
    func isExhausted(
        for origin: Origin, under budget: RetryBudget, after error: any Error, status: Int?, within left: Duration
    ) -> Bool {
        let now = now
        switch budget.terms {
        case .quota(let costs):
            let tokens = state.withLock { state in
                state.quotas[costs]?.sweep(at: now) { $0.isFull(at: now) }
                return state.quotas[costs]?[origin]?.tokens(at: now)
            }
            return tokens ?? costs.capacity < costs.cost(of: error, status: status)
        case .bucket(let terms, let mode):
            let bucket = state.withLock { $0.buckets[terms]?[origin] } ?? RetryBucket(terms, at: now)
            let wait = bucket.wait(at: now)
            return wait > 0 && (mode == .failing || wait >= left.nanoseconds)
        }
    }

    func balance(of origin: Origin, under budget: RetryBudget) -> Int {
        let now = now
        switch budget.terms {
        case .quota(let costs): return state.withLock { $0.quotas[costs]?[origin]?.tokens(at: now) } ?? costs.capacity
        case .bucket(let terms, _):
            return (state.withLock { $0.buckets[terms]?[origin] } ?? RetryBucket(terms, at: now)).balance(at: now)
        }
    }

    /// Gives back what a draw took.
    func takeBack(_ kind: RetryDraw.Kind, of origin: Origin) {
        let now = now
        state.withLock { state in
            switch kind {
            case .bucket(let terms): _ = state.buckets[terms]?.change(origin) { $0.takeBack(at: now) }
            case .quota(let costs, let tokens): _ = state.quotas[costs]?.change(origin) { $0.refund(tokens, at: now) }
            }
        }
    }
}
