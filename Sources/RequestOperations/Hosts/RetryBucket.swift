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
