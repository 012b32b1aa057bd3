/// Reports the events of one request to its listeners. They come in order and one at a time, whatever threads they are sent
/// from. None comes after the end.
final class RequestEventLine: Sendable {
    typealias Listener = @Sendable (RequestEvent) -> Void

    private struct State {
        var listeners: [(number: Int, listener: Listener)] = []
        var lastListener = 0
        /// The end, once the listeners have been told of it.
        var toldEnd: RequestEvent?
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

        /// The next event and its listeners. If there is none, returns `nil` and records that no thread is reporting any
        /// more.
        mutating func next() -> (event: RequestEvent, listeners: [(number: Int, listener: Listener)])? {
            isTelling = !untold.isEmpty
            guard isTelling else { return nil }
            let event = untold.removeFirst()
            guard case .ended = event.step else { return (event, listeners) }
            toldEnd = event
            defer { listeners = [] }
            return (event, listeners)
        }

        /// Adds a listener. If the end was told, returns it instead.
        mutating func add(_ listener: @escaping Listener) -> (number: Int, end: RequestEvent?) {
            lastListener += 1
            if toldEnd == nil { listeners.append((lastListener, listener)) }
            return (lastListener, toldEnd)
        }
    }

    private let state = Locked(State())
    /// The listener of the configuration. It comes before all others.
    private let listener: Listener?

    init(_ listener: Listener? = nil) {
        self.listener = listener
    }

    /// Adds a listener for the events from now on. One that comes after the end is told of the end at once.
    ///
    /// - Returns: The number by which ``remove(_:)`` knows it.
    func listen(_ listener: @escaping Listener) -> Int {
        let (number, end) = state.withLock { $0.add(listener) }
        if let end { listener(end) }
        return number
    }

    func remove(_ number: Int) {
        // The listener leaves the lock before it is freed, because its end may run the user's code.
        let removed = state.withLock { state in
            state.listeners.firstIndex { $0.number == number }.map { state.listeners.remove(at: $0) }
        }
        withExtendedLifetime(removed) {}
    }

    func tell(_ event: RequestEvent) {
        if state.withLock({ $0.add(event) }) { tellAll() }
    }

    /// Reports that the last stage of a request was left behind, unless that was reported before.
    func tellLastStage(_ event: RequestEvent) {
        if state.withLock({ $0.addLastStage(event) }) { tellAll() }
    }

    private func tellAll() {
        while let next = state.withLock({ $0.next() }) {
            listener?(next.event)
            for (_, listener) in next.listeners { listener(next.event) }
        }
    }
}
