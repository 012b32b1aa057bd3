/// Tells the events of one request to who listens: in their order and one at a time, whichever threads they come from, and
/// none after the end.
final class RequestEventLine: Sendable {
    private struct State {
        var untold: [RequestEvent] = []
        var isTelling = false
        var hasEnded = false
        var hasToldLastStage = false

        /// Takes an event in; whether the caller is to tell it.
        mutating func add(_ event: RequestEvent) -> Bool {
            guard !hasEnded else { return false }
            if case .ended = event.step { hasEnded = true }
            return put(event)
        }

        /// Takes in that the last stage was left behind, unless that is known.
        mutating func addLastStage(_ event: RequestEvent) -> Bool {
            guard !hasEnded, !hasToldLastStage else { return false }
            hasToldLastStage = true
            return put(event)
        }

        private mutating func put(_ event: RequestEvent) -> Bool {
            untold.append(event)
            defer { isTelling = true }
            return !isTelling
        }

        /// The next event; `nil`, and nobody is telling any more, if there is none.
        mutating func next() -> RequestEvent? {
            isTelling = !untold.isEmpty
            return untold.isEmpty ? nil : untold.removeFirst()
        }
    }

    private let state = Locked(State())
    private let listener: @Sendable (RequestEvent) -> Void

    init(_ listener: @escaping @Sendable (RequestEvent) -> Void) {
        self.listener = listener
    }

    func tell(_ event: RequestEvent) {
        if state.withLock({ $0.add(event) }) { tellAll() }
    }

    /// Tells that the last stage of a request was left behind, unless somebody else has said so before.
    func tellLastStage(_ event: RequestEvent) {
        if state.withLock({ $0.addLastStage(event) }) { tellAll() }
    }

    private func tellAll() {
        while let next = state.withLock({ $0.next() }) { listener(next) }
    }
}
