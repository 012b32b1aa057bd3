/// The parts of a request that do not depend on the type of its value.
///
/// The flow itself is in ``RetryingOperation`` and ``URLRequestOperation``. Its steps are here, because this class is
/// compiled once, and not for each type of value. That more than halves their cost.
final class RequestRunner: IdempotencyKeySource {
    let id = RequestID()
    let settings: RequestSettings
    let requestState: Locked<RequestState>
    /// What watches the request. Mostly empty.
    let watches: [RequestWatch]

    init(_ request: URLRequest, configuration: RequestConfiguration, work: AttemptedWork = .request) {
        settings = configuration.settings
        let events = configuration.eventListener.map { EventDelivery($0) }
        watches = configuration.instruments.map { $0.watch() }
        requestState = Locked(
            RequestState(request, work: work, reportingTo: events, keepingExchanges: !watches.isEmpty))
    }

    /// Without a copy of it.
    var configuration: RequestConfiguration { _read { yield settings.configuration } }

    /// The present time. It must be read outside all locks.
    var now: Duration { configuration.requestClock.now }

    /// The request from which each attempt is processed.
    var original: URLRequest { requestState.withLock { $0.original.value } }

    /// How long the operation has been ready. `nil` if it is not.
    var timeSinceReady: Duration? {
        let moment = now
        return requestState.withLock { $0.isReady ? $0.elapsed(at: moment) : nil }
    }

    /// What the attempts are.
    var work: AttemptedWork { requestState.withLock { $0.work } }

    // MARK: Beginning

    func becameReady() {
        let moment = now
        requestState.withLock { $0.becameReady(at: moment) }
    }

    /// Begins a request that has a deadline. Its alarm is cancelled when the request ends.
    ///
    /// - Parameters:
    ///   - place: Where a queue started it, if one did. On a lent place, the attempts take none.
    ///   - deadline: The time from when the operation became ready.
    ///   - onDeadline: Called once, with the error of the request, unless the request ends first.
    /// - Throws: A ``RequestError`` with the code `timedOut` if the deadline has already passed, in a queue.
    func begin(
        on place: QueuePlace?, until deadline: Duration, onDeadline: @escaping @Sendable (RequestError) -> Void
    ) throws {
        let (moment, date, slot) = (now, Date(), place?.slot)
        let listeners = requestState.withLock { state in
            state.begin(on: date, at: moment, in: place, holding: slot)
            return state.events
        }
        emit(.began, to: listeners)
        // The listener takes its time.
        let current = now
        let left = deadline - requestState.withLock { $0.elapsed(at: current) }
        guard left > .zero else { throw passed(deadline) }
        let alarm = configuration.requestClock.alarm(after: left) { [weak self] in
            // Listeners to the end must not delay other deadlines.
            DispatchQueue.global().async { [weak self] in
                if let self { onDeadline(passed(deadline)) }
            }
        }
        if !requestState.withLock({ $0.keep(alarm) }) { alarm.cancel() }
    }

    /// Begins an attempt, and the request if it has not begun.
    ///
    /// - Returns: The number of the attempt, and whether a queue gives it a place.
    func beginAttempt(
        after wake: Wake?, priority: Operation.QueuePriority, on place: QueuePlace?
    ) throws -> (number: Int, isInQueue: Bool) {
        let (moment, date, slot) = (now, Date(), place?.slot)
        let (isFirst, number, isInQueue, listeners) = requestState.withLock { state in
            let isFirst = state.begin(on: date, at: moment, in: place, holding: slot)
            let number = state.beginAttempt(after: wake, at: moment, on: date, priority: priority)
            return (isFirst, number, state.turn != nil, state.events)
        }
        if isFirst { emit(.began, to: listeners) }
        guard let number else { throw CancellationError() }
        emit(.attemptBegan(number), to: listeners)
        return (number, isInQueue)
    }

    // MARK: Stages

