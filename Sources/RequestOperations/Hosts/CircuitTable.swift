/// The circuits of all hosts: one for each host and each ``CircuitBreaker``.
final class CircuitTable: Sendable {
    /// A host, and the setting of its circuit.
    struct Key: Hashable {
        let origin: Origin
        let terms: CircuitState.Terms
    }

    /// A circuit that has at least one stream of its states.
    private struct Watched {
        let broadcast: Broadcast<CircuitBreaker.State>
        /// The state that was last reported to the streams.
        var told: CircuitBreaker.State
        /// How many streams exist or are about to exist.
        var streams = 0
    }

    private struct Circuits {
        var tables: [CircuitState.Terms: OriginTable<CircuitState>] = [:]
        var watched: [Key: Watched] = [:]
        /// The number of the last change over all circuits. It does not belong to a single circuit, because an idle
        /// circuit is dropped together with its eras.
        var lastNews = 0

        func state(of key: Key, at now: Int64) -> CircuitBreaker.State {
            tables[key.terms]?[key.origin]?.state(at: now) ?? .closed
        }
    }

    private let clock: RequestClock
    private let circuits = Locked(Circuits())

    init(_ clock: RequestClock) {
        self.clock = clock
    }

    private var now: Int64 { clock.now.nanoseconds }

    /// How many circuits are kept.
    var count: Int { circuits.withLock { $0.tables.values.reduce(0) { $0 + $1.count } } }

    /// How many circuits are watched.
    var watchedCount: Int { circuits.withLock { $0.watched.count } }

    func state(of key: Key) -> CircuitBreaker.State {
        let now = now
        return circuits.withLock { $0.state(of: key, at: now) }
    }

    /// A stream of the states of a circuit: the present one and each change.
    func states(of key: Key) -> AsyncStream<CircuitBreaker.State> {
        let now = now
        let broadcast = circuits.withLock { circuits in
            let present = circuits.state(of: key, at: now)
            var watched =
                circuits.watched[key]
                ?? Watched(broadcast: Broadcast(present, number: circuits.lastNews), told: present)
            watched.streams += 1
            circuits.watched[key] = watched
            return watched.broadcast
        }
        return broadcast.stream { [weak self] in self?.streamEnded(of: key) }
    }

    private func streamEnded(of key: Key) {
        // We free its contents outside of the lock.
        let unused: Watched? = circuits.withLock { circuits in
            circuits.watched[key]?.streams -= 1
            return circuits.watched[key]?.streams == 0 ? circuits.watched.removeValue(forKey: key) : nil
        }
        withExtendedLifetime(unused) {}
    }

    /// How long attempts to a host are certainly refused.
    func timeLeft(for key: Key) -> Duration {
        let now = now
        return .nanoseconds(circuits.withLock { $0.tables[key.terms]?[key.origin]?.timeLeft(at: now) } ?? 0)
    }

    /// Lets an attempt pass.
    ///
    /// - Throws: ``RequestError/Code/circuitOpen``.
    func admit(_ key: Key) throws(RequestError) -> CircuitPermit {
        switch change(key, { ($0.admit(at: $1), isProbe: $0.state == .halfOpen) }) {
        case (.admitted(let era), let isProbe):
            return CircuitPermit(table: self, key: key, era: era, isProbe: isProbe)
        case (.refused(let time), _):
            let reason = time > 0 ? "for another \(Duration.nanoseconds(time))" : "but for the probes under way"
            throw RequestError(.circuitOpen, stage: .slot, reason: "the host is left alone, \(reason)")
        }
    }

    /// Settles the outcome of an attempt of an era. Returns the era after it. For an outcome of a past era, that is the
    /// same era.
    @discardableResult
    func settle(_ outcome: CircuitState.Outcome, of key: Key, era: Int) -> Int {
        change(key) { circuit, now in
            let isPresent = circuit.era == era
            circuit.settle(outcome, of: era, at: now)
            return isPresent ? circuit.era : era
        }
    }

