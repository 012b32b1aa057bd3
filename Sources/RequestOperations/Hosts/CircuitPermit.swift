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
