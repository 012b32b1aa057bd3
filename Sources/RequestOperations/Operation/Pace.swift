/// When the next attempt may begin: a token bucket, counted as the time at which it is full again. A pure value; times are
/// nanoseconds on one clock.
///
/// The rate is the one that was set, or the lower one that a host showed by answering 429 (Too Many Requests, RFC 6585).
struct Pace {
    /// What a host that answered 429 is sent.
    private struct Learned {
        /// The attempts a second at the beginning.
        var perSecond: Double
        /// When the first 429 of a series came.
        var began: Int64
        /// When the last 429 came.
        var lastRefusal: Int64
        /// When an attempt was first sent after it. From here on the rate grows.
        var resumed: Int64?

        func perSecond(at now: Int64) -> Double {
            guard let resumed else { return perSecond }
            return perSecond * pow(Pace.growth, Double(max(now - resumed, 0)) / Pace.second)
        }
    }

    private static let second = 1e9
    /// A rate that was learned grows by a tenth each second.
    private static let growth = 1.1
    /// 429s within so long of the first one concern requests that were under way together.
    private static let series: Int64 = 1_000_000_000
    /// After so long without a 429 the host has no pace of its own any more.
    private static let memory: Int64 = 60_000_000_000
    /// Timers are not exact. So much may be made up for where attempts follow each other more closely than this.
    private static let tolerance: Int64 = 10_000_000

    private let rate: RequestLimiter.Rate?
    private let adapts: Bool
    /// When the bucket is full again.
    private var fullAt: Int64 = .min
    private var learned: Learned?
    private var accepted = RecentCount()

    /// Makes the pace of a host that was sent nothing yet.
    ///
    /// - Parameters:
    ///   - rate: The rate that is never exceeded; `nil` is no bound.
    ///   - adapts: Whether a 429 lowers it.
    init(rate: RequestLimiter.Rate?, adapts: Bool) {
        self.rate = rate
        self.adapts = adapts
    }

    /// When the next attempt may begin; in the past if it may now.
    func nextTime(at now: Int64) -> Int64 {
        guard fullAt > now, let interval = interval(at: now) else { return now }
        return max(fullAt - slack(interval), now)
    }

    /// An attempt begins. Of no effect without a rate.
    mutating func take(at now: Int64) {
        if learned?.resumed == nil { learned?.resumed = now }
        guard let interval = interval(at: now) else { return }
        fullAt = max(fullAt, now) + interval
    }

    /// An attempt that had begun was not sent after all.
    mutating func giveBack(at now: Int64) {
        guard let interval = interval(at: now), fullAt > now else { return }
        fullAt -= interval
    }

    /// A response came with a status.
    mutating func heard(_ status: Int, at now: Int64) {
        guard adapts else { return }
        guard status == 429 else {
            // A host that fails says nothing about how much it takes.
            if status < 500 { accepted.add(at: now) }
            return
        }
        let taken = Double(accepted.count(at: now))
        if var series = learned, now - series.began < Self.series {
            series.perSecond = max(series.perSecond, taken)
            (series.lastRefusal, series.resumed) = (now, nil)
            learned = series
        } else {
            let former = learned?.perSecond(at: now)
            let perSecond = max(taken, former.map { $0 * 0.7 } ?? 0)
            learned = Learned(perSecond: max(perSecond, 0.1), began: now, lastRefusal: now)
        }
        fullAt = max(fullAt, now + (interval(at: now) ?? 0))
    }

    /// Whether it says no more than one that is newly made.
    func isIdle(at now: Int64) -> Bool {
        fullAt <= now && !isLearned(at: now) && accepted.count(at: now) == 0
    }

    private func isLearned(at now: Int64) -> Bool {
        learned.map { now - $0.lastRefusal < Self.memory } ?? false
    }

    /// The time between two attempts; `nil` if there is no bound.
    private func interval(at now: Int64) -> Int64? {
        let learned = isLearned(at: now) ? learned?.perSecond(at: now) : nil
        guard let perSecond = [rate?.perSecond, learned].compactMap(\.self).min() else { return nil }
        return max(Int64(min(Self.second / perSecond, Double(Int64.max / 4))), 1)
    }

    /// How long before the bucket is full the next attempt may begin.
    private func slack(_ interval: Int64) -> Int64 {
        let burst = Int64(clamping: (rate?.burst ?? 1) - 1).multipliedReportingOverflow(by: interval)
        let wanted = burst.overflow ? Int64.max / 4 : burst.partialValue
        return interval < Self.tolerance ? max(wanted, Self.tolerance) : wanted
    }
}