    /// Changes a circuit and informs its streams.
    private func change<Result>(_ key: Key, _ change: (inout CircuitState, Int64) -> Result) -> Result {
        let now = now
        let (result, news) = circuits.withLock { circuits in
            var isNews = false
            let (result, state) = circuits.tables[key.terms, default: OriginTable()].change(
                key.origin, at: now,
                initially: {
                    // A circuit that was open may have been forgotten, so a new one counts as a change.
                    isNews = true
                    return CircuitState(key.terms)
                }(), isIdle: { $0.isIdle(at: now) },
                by: { circuit in
                    let era = circuit.era
                    let result = change(&circuit, now)
                    if circuit.era != era { isNews = true }
                    return (result, circuit.state)
                })
            guard isNews else { return (result, nil as (() -> Void)?) }
            circuits.lastNews += 1
            guard let watched = circuits.watched[key], watched.told != state else { return (result, nil) }
            circuits.watched[key]?.told = state
            return (result, { [number = circuits.lastNews] in watched.broadcast.send(state, number: number) })
        }
        news?()
        return result
    }
}

/// The right to make one attempt to a host with a ``CircuitBreaker``. It reports the outcome once.
final class CircuitPermit: Sendable {
    private enum State {
        /// Nothing has been reported.
        case open
        /// The success of a probe is being reported. The value is the outcome of the rest of the response, if that is
        /// known meanwhile.
        case answering(CircuitState.Outcome?)
        /// The success of a probe was reported when its host answered. A failure of the rest counts in the era after
        /// it.
        case answered(next: Int)
        case settled
    }

    private let table: CircuitTable
    private let key: CircuitTable.Key
    private let era: Int
    private let isProbe: Bool
    private let state = Locked(State.open)

    init(table: CircuitTable, key: CircuitTable.Key, era: Int, isProbe: Bool) {
        self.table = table
        self.key = key
        self.era = era
        self.isProbe = isProbe
    }

    deinit { settle(.cancelled) }

    var origin: Origin { key.origin }

    /// Records that the host answered as it should. For a probe that is enough, so that a long body does not keep
    /// others away from the host.
    func answered() {
        guard isProbe else { return }
        let isFirst = state.withLock { state in
            guard case .open = state else { return false }
            state = .answering(nil)
            return true
        }
        guard isFirst else { return }
        let next = table.settle(.succeeded, of: key, era: era)
        let meanwhile = state.withLock { state -> CircuitState.Outcome? in
            defer { state = .answered(next: next) }
            return if case .answering(let outcome) = state { outcome } else { nil }
        }
        if let meanwhile { settle(meanwhile) }
    }

    /// Reports the outcome, unless one has been reported.
    func settle(_ outcome: CircuitState.Outcome) {
        let former = state.withLock { state in
            defer {
                state = if case .answering(let earlier) = state { .answering(earlier ?? outcome) } else { .settled }
            }
            return state
        }
        switch former {
        case .open: table.settle(outcome, of: key, era: era)
        case .answered(let next) where outcome == .failed: table.settle(outcome, of: key, era: next)
        case .answering, .answered, .settled: break
        }
    }
}

/// The circuit breaker of one origin. A pure value. Times are in nanoseconds since a fixed start.
struct CircuitState: Sendable {
    struct Terms: Sendable, Hashable {
        let failureRatio: Double
        let minimumThroughput: Int
        /// The length of a tenth of the sampling window.
        let slice: Int64
        let openTime: Int64
        let probes: Int
    }

    enum Admission: Equatable {
        /// The attempt may be made. The era is the number of the state that it belongs to.
        case admitted(era: Int)
        /// The attempt may not be made. It can be tried again after this time, in nanoseconds.
        case refused(for: Int64)
    }

    enum Outcome {
        case succeeded
        case failed
        /// The attempt was cancelled, so nothing is known about the host.
        case cancelled
    }

    private enum Phase {
        case closed(Samples)
        case open(until: Int64)
        /// `latest` is the time at which the last probe was admitted.
        case halfOpen(underWay: Int, succeeded: Int, latest: Int64)
    }

    /// The outcomes of the sampling window, in slices.
    private struct Samples {
        static let sliceCount = 10
        var current: Int64 = 0
        var successes = [Int](repeating: 0, count: sliceCount)
        var failures = [Int](repeating: 0, count: sliceCount)

