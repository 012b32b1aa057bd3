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

/// What a retry took from a budget. It is a reference, because few requests take anything but all of them have room for
/// it.
final class RetryDraw: Sendable {
    enum Kind: Sendable {
        case bucket(RetryBucket.Terms)
        case quota(RetryBudget.Costs, tokens: Int)
    }

    private let kind: Kind
    private let origin: Origin
    private let table: BudgetTable

    init(_ kind: Kind, of origin: Origin, from table: BudgetTable) {
        (self.kind, self.origin, self.table) = (kind, origin, table)
    }

    /// Gives the tokens back, because the retry is not made.
    func takeBack() {
        table.takeBack(kind, of: origin)
    }

    /// Records that the retry succeeded. This brings back the tokens of a quota.
    func succeeded() {
        if case .quota = kind { takeBack() }
    }
}

/// The retry budget of one host, as a token bucket. A pure value. Times are in nanoseconds since a fixed start.
///
/// Time and requests add tokens, and each retry takes one. A retry that finds none may take a future token and then
/// waits for it. So waiting retries follow each other at even intervals.
struct RetryBucket: Sendable {
    /// The settings of a bucket.
    struct Terms: Sendable, Hashable {
        /// The tokens that each request adds.
        let ratio: Double
        /// The tokens that each second adds.
        let perSecond: Double
        /// The tokens of a new bucket.
        let reserve: Double
        /// After this time without use, a bucket counts as new.
        let window: Int64

        /// The most tokens that the bucket holds.
        var capacity: Double { max(reserve, 10) }
    }

    enum Outcome: Equatable {
        case granted
        /// The retry may be sent after this time, in nanoseconds.
        case postponed(Int64)
        case refused
    }

    private let terms: Terms
    /// Negative when waiting retries have taken future tokens.
    private var tokens: Double
    private var updated: Int64

    init(_ terms: Terms, at now: Int64) {
        self.terms = terms
        tokens = terms.reserve
        updated = now
    }

    mutating func countRequest(at now: Int64) {
        advance(to: now)
        add(terms.ratio)
    }

    /// Takes a token.
    ///
    /// - Parameter limit: The longest wait for a token. With `nil`, only a token that is there now is taken.
    mutating func withdraw(at now: Int64, waitingFor limit: Int64?) -> Outcome {
        advance(to: now)
        let wait = timeToNext
        guard wait == 0 || wait < limit ?? 0 else { return .refused }
        tokens -= 1
        return wait == 0 ? .granted : .postponed(wait)
    }

    /// Takes a token for a retry that is sent in any case.
    mutating func withdrawAnyway(at now: Int64) {
        advance(to: now)
        tokens -= 1
    }

    /// Puts a token back.
    mutating func takeBack(at now: Int64) {
        advance(to: now)
        add(1)
    }

    /// How long a retry would wait for a token.
    func wait(at now: Int64) -> Int64 {
        var advanced = self
        advanced.advance(to: now)
        return advanced.timeToNext
    }

    /// How many retries can be sent at once.
    func balance(at now: Int64) -> Int {
        var advanced = self
        advanced.advance(to: now)
        return max(Int(advanced.tokens + Self.tolerance), 0)
    }

    /// Whether the bucket is equivalent to a new one.
    func isIdle(at now: Int64) -> Bool {
        now - updated >= terms.window && balance(at: now) >= Int(terms.reserve)
    }

    /// Sums of fractions of a token are not exact.
    private static let tolerance = 1e-9

    private var timeToNext: Int64 {
        let missing = 1 - tokens
        guard missing > Self.tolerance else { return 0 }
        return terms.perSecond > 0 ? max(Int64(min(missing / terms.perSecond * 1e9, 9e18)), 1) : .max
    }

    private mutating func advance(to now: Int64) {
        // The caller reads the time before it takes the lock, so the time may be slightly in the past.
        guard now > updated else { return }
        add(terms.perSecond * Double(now - updated) / 1e9)
        updated = now
    }

    private mutating func add(_ count: Double) {
        tokens = max(tokens, min(tokens + count, terms.capacity))
    }
}

/// The retry budget of one origin, as a quota of tokens. Each retry costs tokens, and a success brings them back. A
/// pure value. Times are in nanoseconds since a fixed start.
///
/// Time alone brings no tokens back, with one exception. A quota that was not used for ``HostMemory/longestRest`` is
/// full again, so it need not be kept forever.
struct RetryQuota: Sendable {
    private let capacity: Int
    private var tokens: Int
    private var lastUse = Int64.min

    /// A full quota.
    init(capacity: Int) {
        self.capacity = capacity
        tokens = capacity
    }

    /// Takes tokens. Returns `false`, and takes none, if there are too few.
    mutating func withdraw(_ cost: Int, at now: Int64) -> Bool {
        tokens = tokens(at: now)
        lastUse = now
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    mutating func refund(_ count: Int, at now: Int64) {
        tokens = tokens(at: now)
        // We add at most the missing tokens, because the sum could overflow otherwise.
        tokens += min(count, capacity - tokens)
        lastUse = now
    }

    /// How many tokens there are.
    func tokens(at now: Int64) -> Int {
        now - HostMemory.longestRest >= lastUse ? capacity : tokens
    }

    /// Whether the quota is full, like a new one.
    func isFull(at now: Int64) -> Bool { tokens(at: now) == capacity }
}
