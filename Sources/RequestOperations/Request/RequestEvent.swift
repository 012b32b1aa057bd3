/// One step of a request, as ``RequestConfiguration/onEvent`` gets it.
///
/// The steps of one request come in this order. Steps in braces repeat for each attempt, and steps that do not happen
/// are left out.
///
/// `began` { `attemptBegan`, (`waitsForConnectivity`, `woke`)…, (`waits`, `woke`)…, (`waitsForSlot`, `gotSlot`)…,
/// `redirected`…, `head`, `attemptFailed`, `decided`, (`waits`, `woke`)… } `ended`
///
/// - The first attempt waits for a network if the configuration says so.
/// - An attempt waits if its host has asked another request to wait, unless the decision already included that wait
///   (``HostRegistry``).
/// - With a limiter, an attempt waits for its slot once. It waits again if the first wait exceeded
///   ``RequestConfiguration/freshness``.
/// - A retry waits a second time if its ``RetryBudget`` has no room when its wait is over.
/// - With ``RequestConfiguration/hedging`` an attempt may have `hedgeBegan` or `notHedged` before its `head`. After
///   `hedgeBegan`, the steps of both attempts come as they happen (`redirected`, `head`). `attemptFailed` comes for
///   each attempt that fails while the other may still answer, and for one that decides the outcome. `hedgeDecided`
///   says which attempt the request goes on with.
/// - `abandoned` comes once for each stage that is left behind.
/// - Nothing comes after `ended`, which may be reported a moment after the result is there.
public struct RequestEvent: Sendable {
    /// The request.
    public let id: RequestID
    /// The step.
    public let step: Step
    /// Why the operation waits. `nil` for all steps except `waits`.
    public internal(set) var waitReason: WaitReason?

    /// The steps of a request.
    public enum Step: Sendable {
        /// The operation was started.
        case began
        /// An attempt began. The value is its number.
        case attemptBegan(Int)
        /// A hedge with this number was sent beside the running attempt. It has no `attemptBegan`.
        case hedgeBegan(Int)
        /// It is time for a hedge, but the running attempt gets none, for the reason that the text says.
        case notHedged(String)
        /// The attempt with this number decides the outcome, even with a failure. The other parallel attempts are
        /// cancelled.
        case hedgeDecided(Int)
        /// The attempt waits for its slot.
        case waitsForSlot
        /// The attempt got its slot after this time.
        case gotSlot(waited: Duration)
        /// A redirect is followed.
        case redirected(from: URL, to: URL)
        /// The head of the last response arrived and is about to be judged.
        case head(ResponseHead)
        /// An attempt failed.
        case attemptFailed(AttemptFailure)
        /// There is a decision about what follows a failed attempt.
        case decided(RetryDecision)
        /// The first attempt waits until the machine is connected to a network
        /// (``RequestConfiguration/waitsForConnectivity``).
        case waitsForConnectivity
        /// The operation waits before its next attempt, for at most this time. ``RequestEvent/waitReason`` says why.
        case waits(Duration)
        /// The wait is over.
        case woke(WakeReason)
        /// The server has refused the tus upload of an earlier operation for good, with this status. The next attempt
        /// creates the upload again. Comes before `decided`.
        case uploadRefused(status: Int)
        /// User code that did not return in time was left behind. If it still returns, its result is dropped.
        case abandoned(RequestError.Stage)
        /// The operation ended. `nil` means success.
        case ended((any Error)?)
    }
}

extension RequestEvent: CustomStringConvertible, OpaqueReflectable {
    /// One line: the id of the request, the step, and for a wait the reason.
    public var description: String { "request \(id): \(step)" + (waitReason.map { " (\($0))" } ?? "") }
}

extension RequestEvent.Step: CustomStringConvertible, OpaqueReflectable {
    /// One line. It shows scheme, host, port and path of a URL, and the status of a head. For an error that is not of
    /// this package, it shows only the type.
    public var description: String {
        switch self {
        case .began: "began"
        case .attemptBegan(let attempt): "attempt \(attempt) began"
        case .hedgeBegan(let attempt): "attempt \(attempt) began as a hedge"
        case .notHedged(let refusal): "not hedged: \(refusal)"
        case .hedgeDecided(let attempt): "goes on with attempt \(attempt)"
        case .waitsForSlot: "waits for a slot"
        case .gotSlot(let waited): "got a slot after \(waited)"
        case .redirected(let source, let target):
            "redirected from \(Redaction.location(of: source)) to \(Redaction.location(of: target))"
        case .head(let head): "head: \(head)"
        case .attemptFailed(let failure): "failed: \(failure)"
        case .decided(let decision): "decided: \(decision)"
        case .waitsForConnectivity: "waits for a network"
        case .waits(let delay): "waits \(delay)"
        case .woke(let reason): "woke: \(reason)"
        case .uploadRefused(let status): "the stored upload was refused (status \(status)) and is created anew"
        case .abandoned(let stage): "left \(stage.rawValue) behind"
        case .ended(let error?): "ended: \(error.redacted)"
        case .ended(nil): "ended: success"
        }
    }
}

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
    private let listener: Listener?

    init(_ listener: Listener? = nil) {
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
            listener?(next.event)
            for (_, listener) in next.listeners { listener(next.event) }
        }
    }
}
