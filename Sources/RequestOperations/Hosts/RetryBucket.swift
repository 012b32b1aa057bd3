/// Tokens that come back with time or are added. A pure value. Times are in nanoseconds since a fixed start.
///
/// Who finds too few may take future tokens and waits for them. So waiting retries follow each other at even intervals.
struct RetryBucket: Sendable {
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

    /// How long tokens would have to be waited for. Without an end, it is the largest number.
    func wait(for count: Double, at now: Int64) -> Int64 {
        let missing = count - tokens(at: now)
        guard missing > Self.tolerance else { return 0 }
        return terms.perSecond > 0 ? max(Int64(min(missing / terms.perSecond * 1e9, 9e18)), 1) : .max
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

    /// Gives the tokens back, because the retry is not made.
    func takeBack() {
        hosts.visit(origin) { $0.give(tokens, to: budget, at: $1) }
    }

    /// Records that the retry succeeded. This brings back tokens that time does not.
    func succeeded() {
        if budget.countsSuccesses { takeBack() }
    }
}
