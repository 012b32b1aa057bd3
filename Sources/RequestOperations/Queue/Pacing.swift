/// The paces of all hosts of one limiter. A pure value. Times are nanoseconds on one clock.
///
/// Idle paces are dropped as in an ``OriginTable``: when another one needs their room, and once an hour.
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
