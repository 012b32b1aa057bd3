/// The holders of a limiter's slots, and its waiters. A pure value. Its owner notifies the returned waiters after it
/// has released the lock.
///
/// The highest priority comes first, and among equals the earliest, as in Foundation's queues. A host that is full, or
/// whose time by the pace has not come, is passed over. Only the total bounds waiters without an origin.
///
/// An attempt that a response redirects to another host keeps its slot, which counts for its first host. So it does not
/// wait, and may exceed the bound of the other host.
struct SlotTable {
    /// A position among the waiters. It says who comes first.
    struct Place: Comparable, Hashable, Sendable {
        fileprivate let priority: Int8
        fileprivate let number: UInt64

        static func < (first: Place, second: Place) -> Bool {
            (second.priority, first.number) < (first.priority, second.number)
        }

        /// The same position, with a priority.
        func with(_ priority: Operation.QueuePriority) -> Place {
            // Priorities are −8, −4, 0, 4 and 8. Foundation maps other values to the nearest of these.
            Place(priority: Int8(clamping: priority.rawValue), number: number)
        }
    }

    /// What a waiter waits for.
    enum Standing: Sendable, CaseIterable {
        /// To begin. Nothing begins while the table is suspended.
        case first
        /// To go on: a further attempt of a request that has been sent.
        case later
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
    /// The first waiters of each host with a free place. Some entries are stale, so each is checked when its turn
    /// comes.
    private var candidates = ByStanding(Heap<Candidate>())
    /// Whether nothing may begin.
    var isSuspended = false
    private var lastNumber: UInt64 = 0
    /// How fast attempts may follow each other. `nil` means no bound.
    var pacing: Pacing?
    /// The hosts whose first waiter may go at a later time. Some entries are stale.
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

    /// An alarm that the caller must set. There is at most one, so it replaces the former one.
    struct NextAlarm {
        let number: UInt64
        let time: Int64
        let replaced: Alarm?
    }

    /// The alarm after which ``admit(now:)`` must be called.
    private enum AlarmState {
        case none
        /// A caller is about to set it.
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

        init(_ value: Value) {
            (first, later) = (value, value)
        }

        subscript(standing: Standing) -> Value {
            get { standing == .first ? first : later }
            _modify { if standing == .first { yield &first } else { yield &later } }
        }
    }

    private struct Host {
        var inFlight = 0
        var queues = ByStanding(WaitingPlaces())
        /// The entry of a host that waits for its time. Such a host has no candidate.
        var paced: PacedHost?

        var waiting: Int { queues.first.waiting + queues.later.waiting }
    }

    private struct WaitingPlaces {
        var waiting = 0
        /// The positions of the waiters. Those of waiters that left stay until their turn, or until they are the
        /// majority.
        var places = Heap<Place>()
        /// The position of these that is among the candidates.
        var candidate: Place?

        /// Forgets waiters that left.
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
            hosts.values.reduce(count + candidates[standing].count) { $0 + $1.queues[standing].places.count }
        }
    }

    mutating func newPlace() -> Place {
        lastNumber += 1
        return Place(priority: 0, number: lastNumber)
    }

    /// The number of slots for an origin.
    private func bound(for origin: Origin?) -> Int {
        origin == nil ? .max : perHost
    }

    /// An attempt that finds a free place may take it. No waiter could use it, because each change admits all that can
    /// run.
    mutating func enter(
        _ origin: Origin?, at place: Place, _ waiter: any SlotWaiter, as standing: Standing = .later,
        mayBeRejected: Bool, now: Int64 = 0
    ) -> Entry {
        if take(origin, as: standing, now: now) { return .admitted }
        guard !mayBeRejected || waiters.count < maximumWaiting else { return .rejected }
        waiters[place] = Waiter(origin: origin, waiter: waiter, standing: standing)
        hosts[origin, default: Host()].queues[standing].places.push(place)
        hosts[origin]?.queues[standing].waiting += 1
        nominate(origin)
        return .waits
    }

    /// Takes a free slot for an attempt that would not wait. It overtakes no waiter, as in
    /// ``enter(_:at:_:as:mayBeRejected:now:)``.
    mutating func take(_ origin: Origin?, as standing: Standing = .later, now: Int64 = 0) -> Bool {
        guard hasPlace(for: standing), hosts[origin]?.inFlight ?? 0 < bound(for: origin), isOnTime(origin, now)
        else { return false }
        pacing?.take(origin, at: now)
        inFlight += 1
        hosts[origin, default: Host()].inFlight += 1
        return true
    }

    /// Whether the total admits an attempt.
    private func hasPlace(for standing: Standing) -> Bool {
        inFlight < total && !(isSuspended && standing == .first)
    }

    /// Whether the pace lets an attempt begin now. Waiters of the same pace come first.
    private func isOnTime(_ origin: Origin?, _ now: Int64) -> Bool {
        guard let pacing else { return true }
        let isFirst = pacing.scope == .all ? waiters.isEmpty : hosts[origin]?.waiting ?? 0 == 0
        return isFirst && pacing.nextTime(for: origin, at: now) <= now
    }

