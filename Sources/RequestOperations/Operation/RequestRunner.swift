/// The steps of a request's way that do not depend on the type of its value, and what is known of it so far.
///
/// The way itself is ``URLRequestOperation/run()``. The steps stand here and not in that class since they are compiled once
/// then, not for every type of value, which more than halves their cost.
final class RequestRunner: Sendable {
    let id = RequestID()
    let configuration: RequestConfiguration
    private let progress: Locked<RequestProgress>

    init(_ request: URLRequest, configuration: RequestConfiguration) {
        self.configuration = configuration
        progress = Locked(RequestProgress(request))
    }

    /// The request from which each attempt is processed.
    var original: URLRequest { progress.withLock { $0.original } }

    var attempts: [Attempt] { progress.withLock { $0.attempts } }

    func retryNow() {
        progress.withLock { $0.wait }?.wake(.retryNow)
    }

    func becameReady() {
        progress.withLock { $0.becameReady(on: configuration.clock) }
    }

    func becameUnready() {
        progress.withLock { $0.becameUnready() }
    }

    // MARK: Beginning and end

    /// Begins the request; returns the alarm of its deadline, if it has one.
    ///
    /// - Throws: A ``RequestError`` with the code `timedOut` if the deadline has passed already, in a queue.
    func begin(onDeadline: @escaping @Sendable (RequestError) -> Void) throws -> Alarm? {
        becameReady()
        emit(.began)
        guard let deadline = configuration.deadline else { return nil }
        let left = deadline - progress.withLock { $0.elapsed }
        guard left > .zero else { throw passed(deadline) }
        return Alarm(after: left, on: configuration.clock) { [weak self] in
            // Whoever hears of the end must not keep the deadlines of others waiting.
            DispatchQueue.global().async { [weak self] in
                if let self { onDeadline(passed(deadline)) }
            }
        }
    }

    private func passed(_ deadline: Duration) -> RequestError {
        progress.withLock { progress in
            let timedOut = RequestError(.timedOut, stage: progress.stage, reason: "the deadline of \(deadline) passed")
            return progress.finalError(timedOut, stage: progress.stage, endingAttempt: true)
        }
    }

    /// The error that the request ends with.
    func ending(_ error: any Error, in stage: RequestError.Stage) -> any Error {
        error.meansCancellation ? CancellationError() : progress.withLock { $0.finalError(error, stage: stage) }
    }

    func stop() {
        progress.withLock { $0.stop() }
    }

    /// The operation ended without waiting for the running stage any longer.
    func wasAbandoned() {
        let (stage, slot) = progress.withLock { ($0.stage, $0.slot) }
        slot?.close()
        AbandonedStages.countOne()
        emit(.abandoned(stage))
    }

    /// The running attempt has its value.
    func succeeded() {
        progress.withLock { $0.endAttempt(nil) }
    }

    /// The operation has its result. Nothing is told of the request afterwards.
    func ended(_ error: (any Error)?) {
        progress.withLock { progress in
            progress.endAttempt(error)
            progress.end()
        }
        configuration.onEvent?(RequestEvent(id: id, step: .ended(error)))
    }

    // MARK: Attempts

    /// Begins an attempt; returns its number.
    func beginAttempt(after wake: Wake?) throws(CancellationError) -> Int {
        let number = progress.withLock { $0.beginAttempt(after: wake) }
        guard let number else { throw CancellationError() }
        emit(.attemptBegan(number))
        return number
    }

    func fail(_ error: any Error) -> AttemptFailure {
        let failure = progress.withLock { $0.fail(error, deadline: configuration.deadline) }
        emit(.attemptFailed(failure))
        return failure
    }

    /// Adopts a decision to retry; throws what the request ends with if it is none.
    func adopt(
        _ decision: RetryDecision, after failure: AttemptFailure
    ) throws -> (delay: Duration, observers: [any EarlyRetryObserver]) {
        try enter(.retryDecision)
        emit(.decided(decision))
        switch decision {
        case .stop: throw ending(failure.error, in: failure.stage)
        case .fail(let error): throw ending(error, in: failure.stage)
        case .retry(let delay, let observers, let restartsBackoff, let request):
            progress.withLock { progress in
                if let request { progress.original = request }
                if restartsBackoff { progress.restartBackoff() }
            }
            return (delay, observers)
        }
    }

    func wait(
        _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure
    ) async throws -> Wake {
        let wait = RetryWait()
        let stopwatch = Stopwatch(configuration.clock)
        try enter(.wait)
        progress.withLock { $0.wait = wait }
        defer { progress.withLock { $0.wait = nil } }
        emit(.waits(delay))
        let reason = try await wait.run(delay, or: observers, after: failure, clock: configuration.clock)
        emit(.woke(reason))
        return Wake(waited: stopwatch.elapsed, reason: reason)
    }

