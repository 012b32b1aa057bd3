/// A token bucket, stored as the time at which it is full again. A pure value. Times are nanoseconds on one clock.
struct TokenBucket {
    /// How closely attempts may follow each other.
    struct Spacing {
        /// Timers are not exact. Attempts that follow each other more closely than this may catch up by this much.
        private static let tolerance: Int64 = 10_000_000
        /// The longest wait. It is 73 years.
        private static let longest = Int64.max / 4

        /// The time between two attempts.
        let interval: Int64
        /// How long before the bucket is full the next attempt may begin.
        fileprivate let slack: Int64

        init(perSecond: Double, burst: Int = 1) {
            // The whole burst fits into the longest wait. Otherwise fewer attempts than asked for could begin at once.
            let most = max(Self.longest / Int64(clamping: max(burst, 1)), 1)
            interval = min(max(Int64(min(1e9 / perSecond, Double(Self.longest))), 1), most)
            let wanted = min(Int64(clamping: max(burst, 1) - 1), Self.longest / interval) * interval
            slack = interval < Self.tolerance ? max(wanted, Self.tolerance) : wanted
        }
    }

    private var fullAt: Int64 = .min

    /// When the next attempt may begin. If it may begin now, this is `now`.
    func nextTime(_ spacing: Spacing, at now: Int64) -> Int64 {
        fullAt > now ? max(fullAt - spacing.slack, now) : now
    }

    /// Records that an attempt begins.
    mutating func take(_ spacing: Spacing, at now: Int64) {
        fullAt = max(fullAt, now).adding(spacing.interval)
    }

    /// Records that an attempt that had begun was not sent.
    mutating func giveBack(_ spacing: Spacing, at now: Int64) {
        if fullAt > now { fullAt -= spacing.interval }
    }

    /// Makes the next attempt wait as if one began now, unless it waits longer.
    mutating func wait(_ spacing: Spacing, from now: Int64) {
        fullAt = max(fullAt, now.adding(spacing.interval))
    }

    /// Makes the next attempt wait at most as if one began now.
    mutating func shorten(to spacing: Spacing, from now: Int64) {
        fullAt = min(fullAt, now.adding(spacing.interval))
    }

    func isFull(at now: Int64) -> Bool { fullAt <= now }
}
