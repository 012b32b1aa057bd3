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
    /// up.
    private var candidates = Heap<Candidate>()
    private var lastNumber: UInt64 = 0
    /// How fast attempts may follow each other; `nil` is no bound.
    var pacing: Pacing?
    /// The hosts whose first waiter may go at a time to come.
    private var paced = Heap<PacedHost>()
    /// The time for which an alarm is set.
    private var alarm = Int64.max

    init(total: Int, perHost: Int, maximumWaiting: Int, pacing: Pacing? = nil) {
        self.pacing = pacing
        self.total = total
        self.perHost = perHost
        self.maximumWaiting = maximumWaiting
    }

    struct Waiter {
        let origin: Origin?
        let waiter: any SlotWaiter
    }

    private struct Host {
        var inFlight = 0
        var waiting = 0
        /// The waiters' places; those that left stay until they come up or are the most.
        var line = Heap<Place>()
        /// The place of this host that is among the candidates.
        var candidate: Place?
        /// Whether it stands among the hosts whose time is to come, and has no candidate therefore.
        var isPaced = false
    }

    private struct PacedHost: Comparable {
        let time: Int64
        let origin: Origin?

        static func < (first: PacedHost, second: PacedHost) -> Bool { first.time < second.time }
    }

    private struct Candidate: Comparable {
        let place: Place
        let origin: Origin?

        static func < (first: Candidate, second: Candidate) -> Bool { first.place < second.place }
    }

    var hostCount: Int { hosts.count }

    var entryCount: Int { hosts.values.reduce(candidates.count) { $0 + $1.line.count } }

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
    mutating func enter(
        _ origin: Origin?, at place: Place, _ waiter: any SlotWaiter, mayBeRejected: Bool, now: Int64 = 0
    ) -> Entry {
        if take(origin, now: now) { return .admitted }
        guard !mayBeRejected || waiters.count < maximumWaiting else { return .rejected }
        waiters[place] = Waiter(origin: origin, waiter: waiter)
        hosts[origin, default: Host()].line.push(place)
        hosts[origin]?.waiting += 1
        nominate(origin)
        return .waits
    }

    /// Takes a slot if there is one; for whoever would not wait. Nobody is overtaken: see ``enter(_:at:_:mayBeRejected:)``.
    mutating func take(_ origin: Origin?, now: Int64 = 0) -> Bool {
        guard inFlight < total, hosts[origin]?.inFlight ?? 0 < bound(for: origin), isOnTime(origin, now) else {
            return false
        }
        pacing?.take(origin, at: now)
        inFlight += 1
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
        hosts[waiter.origin]?.waiting -= 1
        nominate(waiter.origin)
        return true
    }

    /// - Parameter isUnused: Whether nothing was sent, so that the pace is as it was.
    mutating func release(_ origin: Origin?, isUnused: Bool = false, now: Int64 = 0) {
        if isUnused { pacing?.giveBack(origin, at: now) }
        inFlight -= 1
        hosts[origin]?.inFlight -= 1
        nominate(origin)
    }

    /// Admits all who can run, in the order of their places.
    mutating func admit(now: Int64 = 0) -> [any SlotWaiter] {
        var admitted: [any SlotWaiter] = []
        while let next = paced.first, next.time <= now {
            _ = paced.popFirst()
            hosts[next.origin]?.isPaced = false
            nominate(next.origin)
        }
        while inFlight < total, pacing.map({ $0.nextTime(at: now) <= now }) ?? true,
            let candidate = candidates.popFirst()
        {
            guard hosts[candidate.origin]?.candidate == candidate.place else { continue }
            hosts[candidate.origin]?.candidate = nil
            guard hosts[candidate.origin]?.inFlight ?? 0 < bound(for: candidate.origin),
                let waiter = waiters[candidate.place]
            else { continue }
            if let time = pacing?.nextTime(for: candidate.origin, at: now), time > now {
                hosts[candidate.origin]?.isPaced = true
                paced.push(PacedHost(time: time, origin: candidate.origin))
                continue
            }
            pacing?.take(candidate.origin, at: now)
            waiters[candidate.place] = nil
            inFlight += 1
            hosts[candidate.origin]?.inFlight += 1
            hosts[candidate.origin]?.waiting -= 1
            admitted.append(waiter.waiter)
            nominate(candidate.origin)
        }
        return admitted
    }

    /// Makes the first waiter of a host its candidate, if the host has a free place; forgets a host without anybody.
    private mutating func nominate(_ origin: Origin?) {
        // Taken out, so that its line is not copied.
        guard var host = hosts.removeValue(forKey: origin), host.inFlight > 0 || host.waiting > 0 else { return }
        while let first = host.line.first, waiters[first] == nil { _ = host.line.popFirst() }
        if host.line.count > 2 * host.waiting + 16 { host.line.removeAll { waiters[$0] == nil } }
        if let first = host.line.first, !host.isPaced, host.inFlight < bound(for: origin), host.candidate != first {
            host.candidate = first
            candidates.push(Candidate(place: first, origin: origin))
        }
        hosts[origin] = host
        if candidates.count > 2 * hosts.count + 16 {
            candidates.removeAll { hosts[$0.origin]?.candidate != $0.place }
        }
    }

    /// After a change of the bound for each host, every one may have a free place.
    mutating func nominateAll() {
        for origin in Array(hosts.keys) { nominate(origin) }
    }

    // MARK: Pace

    /// When ``admit(now:)`` is to be called because of nothing but time, if that is earlier than was told before.
    mutating func alarmToSet(now: Int64) -> Int64? {
        guard let pacing else { return nil }
        var next = paced.first?.time ?? .max
        if inFlight < total, candidates.first != nil { next = min(next, pacing.nextTime(at: now)) }
        guard next < alarm else { return nil }
        alarm = next
        return next
    }

    /// The alarm for a time rang.
    mutating func alarmRang(for time: Int64) {
        if alarm == time { alarm = .max }
    }

    /// After a change of the pace, every host may have another time.
    mutating func setPacing(_ next: Pacing?) {
        pacing = next
        while let host = paced.popFirst() {
            hosts[host.origin]?.isPaced = false
            nominate(host.origin)
        }
    }

    /// A host answered with a status.
    mutating func heard(_ status: Int, from origin: Origin, now: Int64) {
        pacing?.heard(status, from: origin, at: now)
    }
}
