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

    /// How many attempts to a host may begin per second. `nil` if nothing bounds them.
    func perSecond(for origin: Origin, at now: Int64) -> Double? {
        let own = hosts[origin].map { $0.perSecond(at: now) } ?? (scope == .host ? rate?.perSecond : nil)
        return [own, all.perSecond(at: now)].compactMap { $0 }.min()
    }

    /// Records that an attempt to a host begins.
    mutating func take(_ origin: Origin?, at now: Int64) {
        all.take(at: now)
        change(origin, at: now) { $0.take(at: now) }
    }

    /// Records that an attempt that had begun was not sent.
    mutating func release(_ origin: Origin?, at now: Int64) {
        all.release(at: now)
        change(origin, at: now) { $0.release(at: now) }
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
        var bucket: TokenBucket

        /// Makes the rate after a 429. The next attempt waits as if one began now.
        init(perSecond: Double, growth: Double, at now: Int64) {
            (self.perSecond, self.growth, began) = (perSecond, growth, now)
            phase = .refused(at: now, sent: 0)
            bucket = TokenBucket(.rate(perSecond), holding: 0, at: now)
        }

        func perSecond(at now: Int64) -> Double {
            guard case .grows(let start) = phase else { return perSecond }
            return perSecond * pow(growth, Double(max(now - start, 0)) / 1e9)
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
    /// The bucket of the set rate. `nil` means no bound.
    private var set: TokenBucket?
    private var learned: Learned?
    private var accepted = RecentCount()

    /// Makes the pace of a host that has been sent nothing yet.
    ///
    /// - Parameters:
    ///   - rate: The rate that is never exceeded. `nil` means no bound.
    ///   - adapts: Whether a 429 lowers it.
    init(rate: RequestLimiter.Rate?, adapts: Bool) {
        self.adapts = adapts
        set = rate.map { TokenBucket(.rate($0.perSecond, burst: $0.burst), at: 0) }
    }

    /// When the next attempt may begin. If it may begin now, this is `now`.
    func nextTime(at now: Int64) -> Int64 {
        var wait = set?.wait(for: 1, at: now) ?? 0
        // A burst belongs to the set rate. The learned rate allows none.
        if let learned = known(at: now), learned.perSecond(at: now) < set?.terms.perSecond ?? .infinity {
            wait = max(wait, learned.bucket.wait(for: 1, at: now))
        }
        return now.adding(wait)
    }

    /// How many attempts may begin per second. `nil` if nothing bounds them.
    func perSecond(at now: Int64) -> Double? {
        [set?.terms.perSecond, known(at: now)?.perSecond(at: now)].compactMap { $0 }.min()
    }

    /// Records that an attempt begins. Has no effect without a rate.
    mutating func take(at now: Int64) {
        set?.spend(1, at: now)
        guard var known = known(at: now) else { return }
        known.bucket.change(to: .rate(known.perSecond(at: now)), at: now)
        known.bucket.spend(1, at: now)
        if case .refused(let time, let sent) = known.phase { known.phase = .refused(at: time, sent: sent + 1) }
        learned = known
    }

    /// Records that an attempt that had begun was not sent.
    mutating func release(at now: Int64) {
        set?.add(1, at: now)
        guard var known = known(at: now) else { return }
        if case .refused(let time, let sent) = known.phase {
            // An attempt that began before the 429 is not part of the wait after it.
            guard sent > 0 else { return }
            known.phase = .refused(at: time, sent: sent - 1)
        }
        known.bucket.add(1, at: now)
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
            let empty = TokenBucket(.rate(taken), holding: 0, at: now)
            if empty.wait(for: 1, at: now) < known.bucket.wait(for: 1, at: now) { known.bucket = empty }
        }
        learned = known
    }

    private mutating func wasRefused(at now: Int64) {
        let known = known(at: now)
        if var series = known, series.isOfSeries(at: now) {
            series.phase = .refused(at: now, sent: 0)
            series.bucket = TokenBucket(.rate(series.perSecond), holding: 0, at: now)
            learned = series
        } else {
            let taken = Double(accepted.count(at: now))
            let perSecond = known?.perSecond(after: taken, at: now) ?? (taken > 0 ? taken : Self.first)
            let growth = taken > 0 ? Self.growth : known?.growth ?? Self.firstGrowth
            learned = Learned(perSecond: max(perSecond, Self.lowest), growth: growth, at: now)
        }
    }

    /// Whether it holds no more information than a new pace.
    func isIdle(at now: Int64) -> Bool {
        (set?.isAsNew(at: now) ?? true) && known(at: now) == nil && accepted.count(at: now) == 0
    }

    /// What the host has shown, unless that is forgotten.
    private func known(at now: Int64) -> Learned? {
        learned.flatMap { $0.isOver(at: now) ? nil : $0 }
    }
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
