/// Who holds the slots of a limiter and who waits for one: a pure value. Whoever holds it resumes the returned answers after
/// the lock is released.
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
    let maximumWaiting: Int
    private(set) var inFlight = 0
    private(set) var waiters: [Place: Waiter] = [:]
    private var hosts: [Origin: Host] = [:]
    /// The first waiter of each host that has a free place, and some that are so no longer: each is checked when it comes
    /// up.
    private var candidates = Heap<Candidate>()
    private var lastNumber: UInt64 = 0

    init(total: Int, perHost: Int, maximumWaiting: Int) {
        self.total = total
        self.perHost = perHost
        self.maximumWaiting = maximumWaiting
    }

    struct Waiter {
        let origin: Origin
        let answer: Answer<Void>
    }

    private struct Host {
        var inFlight = 0
        var waiting = 0
        /// The waiters' places; those that left stay until they come up or are the most.
        var line = Heap<Place>()
        /// The place of this host that is among the candidates.
        var candidate: Place?
    }

    private struct Candidate: Comparable {
        let place: Place
        let origin: Origin

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

    /// Whoever finds a free place may take it: nobody who could use it waits, since every change admits all who can run.
    mutating func enter(
        _ origin: Origin, at place: Place, _ answer: Answer<Void>, mayBeRejected: Bool
    ) -> Entry {
        let isFree = inFlight < total && hosts[origin]?.inFlight ?? 0 < perHost
        guard isFree || !mayBeRejected || waiters.count < maximumWaiting else { return .rejected }
        if isFree {
            inFlight += 1
            hosts[origin, default: Host()].inFlight += 1
            return .admitted
        }
        waiters[place] = Waiter(origin: origin, answer: answer)
        hosts[origin, default: Host()].line.push(place)
        hosts[origin]?.waiting += 1
        nominate(origin)
        return .waits
    }

    mutating func leave(_ place: Place) -> Bool {
        guard let waiter = waiters.removeValue(forKey: place) else { return false }
        hosts[waiter.origin]?.waiting -= 1
        nominate(waiter.origin)
        return true
    }

    mutating func release(_ origin: Origin) {
        inFlight -= 1
        hosts[origin]?.inFlight -= 1
        nominate(origin)
    }

    /// Admits all who can run, in the order of their places.
    mutating func admit() -> [Answer<Void>] {
        var admitted: [Answer<Void>] = []
        while inFlight < total, let candidate = candidates.popFirst() {
            guard hosts[candidate.origin]?.candidate == candidate.place else { continue }
            hosts[candidate.origin]?.candidate = nil
            guard hosts[candidate.origin]?.inFlight ?? 0 < perHost,
                let waiter = waiters.removeValue(forKey: candidate.place)
            else { continue }
            inFlight += 1
            hosts[candidate.origin]?.inFlight += 1
            hosts[candidate.origin]?.waiting -= 1
            admitted.append(waiter.answer)
            nominate(candidate.origin)
        }
        return admitted
    }

    /// Makes the first waiter of a host its candidate, if the host has a free place; forgets a host without anybody.
    private mutating func nominate(_ origin: Origin) {
        // Taken out, so that its line is not copied.
        guard var host = hosts.removeValue(forKey: origin), host.inFlight > 0 || host.waiting > 0 else { return }
        while let first = host.line.first, waiters[first] == nil { _ = host.line.popFirst() }
        if host.line.count > 2 * host.waiting + 16 { host.line.removeAll { waiters[$0] == nil } }
        if let first = host.line.first, host.inFlight < perHost, host.candidate != first {
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
}