        mutating func count(_ hasFailed: Bool, in slice: Int64) {
            let steps = slice - current
            if steps > 0 {
                for step in 1...min(steps, Int64(Self.sliceCount)) {
                    let index = Int((current + step) % Int64(Self.sliceCount))
                    successes[index] = 0
                    failures[index] = 0
                }
                current = slice
            }
            let index = Int(current % Int64(Self.sliceCount))
            if hasFailed { failures[index] += 1 } else { successes[index] += 1 }
        }

        func trips(_ terms: Terms) -> Bool {
            let failed = failures.reduce(0, +)
            let all = failed + successes.reduce(0, +)
            return all >= terms.minimumThroughput && Double(failed) >= terms.failureRatio * Double(all)
        }

        func isOver(at slice: Int64) -> Bool { slice >= current + Int64(Self.sliceCount) }
    }

    private let terms: Terms
    private var phase = Phase.closed(Samples())
    /// The number of this state. Outcomes of attempts that were admitted in an earlier state say nothing about this
    /// one.
    private(set) var era = 0

    init(_ terms: Terms) {
        self.terms = terms
    }

    /// The state at a time. A forgotten circuit counts as closed.
    func state(at now: Int64) -> CircuitBreaker.State { isForgotten(at: now) ? .closed : state }

    var state: CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// Whether this circuit is equivalent to a new one.
    func isIdle(at now: Int64) -> Bool {
        if case .closed(let samples) = phase { samples.isOver(at: now / terms.slice) } else { isForgotten(at: now) }
    }

    /// Whether no attempt has asked for ``HostMemory/longestRest``. The time counts from the end of the open time, or
    /// from the last probe. A forgotten circuit counts as closed.
    private func isForgotten(at now: Int64) -> Bool {
        switch phase {
        case .closed: false
        // The first attempt after this time makes the circuit half open.
        case .open(let end): now - HostMemory.longestRest >= end
        case .halfOpen(_, _, let latest): now - HostMemory.longestRest >= latest
        }
    }

    /// How long an attempt would be refused. Zero if it would pass, or if the time is not known.
    func timeLeft(at now: Int64) -> Int64 {
        if case .open(let end) = phase { max(end - now, 0) } else { 0 }
    }

    mutating func admit(at now: Int64) -> Admission {
        if isForgotten(at: now) { enter(.closed(Samples())) }
        switch phase {
        case .closed:
            return .admitted(era: era)
        case .open(let end) where now < end:
            return .refused(for: end - now)
        case .open:
            enter(.halfOpen(underWay: 1, succeeded: 0, latest: now))
            return .admitted(era: era)
        case .halfOpen(let underWay, let succeeded, _):
            guard underWay + succeeded < terms.probes else { return .refused(for: 0) }
            phase = .halfOpen(underWay: underWay + 1, succeeded: succeeded, latest: now)
            return .admitted(era: era)
        }
    }

    mutating func settle(_ outcome: Outcome, of era: Int, at now: Int64) {
        guard era == self.era else { return }
        switch (phase, outcome) {
        case (.closed, .cancelled), (.open, _):
            // No attempt is admitted while the circuit is open.
            break
        case (.closed(var samples), _):
            samples.count(outcome == .failed, in: now / terms.slice)
            phase = .closed(samples)
            if samples.trips(terms) { open(at: now) }
        case (.halfOpen, .failed):
            open(at: now)
        case (.halfOpen(let underWay, let succeeded, let latest), .cancelled):
            phase = .halfOpen(underWay: underWay - 1, succeeded: succeeded, latest: latest)
        case (.halfOpen(let underWay, let succeeded, let latest), .succeeded):
            phase = .halfOpen(underWay: underWay - 1, succeeded: succeeded + 1, latest: latest)
            if succeeded + 1 >= terms.probes { enter(.closed(Samples())) }
        }
    }

    private mutating func open(at now: Int64) {
        enter(.open(until: now.adding(terms.openTime)))
    }

    private mutating func enter(_ next: Phase) {
        phase = next
        era += 1
    }
}
