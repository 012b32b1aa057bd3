/// An entry in a table that is made later, and that may have to be removed before it is made.
final class LaterEntry: Sendable {
    private enum State {
        case awaited
        case made(remove: @Sendable () -> Void)
        case ended

        var isEnded: Bool { if case .ended = self { true } else { false } }
    }

    private let state = Locked(State.awaited)

    /// Makes the entry, unless `end()` came first. It is called once.
    ///
    /// - Parameter make: Makes the entry and returns the closure that removes it.
    func begin(_ make: () -> @Sendable () -> Void) {
        guard !state.withLock({ $0.isEnded }) else { return }
        let remove = make()
        let isEnded = state.withLock { state in
            if state.isEnded { return true }
            state = .made(remove: remove)
            return false
        }
        if isEnded { remove() }
    }

    /// Removes the entry, or prevents it from being made. It is called once.
    func end() {
        let former = state.withLock { state in
            defer { state = .ended }
            return state
        }
        if case .made(let remove) = former { remove() }
    }
}