    /// Runs one stage of the user's code. It runs directly, or on the queue and within the time limit that the
    /// configuration gives it.
    ///
    /// After a cancel no stage begins, even if the Task learns of the cancel a little later.
    func stage<Output: Sendable>(
        _ stage: UserStage, _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        try advance { $0.enter(stage) }
        return try await run(stage, body)
    }

    /// Runs a stage that was entered, or a stage of a hedge, which is not an attempt yet.
    func run<Output: Sendable>(
        _ stage: UserStage, _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        if configuration.runsDirectly(stage) { return try await body() }
        return try await stageRunner.run(
            stage.stage, on: configuration.queue(for: stage), limit: configuration.stageTimeLimits[stage], body)
    }

    var stageRunner: StageRunner {
        StageRunner(clock: configuration.requestClock) { [weak self] stage in
            self?.leaveBehind(stage)
        }
    }

    /// Changes the state, unless the request or the attempt has been stopped. Returns who listens to the events.
    ///
    /// - Throws: `CancellationError` if it has.
    @discardableResult
    func advance(_ change: (inout RequestState) -> Bool) throws -> EventDelivery? {
        let (goesOn, listeners) = requestState.withLock { (change(&$0), $0.events) }
        guard goesOn else { throw CancellationError() }
        return listeners
    }

    /// Runs the configuration's adapters.
    func adapt(_ request: URLRequest) async throws -> URLRequest {
        var adapted = request
        for adapter in configuration.adapters {
            adapted = try await adapter.adapt(adapted, keys: self)
            try Task.checkCancellation()
        }
        return adapted
    }

    func idempotencyKey() -> String {
        // It is made outside the lock, because it takes random numbers from the system.
        if let key = requestState.withLock({ $0.original.idempotencyKey }) { return key }
        let new = IdempotencyKey.new()
        return requestState.withLock { $0.original.keep(new) }
    }

    /// Completes a task from the configuration, and has it report its progress if someone has asked for that.
    func complete(_ task: inout TransportTask, of attempt: PreparedAttempt, isProcessedByAdapters: Bool) {
        task.complete(from: settings, isProcessedByAdapters: isProcessedByAdapters)
        if !watches.isEmpty { prepare(&task.request, of: attempt) }
        guard let progress = requestState.withLock({ $0.progress }) else { return }
        progress.change { $0.beginAttempt() }
        let isUpload = task.isUpload
        task.onProgress = { [listener = task.onProgress, clock = configuration.requestClock] transfer in
            let moment = clock.now
            progress.change { $0.report(isUpload ? transfer.ofBodySent : transfer, at: moment) }
            listener?(transfer)
        }
    }

    /// The progress of the operation.
    var progress: OperationProgress {
        let (progress, isComplete, isOver) = requestState.withLock { state in
            let progress = state.progress ?? OperationProgress(ProgressState())
            state.progress = progress
            return (progress, state.hasSucceeded, state.isStopped)
        }
        progress.change { state in
            if isComplete { state.succeed() }
            // A request that was stopped reports nothing more.
            if isComplete || isOver { state.end() }
        }
        return progress
    }

    // MARK: The outcome of an attempt

    /// Called when the running attempt has its value.
    func succeeded() {
        let moment = now
        // The body is freed outside the lock.
        let (ended, isAwaited) = requestState.withLock { ($0.succeed(at: moment), $0.isAwaited) }
        ended.release?.finish(.succeeded)
        let budget = configuration.retryBudget
        let isNews = isAwaited && ended.release == nil
        // Usually nothing waits for a success.
        guard isNews || budget?.refund != nil else { return }
        let (request, isFirst, draw) = requestState.withLock {
            ($0.attempt()?.request, $0.failures.lastFailed == nil, $0.spentDraw)
        }
        let origin = Origin(request?.url)
        if let draw {
            draw.succeeded()
        } else if isFirst, let budget, let refund = budget.refund {
            configuration.hosts.visit(origin) { $0.putBack(refund, into: budget, at: $1) }
        }
        if isNews { configuration.hosts.report(.success, to: origin) }
    }

