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
