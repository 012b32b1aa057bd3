extension RetryingOperation {
    /// The steps of the operation from now on. The stream ends after ``RequestEvent/Step/ended(_:)``.
    ///
    /// ```swift
    /// for await event in operation.events { print(event) }
    /// ```
    ///
    /// Every call makes a stream of its own. A stream keeps the newest 256 steps that were not read yet, so a slow reader
    /// misses old steps but never the end. The stream of an operation that has ended delivers only the end. Dropping a
    /// stream does not cancel the operation.
    public final var events: AsyncStream<RequestEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RequestEvent.self, bufferingPolicy: .bufferingNewest(256))
        let remove = listen { event in
            continuation.yield(event)
            if case .ended = event.step { continuation.finish() }
        }
        continuation.onTermination = { _ in remove() }
        return stream
    }
}

/// An operation that reports its steps.
protocol EventSource {
    var id: RequestID { get }
    var runner: RequestRunner { get }
    var attempts: [Attempt] { get }
    var participant: (any RequestParticipant)? { get }

    /// Adds a listener for the steps from now on. A listener that is added after the end gets only the end. Returns a
    /// closure that removes the listener.
    @discardableResult
    func listen(_ listener: @escaping @Sendable (RequestEvent) -> Void) -> @Sendable () -> Void
}

extension RetryingOperation: EventSource {
    @discardableResult
    final func listen(_ listener: @escaping @Sendable (RequestEvent) -> Void) -> @Sendable () -> Void {
        let remove = runner.listen(listener)
        // An operation that ended without listeners has reported nothing.
        switch state.withLock({ $0.ending }) {
        case nil: break
        case .succeeded: runner.emit(.ended(nil))
        case .failed(let error): runner.emit(.ended(error))
        }
        return remove
    }

    /// Calls a closure each time that the operation begins to wait before its next attempt, or at once if it waits.
    final func listenToRetries(_ body: @escaping @Sendable () -> Void) {
        let waits = Locked(ReportedWaits())
        let report: @Sendable (Int?) -> Void = { attempt in
            // The wait may begin during the subscription. Then both report it, and the second report is dropped.
            if let attempt, waits.withLock({ $0.isNews(attempt) }) { body() }
        }
        listen { [weak runner] event in
            switch event.step {
            case .attemptFailed(let failure): waits.withLock { $0.failed = failure.attempt }
            case .attemptBegan: waits.withLock { $0.failed = nil }
            case .waits: report(waits.withLock { $0.failed } ?? runner?.attemptBeforeWait)
            default: break
            }
        }
        report(runner.attemptBeforeWait)
    }
}

/// Which waits a subscription has reported.
private struct ReportedWaits {
    /// The attempt that failed last, unless another one runs. The wait after it may be over when its event comes.
    var failed: Int?
    private var last = 0

    /// Notes a wait after an attempt. Returns whether it is reported for the first time.
    mutating func isNews(_ attempt: Int) -> Bool {
        defer { last = max(last, attempt) }
        return attempt > last
    }
}

extension RequestRunner {
    /// The number of the attempt that failed, while the request waits before its next attempt.
    fileprivate var attemptBeforeWait: Int? {
        if case .waiting(_, let failure) = requestState.withLock({ $0.phase }) { failure.attempt } else { nil }
    }
}

/// Reports the events of one request to its listeners. They come in order and one at a time, whatever threads they are sent
/// from. None comes after the end.
///
/// The listener of the configuration runs on its own queue. All others are of this package, and do not wait for anything.
final class EventDelivery: Sendable {
    typealias Listener = @Sendable (RequestEvent) -> Void

    private struct State {
        var listeners: [(number: Int, listener: Listener)] = []
        var lastListener = 0
        /// The end, once it has been delivered to the listeners.
        var deliveredEnd: RequestEvent?
        private var delivery = OrderedDelivery<RequestEvent>()
        var hasEnded = false
        var hasAddedLastStage = false

        /// Adds an event. Returns whether the caller must report it.
        mutating func add(_ event: RequestEvent) -> Bool {
            guard !hasEnded else { return false }
            if case .ended = event.step { hasEnded = true }
            return delivery.add(event)
        }

        /// Adds the event that the last stage was left behind, unless it was added before.
        mutating func addLastStage(_ event: RequestEvent) -> Bool {
            guard !hasEnded, !hasAddedLastStage else { return false }
            hasAddedLastStage = true
            return delivery.add(event)
        }

        /// The next event, and the listeners that get it.
        mutating func next() -> (event: RequestEvent, listeners: [(number: Int, listener: Listener)])? {
            guard let event = delivery.next() else { return nil }
            guard case .ended = event.step else { return (event, listeners) }
            deliveredEnd = event
            defer { listeners = [] }
            return (event, listeners)
        }

        /// Adds a listener. If the end was reported, returns the end instead.
        mutating func add(_ listener: @escaping Listener) -> (number: Int, end: RequestEvent?) {
            lastListener += 1
            if deliveredEnd == nil { listeners.append((lastListener, listener)) }
            return (lastListener, deliveredEnd)
        }
    }

    private let state = Locked(State())
    /// The listener of the configuration. It comes before all others.
    private let listener: EventListener?

    init(_ listener: EventListener? = nil) {
        self.listener = listener
    }

    /// Adds a listener for the events from now on. A listener that is added after the end gets the end at once.
    ///
    /// - Returns: The number that ``remove(_:)`` takes.
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

    func deliver(_ event: RequestEvent) {
        if state.withLock({ $0.add(event) }) { deliverAll() }
    }

    /// Reports that the last stage of a request was left behind, unless that was reported before.
    func deliverLastStage(_ event: RequestEvent) {
        if state.withLock({ $0.addLastStage(event) }) { deliverAll() }
    }

    private func deliverAll() {
        while let next = state.withLock({ $0.next() }) {
            listener?.receive(next.event)
            for (_, listener) in next.listeners { listener(next.event) }
        }
    }
}

/// The user's listener of a configuration, and of all copies of it. A listener that never returns costs the memory of one end
/// for each request, since no end is dropped.
final class EventListener: Sendable {
    let body: @Sendable (RequestEvent) -> Void
    private let delivery: SerialDelivery<RequestEvent>

    init(_ body: @escaping @Sendable (RequestEvent) -> Void) {
        self.body = body
        delivery = SerialDelivery { event, missed in
            var event = event
            event.missed = missed
            body(event)
        }
    }

    func receive(_ event: RequestEvent) {
        let isEnd = if case .ended = event.step { true } else { false }
        delivery.add(event, always: isEnd)
    }

    /// Returns when the listener has heard of all events so far.
    func delivered() async { await delivery.delivered() }
}

extension RequestConfiguration {
    /// Returns when ``onEvent`` has returned for all events that were reported so far. A program calls it before it exits. The end
    /// of a request is reported a moment after its value, and before a `finished()` of its queue returns.
    public func deliverEvents() async { await eventListener?.delivered() }
}