    /// Called when the running attempt has failed.
    func fail(_ error: any Error) -> AttemptFailure {
        let error = ProblemDetails.noted(in: configuration.errorBodyDecoder?.explained(error) ?? error)
        let context = failureContext
        // The failure of a parallel attempt was reported before.
        let (isNews, failure, release, rights) = requestState.withLock { state in
            (state.isAttempting, state.fail(error, in: context), state.takeRelease(), state.takeRights())
        }
        // An attempt that was sent has already released everything.
        rights?.release(.cancelled, isUnused: true)
        if let release {
            let outcome = outcome(of: error)
            // An attempt that was not sent says nothing about the host. The cause, such as a full limiter or an adapter, may
            // stop the next one too. So no other attempt takes its place.
            let wasSent = outcome != .cancelled || error is TransferFailure
            let isRefused = (error as? RequestError)?.code == .circuitOpen
            release.finish(isRefused || !wasSent ? nil : outcome == .failed ? .failed : .passesOn)
        }
        if isNews { report(failure, of: error) }
        return failure
    }

    var failureContext: RequestState.FailureContext {
        RequestState.FailureContext(
            id: id, deadline: configuration.deadline, moment: now, hosts: configuration.hosts)
    }

    /// Reports a failed attempt to the registry of hosts and to the listener of events.
    ///
    /// - Parameter error: What the attempt threw. If a head was rejected, the registry already knows its `Retry-After`, from
    ///   before the slot was released.
    func report(_ failure: AttemptFailure, of error: any Error) {
        let isNoted = failure.stage == .validate && error is TransferFailure
        if !isNoted, let head = failure.head { noteRetryAfter(of: head, at: failure.date) }
        if !watches.isEmpty { watchFailure() }
        emit(.attemptFailed(failure))
    }

    /// Records what a response said about its host, for other requests to it.
    func noteRetryAfter(of head: ResponseHead, at date: Date = Date()) {
        guard configuration.sharesRetryAfter else { return }
        let policy = configuration.retryPolicy
        guard policy.sharesRetryAfter(of: head.status), let asked = head.retryAfter(at: date) else { return }
        configuration.hosts.visit(Origin(head.url)) {
            $0.leaveAlone(for: asked, keeping: policy.maximumRetryAfter, at: $1)
        }
    }

    /// What an attempt that ended with an error shows about its host.
    func outcome(of error: any Error) -> CircuitState.Outcome {
        let policy = configuration.retryPolicy
        guard work.isOther, !(error is RequestError), !error.meansCancellation else {
            return policy.outcome(of: error)
        }
        // A permanent error of other work shows nothing about the host. Nor does an error after a cancel.
        let isTransient = policy.isTransient?(error) ?? true
        return isTransient && !Task.isCancelled ? .failed : .cancelled
    }

    // MARK: The end

    func stop() {
        requestState.withLock { $0.stop() }.free()
    }

    /// Called when the operation ended without waiting any longer for the running stage.
    func wasAbandoned() {
        let (stage, rights) = requestState.withLock { state in
            (state.stage, state.attempts.map(\.number).compactMap { state.takeRights(of: $0) })
        }
        for rights in rights { rights.release(.cancelled) }
        leaveBehind(stage)
    }

    /// Counts a stage that was left behind, and reports it once.
    ///
    /// The operation and a stage's time limit may both report the last stage. The delivery of events drops the second report. So
    /// `abandoned` always comes before `ended`.
    func leaveBehind(_ stage: RequestError.Stage) {
        let (isNews, isLast) = requestState.withLock { $0.leaveBehind() }
        if isNews { UserStage.countAbandoned() }
        guard isLast else { return emit(.abandoned(stage)) }
        if let events { events.deliverLastStage(event(.abandoned(stage), because: nil, in: nil)) }
    }