    mutating func leave(_ place: Place, if isLeaving: (any SlotWaiter) -> Bool = { _ in true }) -> Bool {
        guard let waiter = waiters[place], isLeaving(waiter.waiter) else { return false }
        waiters[place] = nil
        hosts[waiter.origin]?.queues[waiter.standing].waiting -= 1
        nominate(waiter.origin)
        return true
    }

    /// - Parameter isUnused: Whether nothing was sent, so that the pace does not count it.
    mutating func release(_ origin: Origin?, isUnused: Bool = false, now: Int64 = 0) {
        inFlight -= 1
        if isUnused {
            pacing?.release(origin, at: now)
            timeChanged(for: origin, now: now)
        }
        hosts[origin]?.inFlight -= 1
        nominate(origin)
    }

    /// Admits all waiters that can run, in order.
    mutating func admit(now: Int64 = 0) -> [any SlotWaiter] {
        var admitted: [any SlotWaiter] = []
        while let next = paced.first, next.time <= now || !isPaced(next) {
            _ = paced.popFirst()
            if isPaced(next) { endPace(of: next.origin) }
        }
        while let candidate = popCandidate(now: now) {
            let (origin, standing) = (candidate.origin, candidate.standing)
            guard hosts[origin]?.queues[standing].candidate == candidate.place else { continue }
            hosts[origin]?.queues[standing].candidate = nil
            guard hosts[origin]?.inFlight ?? 0 < bound(for: origin), let waiter = waiters[candidate.place] else {
                continue
            }
            if let time = pacing?.nextTime(for: origin, at: now), time > now {
                setPace(of: origin, until: time)
                continue
            }
            pacing?.take(origin, at: now)
            waiters[candidate.place] = nil
            inFlight += 1
            hosts[origin]?.inFlight += 1
            hosts[origin]?.queues[standing].waiting -= 1
            admitted.append(waiter.waiter)
            nominate(origin)
        }
        return admitted
    }

    /// The first candidate that the total and the common pace admit.
    private mutating func popCandidate(now: Int64) -> Candidate? {
        if let pacing, pacing.nextTime(at: now) > now { return nil }
        var first: Candidate?
        for standing in Standing.allCases where hasPlace(for: standing) {
            guard let next = candidates[standing].first else { continue }
            if first.map({ next < $0 }) ?? true { first = next }
        }
        return first.flatMap { candidates[$0.standing].popFirst() }
    }

    /// Makes the first waiters of a host its candidates, if the host has a free place. Forgets an unused host.
    private mutating func nominate(_ origin: Origin?) {
        // The host is taken out, so that its queues are not copied.
        guard var host = hosts.removeValue(forKey: origin), host.inFlight > 0 || host.waiting > 0 else { return }
        let isFree = host.paced == nil && host.inFlight < bound(for: origin)
        for standing in Standing.allCases {
            host.queues[standing].clear { waiters[$0] != nil }
            guard isFree, let first = host.queues[standing].places.first, host.queues[standing].candidate != first
            else {
                continue
            }
            host.queues[standing].candidate = first
            candidates[standing].push(Candidate(place: first, origin: origin, standing: standing))
        }
        hosts[origin] = host
        for standing in Standing.allCases where candidates[standing].count > 2 * hosts.count + 16 {
            candidates[standing].removeAll { hosts[$0.origin]?.queues[standing].candidate != $0.place }
        }
    }

    /// Called after the bound for each host changed. Every host may now have a free place.
    mutating func nominateAll() {
        for origin in Array(hosts.keys) { nominate(origin) }
    }

    // MARK: Pace

    /// The alarm for the next call of ``admit(now:)`` by time, if it is earlier than the former one. Then call
    /// ``keep(_:as:)``.
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

    /// Stores an alarm that was set. Returns whether it is still of use.
    mutating func keep(_ new: Alarm, as next: NextAlarm) -> Bool {
        guard case .due(next.number, let time) = alarm else { return false }
        alarm = .set(new, number: next.number, time: time)
        return true
    }

    mutating func alarmRang(_ number: UInt64) {
        if alarm.number == number { alarm = .none }
    }

    /// Changes the pace. Every host may then have another time.
    mutating func setPacing(_ next: Pacing?) {
        pacing = next
        while let host = paced.popFirst() {
            if isPaced(host) { endPace(of: host.origin) }
        }
    }

    /// Records the status of a host's response.
    mutating func heard(_ status: Int, from origin: Origin, now: Int64) {
        pacing?.heard(status, from: origin, at: now)
        timeChanged(for: origin, now: now)
    }

    /// The first waiter of a host may now go earlier. A waiter that must go later finds that out when its turn comes.
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
        // The other queue of the host had its turn at the same time.
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
