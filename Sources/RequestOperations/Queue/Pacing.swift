/// The paces of all hosts behind one limiter. A pure value; times are nanoseconds on one clock.
///
/// Idle ones go away as those of an ``OriginTable`` do: where another one needs their room, and when an hour has passed.
struct Pacing {
    let rate: RequestLimiter.Rate?
    let scope: RequestLimiter.RateScope
    let adapts: Bool
    /// The pace of all attempts together.
    private var all: Pace
    private var hosts: [Origin: Pace] = [:]
    /// With so many hosts the idle ones are dropped before another one is added.
    private var roomFor = 64
    /// When the idle ones were looked for last.
    private var lastSweep = Int64.min

    /// Makes them; `nil` if nothing is to be bounded.
    init?(rate: RequestLimiter.Rate?, scope: RequestLimiter.RateScope, adapts: Bool) {
        guard rate != nil || adapts else { return nil }
        self.rate = rate
        self.scope = scope
        self.adapts = adapts
        all = Pace(rate: scope == .all ? rate : nil, adapts: false)
    }

    var hostCount: Int { hosts.count }

    /// When the next attempt may begin, wherever it goes.
    func nextTime(at now: Int64) -> Int64 {
        all.nextTime(at: now)
    }

    /// When the next attempt to a host may begin.
    func nextTime(for origin: Origin?, at now: Int64) -> Int64 {
        max(all.nextTime(at: now), origin.flatMap { hosts[$0] }?.nextTime(at: now) ?? now)
    }

    /// An attempt to a host begins.
    mutating func take(_ origin: Origin?, at now: Int64) {
        all.take(at: now)
        change(origin, at: now) { $0.take(at: now) }
    }

    /// An attempt that had begun was not sent after all.
    mutating func giveBack(_ origin: Origin?, at now: Int64) {
        all.giveBack(at: now)
        change(origin, at: now) { $0.giveBack(at: now) }
    }

    /// A host answered with a status.
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
