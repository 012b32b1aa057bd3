/// When the next attempt to a host may begin. A pure value. Times are nanoseconds on one clock.
///
/// The rate is the one that was set. If the host answered 429 (Too Many Requests, RFC 6585), a lower learned rate may
/// apply.
struct Pace {
    /// The rate that was learned from a host that answered 429.
    private struct Learned {
        enum Phase {
            /// Since the last 429, no attempt that began after it has been accepted. `sent` such attempts have been
            /// sent.
            case refused(at: Int64, sent: Int)
            /// The first such attempt was accepted. From here on the rate grows.
            case grows(since: Int64)
        }

        /// The attempts per second before the rate grows.
        var perSecond: Double
        /// By what the rate grows each second.
        var growth: Double
        /// When the first 429 of a series came.
        let began: Int64
        var phase: Phase
        var bucket = TokenBucket()

        func perSecond(at now: Int64) -> Double {
            guard case .grows(let start) = phase else { return perSecond }
            return perSecond * pow(growth, Double(max(now - start, 0)) / 1e9)
        }

        func spacing(at now: Int64) -> TokenBucket.Spacing {
            TokenBucket.Spacing(perSecond: perSecond(at: now))
        }

        /// Whether a 429 belongs to attempts that were in flight together with one that was refused before.
        func isOfSeries(at now: Int64) -> Bool {
            if case .refused(_, sent: 0) = phase { true } else { now - began < Pace.second }
        }

        /// The rate after a 429 of another series, if `taken` attempts were accepted in the last second.
        func perSecond(after taken: Double, at now: Int64) -> Double {
            // A whole second at this rate shows what the host accepts. A part of a second shows less, and a quiet one
            // nothing.
            if case .grows(let start) = phase, now - start >= Pace.second, taken > 0 { return taken }
            return max(taken, perSecond * 0.7)
        }

        func isOver(at now: Int64) -> Bool {
            switch phase {
            case .refused(let time, _): now - time >= HostMemory.longestRest
            case .grows(let start): now - start >= Pace.memory
            }
        }
    }

    private static let second: Int64 = 1_000_000_000
    /// A learned rate grows by a tenth each second.
    private static let growth = 1.1
    /// The lowest learned rate: one attempt in ten seconds.
    private static let lowest = 0.1
    /// The rate after the first 429 of a host that accepted nothing in the last second. What it accepts is not known then, so
    /// the rate is doubled each second.
    private static let (first, firstGrowth) = (1.0, 2.0)
    /// A rate that has grown for this long is forgotten. One that does not grow is kept for ``HostMemory/longestRest``.
    private static let memory = 60 * second

    private let adapts: Bool
    private let setPerSecond: Double
    /// The spacing of the set rate. `nil` means no bound.
    private let setSpacing: TokenBucket.Spacing?
    private var setBucket = TokenBucket()
    private var learned: Learned?
    private var accepted = RecentCount()

    /// Makes the pace of a host that has been sent nothing yet.
    ///
    /// - Parameters:
    ///   - rate: The rate that is never exceeded. `nil` means no bound.
    ///   - adapts: Whether a 429 lowers it.
    init(rate: RequestLimiter.Rate?, adapts: Bool) {
        self.adapts = adapts
        setPerSecond = rate?.perSecond ?? .infinity
        setSpacing = rate.map { TokenBucket.Spacing(perSecond: $0.perSecond, burst: $0.burst) }
    }

    /// When the next attempt may begin. If it may begin now, this is `now`.
    func nextTime(at now: Int64) -> Int64 {
        let next = setSpacing.map { setBucket.nextTime($0, at: now) } ?? now
        // A burst belongs to the set rate. The learned rate allows none.
        guard let learned = known(at: now), learned.perSecond(at: now) < setPerSecond else { return next }
        return max(next, learned.bucket.nextTime(learned.spacing(at: now), at: now))
    }

    /// Records that an attempt begins. Has no effect without a rate.
    mutating func take(at now: Int64) {
        if let setSpacing { setBucket.take(setSpacing, at: now) }
        guard var known = known(at: now) else { return }
        known.bucket.take(known.spacing(at: now), at: now)
        if case .refused(let time, let sent) = known.phase { known.phase = .refused(at: time, sent: sent + 1) }
        learned = known
    }

    /// Records that an attempt that had begun was not sent.
    mutating func giveBack(at now: Int64) {
        if let setSpacing { setBucket.giveBack(setSpacing, at: now) }
        guard var known = known(at: now) else { return }
        if case .refused(let time, let sent) = known.phase {
            // An attempt that began before the 429 is not part of the wait after it.
            guard sent > 0 else { return }
            known.phase = .refused(at: time, sent: sent - 1)
        }
        known.bucket.giveBack(known.spacing(at: now), at: now)
        learned = known
    }

    /// Records the status of a response.
    mutating func heard(_ status: Int, at now: Int64) {
        guard adapts else { return }
        if status == 429 {
            wasRefused(at: now)
        } else if status < 500 {
            // A host that fails says nothing about how much it accepts.
            wasAccepted(at: now)
        }
    }

    private mutating func wasAccepted(at now: Int64) {
        accepted.add(at: now)
        guard var known = known(at: now), case .refused(_, let sent) = known.phase else { return }
        if sent > 0 {
            known.phase = .grows(since: now)
        } else {
            // It was in flight together with the refused attempt, and came later.
            let taken = Double(accepted.count(at: now))
            guard taken > known.perSecond else { return }
            (known.perSecond, known.growth) = (taken, Self.growth)
            known.bucket.shorten(to: known.spacing(at: now), from: now)
        }
        learned = known
    }

    private mutating func wasRefused(at now: Int64) {
        let phase = Learned.Phase.refused(at: now, sent: 0)
        var next: Learned
        if let known = known(at: now), known.isOfSeries(at: now) {
            next = known
            next.phase = phase
        } else {
            let taken = Double(accepted.count(at: now))
            let known = known(at: now)
            let perSecond = known?.perSecond(after: taken, at: now) ?? (taken > 0 ? taken : Self.first)
            let growth = taken > 0 ? Self.growth : known?.growth ?? Self.firstGrowth
            next = Learned(perSecond: max(perSecond, Self.lowest), growth: growth, began: now, phase: phase)
        }
        next.bucket.wait(next.spacing(at: now), from: now)
        learned = next
    }

    /// Whether it says no more than a new one.
    func isIdle(at now: Int64) -> Bool {
        setBucket.isFull(at: now) && known(at: now) == nil && accepted.count(at: now) == 0
    }

    /// What the host has shown, unless that is forgotten.
    private func known(at now: Int64) -> Learned? {
        learned.flatMap { $0.isOver(at: now) ? nil : $0 }
    }
}