    // MARK: Stages

    /// Runs a stage of user code, on its queue and within its time limit if it has them.
    func stage<Output: Sendable>(
        _ stage: RequestError.Stage, _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        try enter(stage)
        if configuration.runsDirectly(stage) { return try await body() }
        return try await stageRunner.run(
            stage, on: configuration.queue(for: stage), limit: configuration.stageTimeLimits[stage], body)
    }

    /// Every stage begins here: after a cancel none does, nor in an attempt that was left behind. (The Task may learn of the
    /// cancel a little later.)
    func enter(_ stage: RequestError.Stage) throws(CancellationError) {
        try advance { $0.enter(stage) }
    }

    /// Changes the progress, unless that says that the request, or the attempt, goes no further.
    func advance(_ change: (inout RequestProgress) -> Bool) throws(CancellationError) {
        if !progress.withLock({ change(&$0) }) { throw CancellationError() }
    }

    var stageRunner: StageRunner {
        StageRunner(clock: configuration.clock) { [weak self] stage in
            AbandonedStages.countOne()
            self?.emit(.abandoned(stage))
        }
    }

    func emit(_ step: @autoclosure () -> RequestEvent.Step) {
        guard let onEvent = configuration.onEvent, !progress.withLock({ $0.hasEnded }) else { return }
        onEvent(RequestEvent(id: id, step: step()))
    }

    // MARK: Admission

    /// Processes the request, makes its task and waits for a slot; a request that waited too long is processed again and
    /// keeps its place in the line.
    func admit(
        priority: Operation.QueuePriority,
        process: @escaping @Sendable (URLRequest) async throws -> URLRequest,
        makeTask: @escaping @Sendable (URLRequest) async throws -> TransportTask
    ) async throws -> (TransportTask, RequestLimiter.Slot?) {
        var place: RequestLimiter.Place?
        progress.withLock { $0.priority = priority }
        while true {
            let original = self.original
            let request = try await stage(.process) { try await process(original) }
            let task = try await stage(.makeTask) { try await makeTask(request) }
            try advance { $0.note(task) }
            guard let limiter = configuration.limiter else { return (complete(task), nil) }
            let (slot, waited) = try await self.slot(of: limiter, for: task, at: &place)
            guard waited > configuration.freshness else { return (complete(task), slot) }
            slot.release()
        }
    }

    private func complete(_ task: TransportTask) -> TransportTask {
        var task = task
        task.limits = task.limits ?? configuration.limits(for: task)
        task.onProgress = task.onProgress ?? configuration.onProgress
        return task
    }

    func slot(
        of limiter: RequestLimiter, for task: TransportTask, at place: inout RequestLimiter.Place?
    ) async throws -> (RequestLimiter.Slot, waited: Duration) {
        try enter(.slot)
        emit(.waitsForSlot)
        let stopwatch = Stopwatch(configuration.clock)
        let slot = try await limiter.slot(
            for: Origin(task.request.url), priority: progress.withLock { $0.priority }, place: &place)
        do {
            // The slot may have been given in the moment of the cancel.
            try enter(.slot)
            try Task.checkCancellation()
        } catch {
            slot.release()
            throw error
        }
        let waited = stopwatch.elapsed
        emit(.gotSlot(waited: waited))
        return (slot, waited)
    }

    // MARK: Transfer

    /// Sends the request and reads its response, following redirects; gives the slot back.
    func transfer(
        _ task: TransportTask, _ slot: RequestLimiter.Slot?, attempt: Int,
        validate: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let held = slot.map(HeldSlot.init)
        progress.withLock { $0.slot = held }
        defer { held?.close() }
        let transfer = AttemptTransfer(runner: self, attempt: attempt, slot: held, validate: validate)
        let response =
            if let limit = configuration.attemptTimeLimit {
                try await stageRunner.run(.transfer, limit: limit) { try await transfer.run(task) }
            } else {
                try await transfer.run(task)
            }
        try advance { $0.note(response) }
        return response
    }
}

/// What ended a wait, and how long it was.
struct Wake: Sendable {
    let waited: Duration
    let reason: WakeReason
}

extension Error {
    /// Whether this says that the work was cancelled, by whomever.
    var meansCancellation: Bool {
        switch self {
        case is CancellationError: true
        case let error as URLError: error.code == .cancelled
        case let failure as TransferFailure: failure.error.meansCancellation
        default: false
        }
    }
}
