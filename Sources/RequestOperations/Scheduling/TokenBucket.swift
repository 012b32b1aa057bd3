/// Tokens that come back with time or are added. A pure value. Times are in nanoseconds since a fixed start.
///
/// It serves the rate of a limiter, the pace after a 429, and the budget of retries. A retry that finds too few tokens
/// takes future ones and waits for them. So waiting retries follow each other at even intervals.
struct TokenBucket: Sendable {
    struct Terms: Sendable, Hashable {
        /// The tokens of a new bucket.
        let reserve: Double
        /// The most tokens that the bucket holds.
        let capacity: Double
        /// The tokens that each second adds.
        let perSecond: Double
        /// After this time without use, a bucket counts as new, unless time still fills it.
        let rest: Int64

        var startsFull: Bool { reserve == capacity }

        /// The terms of a rate. Each attempt takes one token.
        ///
        /// - Parameter burst: How many attempts may begin at once after a pause.
        static func rate(_ perSecond: Double, burst: Int = 1) -> Terms {
            // Timers are not exact. Attempts that follow each other more closely than 10 ms may catch up by that much.
            let caughtUp = perSecond > 100 ? 1 + perSecond / 100 : 1
            let capacity = max(Double(burst), caughtUp)
            return Terms(reserve: capacity, capacity: capacity, perSecond: perSecond, rest: 0)
        }
    }

    private(set) var terms: Terms
    /// Negative when waiting retries have taken future tokens.
    private var tokens: Double
    private var updated: Int64

    /// Makes a bucket.
    ///
    /// - Parameter tokens: The tokens that it holds. The reserve by default.
    init(_ terms: Terms, holding tokens: Double? = nil, at now: Int64) {
        self.terms = terms
        self.tokens = tokens ?? terms.reserve
        updated = now
    }

    /// Changes how fast tokens come back from now on.
    mutating func change(to terms: Terms, at now: Int64) {
        advance(to: now)
        self.terms = terms
    }

    mutating func add(_ count: Double, at now: Int64) {
        advance(to: now)
        tokens = tokens.adding(count, upTo: terms.capacity)
    }

    /// Takes tokens. Returns the wait for them, which is below the limit or zero. Returns `nil` if it takes none.
    mutating func take(_ count: Double, at now: Int64, within limit: Int64 = 0) -> Int64? {
        let wait = wait(for: count, at: now)
        guard wait == 0 || wait < limit else { return nil }
        spend(count, at: now)
        return wait
    }

    /// Takes tokens, even if they are not there.
    mutating func spend(_ count: Double, at now: Int64) {
        advance(to: now)
        tokens -= count
    }

    /// How long a wait for tokens would take. It is the largest number if they never come.
    func wait(for count: Double, at now: Int64) -> Int64 {
        let missing = count - tokens(at: now)
        guard missing > Self.tolerance else { return 0 }
        return terms.perSecond > 0 ? Int64(min(missing / terms.perSecond * 1e9, 9e18).rounded()) : .max
    }

    /// How many whole tokens there are.
    func balance(at now: Int64) -> Int { max(Int(tokens(at: now) + Self.tolerance), 0) }

    /// Whether the bucket is equivalent to a new one.
    func isAsNew(at now: Int64) -> Bool {
        let tokens = tokens(at: now)
        return tokens == terms.reserve || now - terms.rest >= updated && tokens >= terms.reserve
    }

    /// Sums of fractions of a token are not exact.
    private static let tolerance = 1e-9

    private func tokens(at now: Int64) -> Double {
        // The caller reads the time before it takes the lock, so the time may be slightly in the past.
        guard now > updated else { return tokens }
        guard terms.perSecond > 0 else { return now - terms.rest >= updated ? terms.reserve : tokens }
        return tokens.adding(terms.perSecond * Double(now - updated) / 1e9, upTo: terms.capacity)
    }

    private mutating func advance(to now: Int64) {
        tokens = tokens(at: now)
        updated = max(updated, now)
    }
}

extension Double {
    /// The sum, up to a limit. A number that is above the limit stays.
    fileprivate func adding(_ count: Double, upTo limit: Double) -> Double { max(self, min(self + count, limit)) }
}
