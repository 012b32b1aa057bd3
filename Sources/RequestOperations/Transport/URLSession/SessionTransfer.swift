/// One transfer over one session task. It connects the delegate side, which must never wait, with the Task of
/// `perform`.
///
/// The delegate side is serial for each session. All that it calls returns at once, except for writing a piece to a
/// file. The Task side calls ``begin(_:)`` once, then ``respond()``, which reads to the end.
final class SessionTransfer: Sendable {
    let task: TransportTask
    let onHead: @Sendable (ResponseHead) throws -> Void
    let limits: TransferLimits
    let state: Locked<SessionTransferState>
    private let start: ContinuousClock.Instant

    /// How long we hold back a head to wait for the rest of a small body.
    private static let headPatience = Duration.milliseconds(10)

    /// Makes a transfer.
    ///
    /// - Parameters:
    ///   - bytesToSend: The length of the request's body; `nil` if it is unknown.
    ///   - start: When the task began. An earlier transfer of the same task may have come before this one.
    init(
        _ task: TransportTask, bytesToSend: Int64?, start: ContinuousClock.Instant,
        onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) {
        (self.task, self.start, self.onHead) = (task, start, onHead)
        limits = task.effectiveLimits
        state = Locked(SessionTransferState(task, limits: limits, bytesToSend: bytesToSend))
    }

    // MARK: The session task

    /// Makes, registers and resumes the session task, unless the transfer has already ended.
    func begin(_ make: @escaping @Sendable (SessionTransfer) -> URLSessionTask) {
        SessionTaskQueue.async { [self] in
            guard state.withLock({ $0.end == nil }) else { return }
            let task = make(self)
            state.withLock { state in
                state.wire = .running(task)
                state.lastActivity = .now
            }
            task.resume()
        }
    }

    /// Ends the transfer. Cancels the session task if it is not done.
    func close() {
        let (isDone, alarms) = state.withLock { state in
            let alarms = state.close()
            if case .done = state.wire { return (true, alarms) }
            return (false, alarms)
        }
        for alarm in alarms { DeadlineHeap.shared.cancel(alarm) }
        guard !isDone else { return }
        SessionTaskQueue.async { [self] in
            let running: (task: URLSessionTask, isCancelled: DispatchSemaphore)? = state.withLock { state in
                guard case .running(let task) = state.wire else { return nil }
                let isCancelled = DispatchSemaphore(value: 0)
                state.wire = .cancelling(isCancelled)
                return (task, isCancelled)
            }
            guard let running else { return }
            SessionTaskQueue.cancel(running.task)
            running.isCancelled.signal()
        }
    }

    // MARK: The delegate side

    func receive(_ response: URLResponse) {
        let head = ResponseHead(response)
        guard head.status == 0 || head.status >= 200 else { return state.withLock { $0.lastActivity = .now } }
        let length = head.declaredLength
        guard update({ $0.receive(head, length: length) }) else { return }
        schedule(after: Self.headPatience) { transfer in transfer.update { $0.makeHeadDue() } }
    }

    func receive(_ data: Data) {
        switch update({ $0.receive(data) }) {
        case .none:
            break
        case .write(let data, let sink):
            write(data, to: sink)
        case .spill(let data, let file):
            do {
                let file = try file ?? TemporaryFile()
                try file.append(data)
                if let sink = update({ $0.spilled(data.count, into: file) }) { write(data, to: sink) }
            } catch {
                let reason = "bytes that could not be delivered yet could not be kept in the temporary folder"
                finish(.failed(RequestError(.fileFailed, reason, underlying: error), phase: .body))
            }
        }
    }

    private func write(_ data: Data, to sink: FileSink) {
        do { try sink.file.append(data) } catch { finish(.failed(error, phase: .body)) }
    }

    func sent(_ total: Int64) {
        update { $0.sent(total) }
    }

