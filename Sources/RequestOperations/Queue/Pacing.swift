/// The paces of all hosts of one limiter. A pure value. Times are nanoseconds on one clock.
///
/// Idle paces are dropped as in a ``HostTable``: when another one needs their room, and once an hour.
struct Pacing {
    let rate: RequestLimiter.Rate?
    let scope: RequestLimiter.RateScope
    let adapts: Bool
    /// The pace of all attempts together.
    private var all: Pace
    private var hosts: [Origin: Pace] = [:]
    /// At this many hosts, the idle ones are dropped before another one is added.
    private var roomFor = 64
    /// When the idle ones were last looked for.
    private var lastSweep = Int64.min

    /// Returns `nil` if there is nothing to bound.
    init?(rate: RequestLimiter.Rate?, scope: RequestLimiter.RateScope, adapts: Bool) {
        guard rate != nil || adapts else { return nil }
        self.rate = rate
        self.scope = scope
        self.adapts = adapts
        all = Pace(rate: scope == .all ? rate : nil, adapts: false)
    }

    var hostCount: Int { hosts.count }

    /// When the next attempt may begin, to any host.
    func nextTime(at now: Int64) -> Int64 {
        all.nextTime(at: now)
    }

    /// When the next attempt to a host may begin.
    func nextTime(for origin: Origin?, at now: Int64) -> Int64 {
        max(all.nextTime(at: now), origin.flatMap { hosts[$0] }?.nextTime(at: now) ?? now)
    }

    /// Records that an attempt to a host begins.
    mutating func take(_ origin: Origin?, at now: Int64) {
        all.take(at: now)
        change(origin, at: now) { $0.take(at: now) }
    }

    /// Records that an attempt that had begun was not sent.
    mutating func giveBack(_ origin: Origin?, at now: Int64) {
        all.giveBack(at: now)
        change(origin, at: now) { $0.giveBack(at: now) }
    }

    /// Records the status of a host's response.
    mutating func heard(_ status: Int, from origin: Origin, at now: Int64) {
        change(origin, at: now) { $0.heard(status, at: now) }
    }

    private mutating func change(_ origin: Origin?, at now: Int64, _ change: (inout Pace) -> Void) {
        guard let origin, scope == .host && rate != nil || adapts else { return }
        let isOverdue = now - HostMemory.sweepInterval >= lastSweep
        if isOverdue || hosts.count >= roomFor && hosts[origin] == nil {
            lastSweep = now
            hosts = hosts.filter { !$0.value.isIdle(at: now) }
            roomFor = max(64, 2 * hosts.count)
        }
        change(&hosts[origin, default: Pace(rate: scope == .host ? rate : nil, adapts: adapts)])
    }
}

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

/// How often something happened in the last second, counted in tenths. A pure value. Times are nanoseconds on one
/// clock.
struct RecentCount {
    private static let slice: Int64 = 100_000_000
    private static let sliceCount: Int64 = 10

    /// The counts of the last ten slices, each at its number modulo ten.
    private var counts = [Int](repeating: 0, count: Int(sliceCount))
    /// The number of the last slice in which something happened.
    private var current: Int64?

    mutating func add(at now: Int64) {
        let slice = max(now, 0) / Self.slice
        if let current, slice > current {
            for passed in max(current + 1, slice - Self.sliceCount + 1)...slice { counts[Self.index(passed)] = 0 }
        }
        current = max(slice, current ?? slice)
        counts[Self.index(slice)] += 1
    }

    func count(at now: Int64) -> Int {
        guard let current else { return 0 }
        let oldest = max(max(now, 0) / Self.slice, current) - Self.sliceCount + 1
        return oldest > current ? 0 : (oldest...current).reduce(0) { $0 + counts[Self.index($1)] }
    }

    private static func index(_ slice: Int64) -> Int {
        Int((slice % sliceCount + sliceCount) % sliceCount)
    }
}
