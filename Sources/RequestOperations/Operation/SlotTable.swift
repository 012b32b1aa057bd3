/// Who waits for a slot, and hears that it was given one: on whatever thread gave it, under no lock.
protocol SlotWaiter: AnyObject, Sendable {
    func wasAdmitted()

    /// Whether ``wasAdmitted()`` reaches code of the user's, who may take long.
    var reachesUserCode: Bool { get }
}

extension SlotWaiter {
    var reachesUserCode: Bool { false }
}

extension Answer: SlotWaiter where Value == Void {
    func wasAdmitted() {
        resume(with: .success(()))
    }
}

/// Who holds the slots of a limiter and who waits for one: a pure value. Whoever holds it tells the returned waiters after
/// the lock is released.
///
/// What has no origin goes to no host, and is bounded by the total only.
///
/// An attempt that is redirected to another host keeps its place of the total. It gives back the place of its host, and
/// then waits for one of the other host. Two attempts that are redirected to each other's hosts cannot block each other: an
/// attempt that waits here holds no place of a host. Nor can all places of the total be held by attempts that wait behind
/// others which need one. While the total is full, only attempts that hold a place of it are admitted. Otherwise their
/// places in the line decide. An attempt whose time by the pace has not come is passed over.
struct SlotTable {
    /// A place in the line: who comes first.
    struct Place: Comparable, Hashable, Sendable {
        /// When it was taken, in nanoseconds, less the head start of its priority.
        fileprivate let rank: Int64
        fileprivate let number: UInt64

        static func < (first: Place, second: Place) -> Bool {
            (first.rank, first.number) < (second.rank, second.number)
        }
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
    /// The first waiter of each host that has a free place, and some that are so no longer: each is checked when it comes
    /// up. Those who hold a place of the total are apart.
    private var candidates = Heap<Candidate>()
    private var holders = Heap<Candidate>()
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
        /// Whether it holds a place of the total, and waits for one of its host only.
        let holdsTotal: Bool
    }

    private struct Host {
        var inFlight = 0
        var line = Line()
        /// That of those who hold a place of the total.
        var lineOfHolders = Line()
        /// How it stands among the hosts whose time is to come. It has no candidate therefore.
        var paced: PacedHost?

        var waiting: Int { line.waiting + lineOfHolders.waiting }

        subscript(holdsTotal: Bool) -> Line {
            get { holdsTotal ? lineOfHolders : line }
            _modify { if holdsTotal { yield &lineOfHolders } else { yield &line } }
        }
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
        let holdsTotal: Bool

        static func < (first: Candidate, second: Candidate) -> Bool { first.place < second.place }
    }

    var hostCount: Int { hosts.count }

    var entryCount: Int {
        hosts.values.reduce(candidates.count + holders.count + paced.count) {
            $0 + $1.line.places.count + $1.lineOfHolders.places.count
        }
    }

    mutating func newPlace(_ priority: Operation.QueuePriority, now: Int64) -> Place {
        lastNumber += 1
        // Priorities are −8, −4, 0, 4 and 8.
        let headStart = Int64(priority.rawValue / 4) * 10_000_000_000
        return Place(rank: now - headStart, number: lastNumber)
    }

    /// How many slots there are for an origin.
    private func bound(for origin: Origin?) -> Int {
        origin == nil ? .max : perHost
    }

    /// Whoever finds a free place may take it: nobody who could use it waits, since every change admits all who can run.
    ///
    /// - Parameter holdsTotal: Whether the waiter holds a place of the total already, and needs one of the host only.
    mutating func enter(
        _ origin: Origin?, at place: Place, _ waiter: any SlotWaiter, mayBeRejected: Bool, holdsTotal: Bool = false,
        now: Int64 = 0
    ) -> Entry {
        if take(origin, holdsTotal: holdsTotal, now: now) { return .admitted }
        guard !mayBeRejected || waiters.count < maximumWaiting else { return .rejected }
        waiters[place] = Waiter(origin: origin, waiter: waiter, holdsTotal: holdsTotal)
        hosts[origin, default: Host()][holdsTotal].places.push(place)
        hosts[origin]?[holdsTotal].waiting += 1
        nominate(origin)
        return .waits
    }

