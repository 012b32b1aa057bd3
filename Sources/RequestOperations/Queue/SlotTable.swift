/// Who holds the slots of a limiter and who waits for one. A pure value. Its owner tells the returned waiters after it has
/// released the lock.
///
/// What has no origin goes to no host, and is bounded by the total only.
///
/// The highest priority comes first, and among equals who came first, as in Foundation's queues. A host that is full, or whose
/// time by the pace has not come, is passed over.
///
/// An attempt that is redirected to another host keeps its place of the total. It gives back the place of its host, and
/// then waits for one of the other host. Two attempts that are redirected to each other's hosts cannot block each other: an
/// attempt that waits here holds no place of a host. Nor can all places of the total be held by attempts that wait behind
/// others which need one. While the total is full, only redirected attempts are admitted.
struct SlotTable {
    /// A place in the line: who comes first.
    struct Place: Comparable, Hashable, Sendable {
        fileprivate let priority: Int8
        fileprivate let number: UInt64

        static func < (first: Place, second: Place) -> Bool {
            (second.priority, first.number) < (first.priority, second.number)
        }

        /// The same place in the line of a priority.
        func with(_ priority: Operation.QueuePriority) -> Place {
            // Priorities are −8, −4, 0, 4 and 8; Foundation takes others for the nearest of these.
            Place(priority: Int8(clamping: priority.rawValue), number: number)
        }
    }

    /// What somebody waits for.
    enum Standing: Sendable {
        static let allCases = [first, later, redirected]

        /// To begin. Nothing begins while the table is suspended.
        case first
        /// To go on: another attempt of a request that has been sent.
        case later
        /// To follow a redirect. It holds a place of the total, and needs one of its host only.
        case redirected
    }

    enum Entry {
        case admitted
        case waits
        case rejected
    }

    var total: Int
    var perHost: Int
    var maximumWaiting: Int
    private(set) var inFlight = 0
    private(set) var waiters: [Place: Waiter] = [:]
    private var hosts: [Origin?: Host] = [:]
    /// The first waiters of each host that has a free place, and some that are so no longer: each is checked when it comes up.
    private var candidates = ByStanding(Heap<Candidate>())
    /// Whether nobody may begin.
    var isSuspended = false
    private var lastNumber: UInt64 = 0
    /// How fast attempts may follow each other; `nil` is no bound.
    var pacing: Pacing?
    /// The hosts whose first waiter may go at a time to come, and some that are so no longer.
    private var paced = Heap<PacedHost>()
    private var lastPaced: UInt64 = 0
    private var alarm = AlarmState.none
    private var lastAlarm: UInt64 = 0

    init(total: Int, perHost: Int, maximumWaiting: Int, pacing: Pacing? = nil) {
        self.pacing = pacing
        self.total = total
        self.perHost = perHost
        self.maximumWaiting = maximumWaiting
    }

    /// An alarm that is to be set. There is one at most, so it takes the place of another.
    struct NextAlarm {
        let number: UInt64
        let time: Int64
        let replaced: Alarm?
    }

    /// The alarm after which ``admit(now:)`` is to be called.
    private enum AlarmState {
        case none
        /// Somebody is about to set it.
        case due(number: UInt64, time: Int64)
        case set(Alarm, number: UInt64, time: Int64)

        var number: UInt64? {
            switch self {
            case .none: nil
            case .due(let number, _), .set(_, let number, _): number
            }
        }

        var time: Int64? {
            switch self {
            case .none: nil
            case .due(_, let time), .set(_, _, let time): time
            }
        }
    }

    struct Waiter {
        let origin: Origin?
        let waiter: any SlotWaiter
        let standing: Standing
    }

    /// One value for each standing.
    private struct ByStanding<Value> {
        var first: Value
        var later: Value
        var redirected: Value

        init(_ value: Value) {
            (first, later, redirected) = (value, value, value)
        }

        subscript(standing: Standing) -> Value {
            get {
                switch standing {
                case .first: first
                case .later: later
                case .redirected: redirected
                }
            }
            _modify {
                switch standing {
                case .first: yield &first
                case .later: yield &later
                case .redirected: yield &redirected
                }
            }
        }
    }

    private struct Host {
        var inFlight = 0
        var lines = ByStanding(Line())
        /// How it stands among the hosts whose time is to come. It has no candidate therefore.
        var paced: PacedHost?

        var waiting: Int { lines.first.waiting + lines.later.waiting + lines.redirected.waiting }
    }

    private struct Line {
        var waiting = 0
        /// The waiters' places; those that left stay until they come up or are the most.
        var places = Heap<Place>()
        /// The place of this line that is among the candidates.
        var candidate: Place?

        /// Forgets who left.
        mutating func clear(_ isWaiting: (Place) -> Bool) {
            while let first = places.first, !isWaiting(first) { _ = places.popFirst() }
            if places.count > 2 * waiting + 16 { places.removeAll { !isWaiting($0) } }
        }
    }

