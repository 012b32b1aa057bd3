/// The retry budget of one host: a token bucket. A pure value; times are nanoseconds since some beginning.
///
/// Time and requests fill it, and each retry takes one token. A retry that finds none may take one that is still to come, and
/// then waits for it. So those that wait follow each other evenly.
struct RetryBucket: Sendable {
    /// What a bucket allows.
    struct Terms: Sendable, Hashable {
        /// The retries for each request.
        let ratio: Double
        /// The retries for each second.
        let perSecond: Double
        /// The retries of a new bucket.
        let reserve: Double
        /// After so long without a use a bucket counts as new.
        let window: Int64

        /// The retries that it holds at most.
        var capacity: Double { max(reserve, 10) }
    }

    enum Outcome: Equatable {
        case granted
        /// After this time, in nanoseconds.
        case postponed(Int64)
        case refused
    }

    private let terms: Terms
    /// Below zero by those who wait for one.
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
    /// - Parameter limit: The longest wait for one. `nil` takes only what is there.
    mutating func withdraw(at now: Int64, waitingFor limit: Int64?) -> Outcome {
        advance(to: now)
        let wait = timeToNext
        guard wait == 0 || wait < limit ?? 0 else { return .refused }
        tokens -= 1
        return wait == 0 ? .granted : .postponed(wait)
    }

    /// Takes a token for a retry that goes in any case.
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

    /// How many retries can go at once.
    func balance(at now: Int64) -> Int {
        var advanced = self
        advanced.advance(to: now)
        return max(Int(advanced.tokens + Self.tolerance), 0)
    }

    /// Whether it says no more than one that is newly made.
    func isIdle(at now: Int64) -> Bool {
        now - updated >= terms.window && balance(at: now) >= Int(terms.reserve)
    }

    /// A share of a request is not exact.
    private static let tolerance = 1e-9

    private var timeToNext: Int64 {
        let missing = 1 - tokens
        guard missing > Self.tolerance else { return 0 }
        return terms.perSecond > 0 ? max(Int64(min(missing / terms.perSecond * 1e9, 9e18)), 1) : .max
    }

    private mutating func advance(to now: Int64) {
        // The time was read before the lock was taken, so it may lie a little back.
        guard now > updated else { return }
        add(terms.perSecond * Double(now - updated) / 1e9)
        updated = now
    }

    private mutating func add(_ count: Double) {
        tokens = max(tokens, min(tokens + count, terms.capacity))
    }
}