    /// Called when the operation has its result. Nothing is reported about the request afterwards.
    func ended(_ error: (any Error)?) {
        // After a success the attempts have ended.
        let moment = error == nil ? nil : now
        let (remains, progress, listeners) = requestState.withLock {
            ($0.end(error, at: moment), $0.progress, $0.events)
        }
        remains.free()
        progress?.change { state in
            if error == nil { state.succeed() }
            state.end()
        }
        if !watches.isEmpty, let timeline = timeline(RequestTimeline.Outcome(error)) {
            for watch in watches { watch.ended?(timeline) }
        }
        emit(.ended(error), to: listeners)
    }

    /// The error of a request whose deadline has passed.
    private func passed(_ deadline: Duration) -> RequestError {
        let moment = now
        var state = requestState.withLock { $0 }
        let error = RequestError(.timedOut, stage: state.stage, reason: "the deadline of \(deadline) passed")
        state.endAttempts(error, at: moment)
        return state.finalError(error, stage: state.stage, of: id, notRetried: .deadline)
    }

    /// The request's final error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - stage: The stage that failed.
    ///   - notRetried: Why no further attempt follows.
    ///   - isOfAttempt: Whether it is the error of the attempt, rather than one that a decision puts in its place.
    func ending(
        _ error: any Error, in stage: RequestError.Stage, notRetried: NotRetried? = nil, isOfAttempt: Bool = true
    ) -> any Error {
        guard !error.meansCancellation else { return CancellationError() }
        // A copy, because the error may run the user's code when it describes itself.
        let state = requestState.withLock { $0 }
        return state.finalError(
            error, stage: stage, of: id, notRetried: notRetried, isOfAttempt: isOfAttempt)
    }

    // MARK: Events

    /// The events, if anything listens to them or has done so.
    private var events: EventDelivery? { requestState.withLock { $0.events } }

    /// Adds a listener for the events from now on. Returns a closure that removes it.
    func listen(_ listener: @escaping EventDelivery.Listener) -> @Sendable () -> Void {
        let events = requestState.withLock { $0.eventsForListener() }
        let number = events.listen(listener)
        return { events.remove(number) }
    }

    /// Reports a step, if anything listens.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - reason: Why the request waits, for a wait.
    ///   - attempt: The number of the attempt that the step belongs to. `nil` means that the step names it, or the last one.
    func emit(
        _ step: @autoclosure () -> RequestEvent.Step, because reason: WaitReason? = nil, in attempt: Int? = nil
    ) {
        emit(step(), because: reason, in: attempt, to: events)
    }

    func emit(
        _ step: @autoclosure () -> RequestEvent.Step, because reason: WaitReason? = nil, in attempt: Int? = nil,
        to events: EventDelivery?
    ) {
        guard let events else { return }
        events.deliver(event(step(), because: reason, in: attempt))
    }

    private func event(_ step: RequestEvent.Step, because reason: WaitReason?, in attempt: Int?) -> RequestEvent {
        let (moment, date) = (now, Date())
        return requestState.withLock { state in
            var number = step.attempt ?? attempt ?? state.log.records.last?.number
            switch step {
            // The first attempt begins together with the request.
            case .began: number = nil
            // The attempt that decided. A hedge that lost may have begun later.
            case .ended: number = state.attempts.first?.number
            default: break
            }
            return RequestEvent(
                id: id, attempt: number, method: state.method, date: date, elapsed: state.elapsed(at: moment),
                step: step, waitReason: reason, original: state.original.value.url)
        }
    }
}

extension Error {
    /// Whether this error says that the work was cancelled.
    var meansCancellation: Bool {
        switch self {
        case is CancellationError: true
        case let error as URLError: error.code == .cancelled
        case let failure as TransferFailure: failure.error.meansCancellation
        default: false
        }
    }
}
