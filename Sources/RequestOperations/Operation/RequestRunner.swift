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

    // MARK: Beginning and end

    /// Begins the request; returns the alarm of its deadline, if it has one.
    func begin(onDeadline: @escaping @Sendable (RequestError) -> Void) -> Alarm? {
        becameReady()
        emit(.began)
        guard let deadline = configuration.deadline else { return nil }
        let left = deadline - progress.withLock { $0.elapsed }
        return Alarm(after: max(left, .zero), on: configuration.clock) { [weak self] in
            if let self { onDeadline(passDeadline(deadline)) }
        }
    }

    private func passDeadline(_ deadline: Duration) -> RequestError {
        progress.withLock { progress in
            let timedOut = RequestError(.timedOut, stage: progress.stage, reason: "the deadline of \(deadline) passed")
            progress.endAttempt(timedOut)
            return progress.finalError(timedOut, stage: progress.stage)
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
        slot?.release()
        AbandonedStages.countOne()
        emit(.abandoned(stage))
    }

    func ended(_ error: (any Error)?) {
        progress.withLock { $0.endAttempt(error) }
        emit(.ended(error))
    }

    // MARK: Attempts

    func beginAttempt(after wake: Wake?) {
        let number = progress.withLock { $0.beginAttempt(after: wake) }
        emit(.attemptBegan(number))
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

    /// Every stage begins here: after a cancel none does. (The Task may learn of the cancel a little later.)
    func enter(_ stage: RequestError.Stage) throws(CancellationError) {
        let isStopped = progress.withLock { $0.enter(stage) }
        if isStopped { throw CancellationError() }
    }

    private var stageRunner: StageRunner {
        StageRunner(clock: configuration.clock) { [weak self] stage in
            AbandonedStages.countOne()
            self?.emit(.abandoned(stage))
        }
    }

    private func emit(_ step: @autoclosure () -> RequestEvent.Step) {
        configuration.onEvent?(RequestEvent(id: id, step: step()))
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
            progress.withLock { $0.note(task) }
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

    private func slot(
        of limiter: RequestLimiter, for task: TransportTask, at place: inout RequestLimiter.Place?
    ) async throws -> (RequestLimiter.Slot, waited: Duration) {
        try enter(.slot)
        emit(.waitsForSlot)
        let stopwatch = Stopwatch(configuration.clock)
        let slot = try await limiter.slot(
            for: Origin(task.request.url), priority: progress.withLock { $0.priority }, place: &place)
        let isStopped = progress.withLock { progress in
            progress.slot = slot
            return progress.isStopped
        }
        if isStopped {
            slot.release()
            throw CancellationError()
        }
        let waited = stopwatch.elapsed
        emit(.gotSlot(waited: waited))
        return (slot, waited)
    }

    // MARK: Transfer

    /// Sends the request and reads its response, following redirects; gives the slot back.
    func transfer(
        _ task: TransportTask, _ slot: RequestLimiter.Slot?, validate: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        defer { progress.withLock { $0.slot }?.release() }
        try enter(.transfer)
        let response =
            if let limit = configuration.attemptTimeLimit {
                try await stageRunner.run(.transfer, limit: limit) {
                    try await self.followRedirects(task, slot, validate)
                }
            } else {
                try await followRedirects(task, slot, validate)
            }
        progress.withLock { $0.note(response) }
        return response
    }

    private func followRedirects(
        _ first: TransportTask, _ slot: RequestLimiter.Slot?, _ validate: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        var task = first
        var slot = slot
        var visited: [RedirectPolicy.Hop] = []
        while true {
            do {
                return try await send(task, validate)
            } catch let redirect as Redirect {
                visited.append(RedirectPolicy.Hop(task.request))
                task = try configuration.redirects.next(
                    after: redirect.head, to: redirect.target, task: task, visited: visited)
                progress.withLock { $0.note(redirectTo: redirect.target) }
                emit(.redirected(from: redirect.head.url, to: redirect.target))
                slot = try await exchange(slot, for: task)
            }
        }
    }

    /// A redirect to another host gives its slot back before it waits for the next: it never holds two.
    private func exchange(
        _ held: RequestLimiter.Slot?, for task: TransportTask
    ) async throws -> RequestLimiter.Slot? {
        guard let held, let limiter = configuration.limiter, held.origin != Origin(task.request.url) else { return held }
        held.release()
        var place: RequestLimiter.Place?
        let (slot, _) = try await slot(of: limiter, for: task, at: &place)
        try enter(.transfer)
        return slot
    }

    /// One hop. A head that redirects is rejected with the redirect as its error, so that its body is not delivered.
    private func send(
        _ task: TransportTask, _ validate: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        do {
            return try await task.perform(over: configuration.transport) { head in
                if let target = self.configuration.redirects.target(of: head) {
                    throw Redirect(head: head, target: target)
                }
                try self.enter(.validate)
                self.progress.withLock { $0.note(head) }
                self.emit(.head(head))
                try validate(head)
                try self.enter(.transfer)
            }
        } catch let failure as TransferFailure {
            throw failure.error as? Redirect ?? failure
        }
    }
}

/// What ended a wait, and how long it was.
struct Wake: Sendable {
    let waited: Duration
    let reason: WakeReason
}

/// The error with which the head of a redirect is rejected.
private struct Redirect: Error {
    let head: ResponseHead
    let target: URL
}

extension TransportTask {
    /// Carries the task out in its own way or the transport's.
    fileprivate func perform(
        over transport: any Transport, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        if case .perform(let perform) = execution { return try await perform(self, transport, onHead) }
        return try await transport.perform(self, onHead: onHead)
    }
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
