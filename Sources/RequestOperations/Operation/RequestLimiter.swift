/// Bounds how many attempts are in flight, all together and for each host.
///
/// A limiter admits *attempts*, not operations: a request that waits for its next attempt holds no slot. Among equals the
/// line is first come, first served; a priority is worth a head start of ten seconds a step, so that nothing starves. A
/// host that is full never keeps a request to another one waiting.
public final class RequestLimiter: Sendable {
    private let state: Locked<State>

    /// Makes a limiter.
    ///
    /// - Parameters:
    ///   - total: How many attempts are in flight at most. `nil`, the default, is no bound.
    ///   - perHost: How many of them to one scheme, host and port. `nil`, the default, is no bound.
    ///   - maximumWaiting: How many attempts wait at most; one more fails as ``RequestError/Code/slotRejected``. `nil`, the
    ///     default, is no bound.
    public init(total: Int? = nil, perHost: Int? = nil, maximumWaiting: Int? = nil) {
        state = Locked(
            State(
                total: Self.bound(total), perHost: Self.bound(perHost),
                maximumWaiting: maximumWaiting.map { max($0, 0) } ?? .max))
    }

    /// How many attempts are in flight at most; `nil` is no bound. Raising it admits those who can run at once; lowering it
    /// interrupts none.
    public var total: Int? {
        get { state.withLock { $0.total == .max ? nil : $0.total } }
        set { change { $0.total = Self.bound(newValue) } }
    }

    /// How many attempts to one scheme, host and port are in flight at most; `nil` is no bound.
    public var perHost: Int? {
        get { state.withLock { $0.perHost == .max ? nil : $0.perHost } }
        set {
            change { state in
                state.perHost = Self.bound(newValue)
                state.nominateAll()
            }
        }
    }

    /// How many attempts hold a slot now.
    public var inFlightCount: Int { state.withLock { $0.inFlight } }

    /// How many attempts wait for a slot now.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    private static func bound(_ limit: Int?) -> Int {
        precondition(limit ?? 1 > 0, "A limiter that admits nothing would hold its requests for ever.")
        return limit ?? .max
    }

    private func change(_ edit: (inout State) -> Void) {
        let admitted = state.withLock { state in
            edit(&state)
            return state.admit()
        }
        for answer in admitted { answer.resume(with: .success(())) }
    }

    /// Waits for a slot.
    ///
    /// - Parameters:
    ///   - origin: Where the attempt goes.
    ///   - priority: The operation's priority.
    ///   - place: The place in the line to take: that of an earlier wait, or `nil` for the end of the line, and then set
    ///     to the place that was taken.
    /// - Throws: `CancellationError`, or ``RequestError/Code/slotRejected`` if the line is full.
    func slot(
        for origin: Origin, priority: Operation.QueuePriority, place: inout Place?
    ) async throws -> Slot {
        let answer = Answer<Void>()
        let taken = place
        let (mine, outcome) = state.withLock { state in
            let mine = taken ?? state.newPlace(priority)
            return (mine, state.enter(origin, at: mine, answer))
        }
        place = mine
        switch outcome {
        case .admitted:
            break
        case .rejected:
            throw RequestError(.slotRejected, stage: .slot, reason: "the limiter's line is full")
        case .waits:
            try await withTaskCancellationHandler {
                try await answer.value
            } onCancel: {
                if state.withLock({ $0.leave(mine) }) { answer.resume(with: .failure(CancellationError())) }
            }
        }
        return Slot(limiter: self, origin: origin)
    }

    fileprivate func release(_ origin: Origin) {
        change { $0.release(origin) }
    }

    /// A place in the line: who comes first.
    struct Place: Comparable, Hashable, Sendable {
        /// When it was taken, in nanoseconds, less the head start of its priority.
        fileprivate let rank: Int64
        fileprivate let number: UInt64

        static func < (first: Place, second: Place) -> Bool {
            (first.rank, first.number) < (second.rank, second.number)
        }
    }

    /// The right to be in flight, given back once.
    final class Slot: Sendable {
        private let limiter: RequestLimiter
        let origin: Origin
        private let isHeld = Locked(true)

        fileprivate init(limiter: RequestLimiter, origin: Origin) {
            self.limiter = limiter
            self.origin = origin
        }

        /// Gives the slot back; a second call does nothing.
        func release() {
            let wasHeld = isHeld.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
            if wasHeld { limiter.release(origin) }
        }
    }
}

extension RequestLimiter {
    fileprivate enum Entry {
        case admitted
        case waits
        case rejected
    }

    fileprivate struct State {
        var total: Int
        var perHost: Int
        let maximumWaiting: Int
        var inFlight = 0
        var waiters: [Place: Waiter] = [:]
        private var hosts: [Origin: Host] = [:]
        /// The first waiter of each host that has a free place, and some entries that are no longer true: each is checked
        /// when it comes up.
        private var candidates = Heap<Candidate>()
        private var lastNumber: UInt64 = 0
        private let origin = ContinuousClock.now

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
            /// The waiters' places; those that left stay until they come up.
            var line = Heap<Place>()
        }

        private struct Candidate: Comparable {
            let place: Place
            let origin: Origin

            static func < (first: Candidate, second: Candidate) -> Bool { first.place < second.place }
        }

        mutating func newPlace(_ priority: Operation.QueuePriority) -> Place {
            lastNumber += 1
            // Priorities are −8, −4, 0, 4 and 8.
            let headStart = Int64(priority.rawValue / 4) * 10_000_000_000
            return Place(rank: origin.duration(to: .now).nanoseconds - headStart, number: lastNumber)
        }

        /// Whoever finds a free place may take it: nobody who could use it waits, since every change admits all who can run.
        mutating func enter(_ origin: Origin, at place: Place, _ answer: Answer<Void>) -> Entry {
            var host = hosts[origin] ?? Host()
            defer { hosts[origin] = host }
            if inFlight < total, host.inFlight < perHost {
                inFlight += 1
                host.inFlight += 1
                return .admitted
            }
            guard waiters.count < maximumWaiting else { return .rejected }
            waiters[place] = Waiter(origin: origin, answer: answer)
            host.line.push(place)
            if host.inFlight < perHost { candidates.push(Candidate(place: place, origin: origin)) }
            return .waits
        }

        mutating func leave(_ place: Place) -> Bool {
            guard let waiter = waiters.removeValue(forKey: place) else { return false }
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
                guard let waiter = waiters[candidate.place], hosts[candidate.origin]?.inFlight ?? 0 < perHost else {
                    continue
                }
                waiters[candidate.place] = nil
                inFlight += 1
                hosts[candidate.origin]?.inFlight += 1
                admitted.append(waiter.answer)
                nominate(candidate.origin)
            }
            return admitted
        }

        /// Makes the first waiter of a host a candidate, if the host has a free place; forgets a host without anybody.
        private mutating func nominate(_ origin: Origin) {
            guard var host = hosts.removeValue(forKey: origin) else { return }
            while let first = host.line.first, waiters[first] == nil { _ = host.line.popFirst() }
            if let first = host.line.first, host.inFlight < perHost {
                candidates.push(Candidate(place: first, origin: origin))
            }
            if host.inFlight > 0 || host.line.count > 0 { hosts[origin] = host }
        }

        /// After a change of the bound for each host, every one may have a free place.
        mutating func nominateAll() {
            for origin in Array(hosts.keys) { nominate(origin) }
        }
    }
}