    private struct PacedHost: Comparable {
        let time: Int64
        let origin: Origin?
        let number: UInt64

        static func < (first: PacedHost, second: PacedHost) -> Bool { first.time < second.time }
    }

    private struct Candidate: Comparable {
        let place: Place
        let origin: Origin?
        let standing: Standing

        static func < (first: Candidate, second: Candidate) -> Bool { first.place < second.place }
    }

    var hostCount: Int { hosts.count }

    var entryCount: Int {
        Standing.allCases.reduce(paced.count) { count, standing in
            hosts.values.reduce(count + candidates[standing].count) { $0 + $1.lines[standing].places.count }
        }
    }

    mutating func newPlace(_ priority: Operation.QueuePriority) -> Place {
        lastNumber += 1
        return Place(priority: 0, number: lastNumber).with(priority)
    }

    /// How many slots there are for an origin.
    private func bound(for origin: Origin?) -> Int {
        origin == nil ? .max : perHost
    }

    /// Whoever finds a free place may take it: nobody who could use it waits, since every change admits all who can run.
    mutating func enter(
        _ origin: Origin?, at place: Place, _ waiter: any SlotWaiter, as standing: Standing = .later,
        mayBeRejected: Bool, now: Int64 = 0
    ) -> Entry {
        if take(origin, as: standing, now: now) { return .admitted }
        guard !mayBeRejected || waiters.count < maximumWaiting else { return .rejected }
        waiters[place] = Waiter(origin: origin, waiter: waiter, standing: standing)
        hosts[origin, default: Host()].lines[standing].places.push(place)
        hosts[origin]?.lines[standing].waiting += 1
        nominate(origin)
        return .waits
    }

    /// Takes a slot if there is one, for an attempt that would not wait. Nobody is overtaken: see
    /// ``enter(_:at:_:as:mayBeRejected:now:)``.
    mutating func take(_ origin: Origin?, as standing: Standing = .later, now: Int64 = 0) -> Bool {
        guard hasPlace(for: standing), hosts[origin]?.inFlight ?? 0 < bound(for: origin), isOnTime(origin, now)
        else { return false }
        pacing?.take(origin, at: now)
        if standing != .redirected { inFlight += 1 }
        hosts[origin, default: Host()].inFlight += 1
        return true
    }

    /// Whether somebody may go as far as the total is concerned.
    private func hasPlace(for standing: Standing) -> Bool {
        switch standing {
        case .first: inFlight < total && !isSuspended
        case .later: inFlight < total
        case .redirected: true
        }
    }

    /// Whether the pace lets an attempt begin now. Those who wait for their time come first.
    private func isOnTime(_ origin: Origin?, _ now: Int64) -> Bool {
        guard let pacing else { return true }
        let isFirst = pacing.scope == .all ? waiters.isEmpty : hosts[origin]?.waiting ?? 0 == 0
        return isFirst && pacing.nextTime(for: origin, at: now) <= now
    }

    mutating func leave(_ place: Place) -> Bool {
        guard let waiter = waiters.removeValue(forKey: place) else { return false }
        hosts[waiter.origin]?.lines[waiter.standing].waiting -= 1
        nominate(waiter.origin)
        return true
    }

    /// - Parameter isUnused: Whether nothing was sent, so that the pace is as it was.
    mutating func release(_ origin: Origin?, isUnused: Bool = false, now: Int64 = 0) {
        releaseTotal()
        releaseHost(origin, isUnused: isUnused, now: now)
    }

    /// Gives back a place of the total; that of the host was given back before.
    mutating func releaseTotal() {
        inFlight -= 1
    }

    /// Gives back a place of a host, and keeps that of the total.
    ///
    /// - Parameter isUnused: Whether nothing was sent there, so that the pace is as it was.
    mutating func releaseHost(_ origin: Origin?, isUnused: Bool = false, now: Int64 = 0) {
        if isUnused {
            pacing?.giveBack(origin, at: now)
            timeChanged(for: origin, now: now)
        }
        hosts[origin]?.inFlight -= 1
        nominate(origin)
    }

    /// Admits all who can run, in the order of their places.
    mutating func admit(now: Int64 = 0) -> [any SlotWaiter] {
        var admitted: [any SlotWaiter] = []
        while let next = paced.first, next.time <= now || !isPaced(next) {
            _ = paced.popFirst()
            if isPaced(next) { endPace(of: next.origin) }
        }
        while let candidate = popCandidate(now: now) {
            let (origin, standing) = (candidate.origin, candidate.standing)
            guard hosts[origin]?.lines[standing].candidate == candidate.place else { continue }
            hosts[origin]?.lines[standing].candidate = nil
            guard hosts[origin]?.inFlight ?? 0 < bound(for: origin), let waiter = waiters[candidate.place] else {
                continue
            }
            if let time = pacing?.nextTime(for: origin, at: now), time > now {
                setPace(of: origin, until: time)
                continue
            }
            pacing?.take(origin, at: now)
            waiters[candidate.place] = nil
            if standing != .redirected { inFlight += 1 }
            hosts[origin]?.inFlight += 1
            hosts[origin]?.lines[standing].waiting -= 1
            admitted.append(waiter.waiter)
            nominate(origin)
        }
        return admitted
    }