    /// Takes a slot if there is one, for an attempt that would not wait. Nobody is overtaken: see
    /// ``enter(_:at:_:mayBeRejected:holdsTotal:now:)``.
    mutating func take(_ origin: Origin?, holdsTotal: Bool = false, now: Int64 = 0) -> Bool {
        guard holdsTotal || inFlight < total, hosts[origin]?.inFlight ?? 0 < bound(for: origin), isOnTime(origin, now)
        else { return false }
        pacing?.take(origin, at: now)
        if !holdsTotal { inFlight += 1 }
        hosts[origin, default: Host()].inFlight += 1
        return true
    }

    /// Whether the pace lets an attempt begin now. Those who wait for their time come first.
    private func isOnTime(_ origin: Origin?, _ now: Int64) -> Bool {
        guard let pacing else { return true }
        let isFirst = pacing.scope == .all ? waiters.isEmpty : hosts[origin]?.waiting ?? 0 == 0
        return isFirst && pacing.nextTime(for: origin, at: now) <= now
    }

    mutating func leave(_ place: Place) -> Bool {
        guard let waiter = waiters.removeValue(forKey: place) else { return false }
        hosts[waiter.origin]?[waiter.holdsTotal].waiting -= 1
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
            let (origin, holdsTotal) = (candidate.origin, candidate.holdsTotal)
            guard hosts[origin]?[holdsTotal].candidate == candidate.place else { continue }
            hosts[origin]?[holdsTotal].candidate = nil
            guard hosts[origin]?.inFlight ?? 0 < bound(for: origin), let waiter = waiters[candidate.place] else {
                continue
            }
            if let time = pacing?.nextTime(for: origin, at: now), time > now {
                setPace(of: origin, until: time)
                continue
            }
            pacing?.take(origin, at: now)
            waiters[candidate.place] = nil
            if !holdsTotal { inFlight += 1 }
            hosts[origin]?.inFlight += 1
            hosts[origin]?[holdsTotal].waiting -= 1
            admitted.append(waiter.waiter)
            nominate(origin)
        }
        return admitted
    }

    /// The first who may run as far as the total and the pace of all are concerned.
    private mutating func popCandidate(now: Int64) -> Candidate? {
        if let pacing, pacing.nextTime(at: now) > now { return nil }
        guard inFlight < total, let first = candidates.first else { return holders.popFirst() }
        if let holder = holders.first, holder < first { return holders.popFirst() }
        return candidates.popFirst()
    }

    /// Makes the first waiters of a host its candidates, if the host has a free place; forgets a host without anybody.
    private mutating func nominate(_ origin: Origin?) {
        // Taken out, so that its lines are not copied.
        guard var host = hosts.removeValue(forKey: origin), host.inFlight > 0 || host.waiting > 0 else { return }
        let isFree = host.paced == nil && host.inFlight < bound(for: origin)
        for holdsTotal in [false, true] {
            host[holdsTotal].clear { waiters[$0] != nil }
            guard isFree, let first = host[holdsTotal].places.first, host[holdsTotal].candidate != first else {
                continue
            }
            host[holdsTotal].candidate = first
            let candidate = Candidate(place: first, origin: origin, holdsTotal: holdsTotal)
            if holdsTotal { holders.push(candidate) } else { candidates.push(candidate) }
        }
        hosts[origin] = host
        if candidates.count > 2 * hosts.count + 16 {
            candidates.removeAll { hosts[$0.origin]?.line.candidate != $0.place }
        }
        if holders.count > 2 * hosts.count + 16 {
            holders.removeAll { hosts[$0.origin]?.lineOfHolders.candidate != $0.place }
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
        let mayGo = inFlight < total && candidates.first != nil || holders.first != nil
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