    /// Handles the end of the session task. Nothing comes after this. An `error` of `nil` means success.
    func complete(_ error: (any Error)?, response: URLResponse?) {
        // For a redirect without a target, and after some errors, Foundation on Linux does not report the response but
        // keeps it.
        if let response, state.withLock({ $0.head == nil }) { receive(response) }
        let wire = update { state in
            if let error {
                let (failure, phase) = URLErrorClassification.failure(error, hasHead: state.head != nil)
                state.finish(.failed(failure, phase: phase))
            } else if state.head == nil {
                let missing = RequestError(.connectionLost, "no response came")
                state.finish(.failed(missing, phase: nil))
            } else {
                state.finish(.whole)
            }
            defer { state.wire = .done }
            return state.wire
        }
        // Foundation on Linux forgets the task when this returns. It traps if a `cancel()` is still under way at that
        // time. So we wait for the cancel. The limit is only a safeguard: the cancel waits for nothing that waits for
        // us.
        if case .cancelling(let isCancelled) = wire { _ = isCancelled.wait(timeout: .now() + 1) }
    }

    func finish(_ ending: SessionTransferState.Ending) {
        update { $0.finish(ending) }
    }

    /// Refuses a redirect, so that its response is delivered.
    ///
    /// It does nothing after a cancel: Foundation on Linux traps if a task that is being cancelled gets an answer. The
    /// closure only enqueues work, so we may call it under the lock.
    func refuseRedirect(_ answer: (URLRequest?) -> Void) {
        state.withLock { state in
            if case .running = state.wire { answer(nil) }
        }
    }

    // MARK: The Task

    func next() async -> SessionTransferState.Event {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state in
                let event = state.nextEvent()
                if event == nil { state.waiter = continuation }
                return event
            }
            if let event { continuation.resume(returning: event) }
        }
    }

    func cancel() {
        finish(.cancelled)
        close()
    }

    /// Drops the body, and reads on within the limits of a rejected body.
    func reject() {
        guard state.withLock({ $0.reject() }) else { return }
        schedule(after: limits.errorBodyTimeLimit) { $0.finish(.cut) }
    }

    /// The times and counts that can be measured outside of URLSession.
    var timings: TransferTimings {
        let (firstByte, progress) = state.withLock { ($0.firstByte, $0.progress) }
        var timings = TransferTimings()
        timings.firstByte = firstByte.map { start.duration(to: $0) }
        timings.total = start.duration(to: .now)
        timings.bytesSent = progress.bytesSent
        return timings
    }

    // MARK: Time

    /// Ends the transfer if no byte moves for the time of the limit.
    func watchIdleTime(_ limit: Duration, first delay: Duration? = nil) {
        schedule(after: delay ?? limit) { transfer in
            guard let rest = transfer.update({ $0.checkIdleTime(limit) }) else { return }
            transfer.watchIdleTime(limit, first: rest)
        }
    }

    private func schedule(after delay: Duration, _ action: @escaping @Sendable (SessionTransfer) -> Void) {
        let time = ContinuousClock.now + min(delay, .seconds(Int32.max))
        let alarm = DeadlineHeap.shared.schedule(at: time) { [weak self] in
            if let self { action(self) }
        }
        if !state.withLock({ $0.add(alarm) }) { DeadlineHeap.shared.cancel(alarm) }
    }

    /// Changes the state, and wakes the Task if there is a new event for it.
    @discardableResult
    private func update<Result>(_ change: (inout SessionTransferState) -> Result) -> Result {
        let (result, waiter, event) = state.withLock { state in
            let result = change(&state)
            let event = state.waiter == nil ? nil : state.nextEvent()
            defer { if event != nil { state.waiter = nil } }
            return (result, state.waiter, event)
        }
        if let event { waiter?.resume(returning: event) }
        return result
    }
}

/// The one serial queue on which session tasks are made, resumed and cancelled.
///
/// On Linux each of these calls blocks on the I/O queue that all sessions of the process share. So none of them may run
/// on the cooperative pool. A `cancel()` in a cancellation handler can also deadlock. On one queue the calls keep their
/// order: a task that is cancelled before it is made is never made.
enum SessionTaskQueue {
    private static let queue = DispatchQueue(label: "RequestOperations.URLSessionTransport", qos: .userInitiated)

    static func async(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Cancels a task and returns when the cancel has taken effect. Must be called on the queue.
    static func cancel(_ task: URLSessionTask) {
        task.cancel()
        #if canImport(FoundationNetworking)
            // `cancel()` only enqueues its work on the task's own queue. Reading the priority waits for that queue.
            _ = task.priority
        #endif
    }
}
