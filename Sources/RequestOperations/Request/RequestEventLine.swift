/// Reports the events of one request to the listener. They come in order and one at a time, whatever threads they are sent
/// from. None comes after the end.
final class RequestEventLine: Sendable {
    private struct State {
        var untold: [RequestEvent] = []
        var isTelling = false
        var hasEnded = false
        var hasToldLastStage = false

        /// Adds an event. Returns whether the caller must report it.
        mutating func add(_ event: RequestEvent) -> Bool {
            guard !hasEnded else { return false }
            if case .ended = event.step { hasEnded = true }
            return put(event)
        }

        /// Adds the event that the last stage was left behind, unless it was added before.
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

        /// The next event. If there is none, returns `nil` and records that no thread is reporting any more.
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

    /// Reports that the last stage of a request was left behind, unless that was reported before.
    func tellLastStage(_ event: RequestEvent) {
        if state.withLock({ $0.addLastStage(event) }) { tellAll() }
    }

    private func tellAll() {
        while let next = state.withLock({ $0.next() }) { listener(next) }
    }
}