    /// The first who may run as far as the total and the pace of all are concerned.
    private mutating func popCandidate(now: Int64) -> Candidate? {
        if let pacing, pacing.nextTime(at: now) > now { return nil }
        var first: Candidate?
        for standing in Standing.allCases where hasPlace(for: standing) {
            guard let next = candidates[standing].first else { continue }
            if first.map({ next < $0 }) ?? true { first = next }
        }
        return first.flatMap { candidates[$0.standing].popFirst() }
    }

    /// Makes the first waiters of a host its candidates, if the host has a free place; forgets a host without anybody.
    private mutating func nominate(_ origin: Origin?) {
        // Taken out, so that its lines are not copied.
        guard var host = hosts.removeValue(forKey: origin), host.inFlight > 0 || host.waiting > 0 else { return }
        let isFree = host.paced == nil && host.inFlight < bound(for: origin)
        for standing in Standing.allCases {
            host.lines[standing].clear { waiters[$0] != nil }
            guard isFree, let first = host.lines[standing].places.first, host.lines[standing].candidate != first else {
                continue
            }
            host.lines[standing].candidate = first
            candidates[standing].push(Candidate(place: first, origin: origin, standing: standing))
        }
        hosts[origin] = host
        for standing in Standing.allCases where candidates[standing].count > 2 * hosts.count + 16 {
            candidates[standing].removeAll { hosts[$0.origin]?.lines[standing].candidate != $0.place }
        }
    }

    /// After a change of the bound for each host, every one may have a free place.
    mutating func nominateAll() {
        for origin in Array(hosts.keys) { nominate(origin) }
    }

    // MARK: Pace

    /// The alarm for when ``admit(now:)`` is to be called because of nothing but time, if that is earlier than was told before.
    /// Who sets it hands it over to ``keep(_:as:)``.
    mutating func alarmToSet(now: Int64) -> NextAlarm? {
        guard let pacing else { return nil }
        var next = paced.first?.time ?? .max
        let mayGo = Standing.allCases.contains { hasPlace(for: $0) && candidates[$0].first != nil }
        if mayGo { next = min(next, pacing.nextTime(at: now)) }
        guard next < alarm.time ?? .max else { return nil }
        let replaced: Alarm? = if case .set(let alarm, _, _) = alarm { alarm } else { nil }
        lastAlarm += 1
        alarm = .due(number: lastAlarm, time: next)
        return NextAlarm(number: lastAlarm, time: next, replaced: replaced)
    }

    /// An alarm was set; whether it is still of use.
    mutating func keep(_ new: Alarm, as next: NextAlarm) -> Bool {
        guard case .due(next.number, let time) = alarm else { return false }
        alarm = .set(new, number: next.number, time: time)
        return true
    }

    mutating func alarmRang(_ number: UInt64) {
        if alarm.number == number { alarm = .none }
    }

    /// After a change of the pace, every host may have another time.
    mutating func setPacing(_ next: Pacing?) {
        pacing = next
        while let host = paced.popFirst() {
            if isPaced(host) { endPace(of: host.origin) }
        }
    }

    /// A host answered with a status.
    mutating func heard(_ status: Int, from origin: Origin, now: Int64) {
        pacing?.heard(status, from: origin, at: now)
        timeChanged(for: origin, now: now)
    }

    /// The first waiter of a host may go earlier than was known. One that may go only later finds that out when it comes up.
    private mutating func timeChanged(for origin: Origin?, now: Int64) {
        guard let pacing, let time = hosts[origin]?.paced?.time, pacing.nextTime(for: origin, at: now) < time else {
            return
        }
        endPace(of: origin)
    }

    private func isPaced(_ host: PacedHost) -> Bool {
        hosts[host.origin]?.paced?.number == host.number
    }

    private mutating func setPace(of origin: Origin?, until time: Int64) {
        // Its other line has come up at the same time.
        guard hosts[origin]?.paced == nil else { return }
        lastPaced += 1
        let host = PacedHost(time: time, origin: origin, number: lastPaced)
        hosts[origin]?.paced = host
        paced.push(host)
        if paced.count > 2 * hosts.count + 16 {
            paced.removeAll { hosts[$0.origin]?.paced?.number != $0.number }
        }
    }

    private mutating func endPace(of origin: Origin?) {
        hosts[origin]?.paced = nil
        nominate(origin)
    }
}
