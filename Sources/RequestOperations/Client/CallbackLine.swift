/// Calls back for one request: one call at a time, in order, and the completions last. The queue may be concurrent.
final class CallbackLine: Sendable {
    typealias Call = @Sendable () -> Void

    private struct State {
        var line = TellingLine<Call>()
        /// The completions. `nil` once the end has come.
        var completions: [Call]? = []
    }

    private let state = Locked(State())
    private let queue: DispatchQueue

    init(on queue: DispatchQueue) {
        self.queue = queue
    }

    /// Adds the call for a step.
    func add(_ call: @escaping Call) {
        if state.withLock({ $0.line.add(call) }) { begin() }
    }

    /// Adds a completion. It is called after the end.
    func addCompletion(_ call: @escaping Call) {
        let begins = state.withLock { state in
            guard state.completions != nil else { return state.line.add(call) }
            state.completions?.append(call)
            return false
        }
        if begins { begin() }
    }

    /// Adds the call for the last step, and lets the completions follow.
    func end(_ call: @escaping Call) {
        let begins = state.withLock { state in
            let begins = state.line.add(call)
            for completion in state.completions.take() ?? [] { _ = state.line.add(completion) }
            return begins
        }
        if begins { begin() }
    }

    private func begin() {
        queue.async { [self] in
            while let call = state.withLock({ $0.line.next() }) { call() }
        }
    }
}
