/// How an operation runs: its start, its steps, its cancel and its finish. Each asks the state what to do, and does it after
/// the lock is released.
extension AsynchronousOperation {
    // MARK: Start

    func start(by starter: (any OperationStarter)?) {
        if Announcement.precedesChange, isExecuting || isFinished { return }
        willChange(.isExecuting)
        let action = state.withLock { $0.start(by: starter) }
        // On Linux a queue can neither take in nor start an operation if it knows that the operation is executing.
        didChange(.isExecuting, if: action == .run && starter == nil)
        switch action {
        case .run:
            let queue = starter?.willRun(self)
            startStep(after: nil, on: OperationQueue.current ?? queue, in: context, or: Task.startHere)
        // The resolved error takes the place of this one.
        case .finish: finish(.failure(CancellationError()))
        case .ignore: break
        }
    }

    func startWhenReady(by starter: any OperationStarter) {
        state.withLock { $0.startWhenReady(self, by: starter) }
        checkPreconditions()
        startIfReady()
    }

    func startIfReady() {
        state.withLock { $0.takeOwner() }?.admit(self)
    }

    func proceed() {
        checkPreconditions()
        admitIfReady()
    }

    /// Lets the owner and the queue start the operation if it may run by now, or must finish.
    func admitIfReady() {
        startIfReady()
        state.withLock { $0.enter() }?.admit(self)
    }

    // MARK: Steps

    /// Starts a Task for the next step.
    ///
    /// - Parameters:
    ///   - wait: The wait before the step. It is over. `nil` for the first step.
    ///   - queue: The queue that runs the operation.
    ///   - context: The task-local values of the step. `nil` if there are none.
    ///   - start: Starts a Task without such values.
    private func startStep(
        after wait: (any StepWait)?, on queue: OperationQueue?, in context: TaskContext?,
        or start: (TaskPriority?, @escaping TaskContext.Body) -> Void
    ) {
        let priority = qualityOfService.taskPriority
        let body: TaskContext.Body = { await self.runStep(after: wait, on: queue) }
        if let context { context.run(priority: priority, body) } else { start(priority, body) }
    }

    private func runStep(after wait: (any StepWait)?, on queue: OperationQueue?) async {
        let task = RunningTask.current()
        let (isStopped, place) = state.withLock { ($0.adopt(task), $0.place) }
        if isStopped { task.cancel() }
        let mayLeave: Bool
        do {
            switch try await bound(to: .init(queue: queue, place: place), { try await self.step(after: wait) }) {
            case .finished(let value): mayLeave = finish(.success(value))
            case .waits(let wait):
                mayLeave = state.withLock { $0.disown() }
                let context = context == nil ? nil : TaskContext.current()
                // The thread that ends the wait must not have to run the step.
                wait.whenOver { self.startStep(after: wait, on: queue, in: context, or: Task.startElsewhere) }
            }
        } catch {
            if error is CancellationError { noteOwnCancellation() }
            mayLeave = finish(.failure(error))
        }
        guard !mayLeave else { return }
        // Another thread tells the Task to stop, so the Task must not end before that is over.
        await withCheckedContinuation { continuation in
            if state.withLock({ $0.leave { continuation.resume() } }) { continuation.resume() }
        }
    }

    /// Runs a step with the task-local values of the operation's queue. The values of the place where the operation was
    /// made may name another queue.
    private func bound<Output: Sendable>(
        to here: OperationQueue.Here, _ body: () async throws -> Output
    ) async throws -> Output {
        let former = OperationQueue.here
        if former.queue === here.queue, former.place === here.place { return try await body() }
        return try await OperationQueue.$here.withValue(here) { try await body() }
    }

    // MARK: Cancel

    /// Cancels the operation if a condition holds for its state.
    func cancel(if condition: (OperationLifecycle) -> Bool) {
        let (action, remains, wasAsked) = state.withLock { state in
            let action = condition(state) ? state.cancel() : .ignore
            return (action, state.endPreconditions(after: action), state.wasAskedForReadiness)
        }
        if case .ignore = action { return }
        notifyFoundationOfCancel(wasAsked: wasAsked)
        if case .resolve(waitsForStart: true) = action { limitWaitForStart() }
        remains?.end()
        stop(action)
        admitIfReady()
    }

    /// The work threw a `CancellationError`, so the operation counts as cancelled.
    private func noteOwnCancellation() {
        let (isNew, wasAsked) = state.withLock { ($0.noteOwnCancellation(), $0.wasAskedForReadiness) }
        if isNew { notifyFoundationOfCancel(wasAsked: wasAsked) }
    }

    /// A queue soon starts a resolved operation, and so finishes it. If none does, awaiting Tasks must not wait
    /// forever.
    func limitWaitForStart() {
        _ = DeadlineHeap.shared.schedule(at: .now + cancellationGrace) { [weak self] in
            guard let self else { return }
            for awaiter in state.withLock({ $0.endWaitForStart() }) { awaiter() }
        }
    }

    /// Ends the operation with an error, as `cancel()` ends it with a `CancellationError`.
    func fail(with error: any Error) {
        stop(state.withLock { $0.fail(with: error) })
    }

    private func stop(_ action: OperationLifecycle.CancelAction) {
        guard case .stop(let task) = action else { return }
        runWasStopped()
        // This comes first, because cancelling runs cancellation handlers of the user, which may take time.
        _ = DeadlineHeap.shared.schedule(at: .now + cancellationGrace) { [weak self] in
            // Observers of the finish must not hold up other deadlines.
            DispatchQueue.global().async { [weak self] in self?.abandon() }
        }
        guard let task else { return }
        task.cancel()
        for leaver in state.withLock({ $0.wasTold() }) { leaver() }
    }

    /// The Task did not return in time, so the operation finishes without it.
    private func abandon() {
        guard state.withLock({ $0.isStopping }) else { return }
        finish(.failure(CancellationError()), abandoningRun: true)
    }

    // MARK: Finish

    /// Finishes the operation, unless its outcome was decided before. Returns whether the Task of the step may end.
    @discardableResult
    func finish(_ outcome: Result<Success, any Error>, abandoningRun: Bool = false) -> Bool {
        guard let outcome = decide(outcome) else { return state.withLock { $0.mayLeave } }
        willChange(.isExecuting)
        willChange(.isFinished)
        var finish = state.withLock { state in
            if case .success(let value) = outcome { success = value }
            return state.finish(OperationLifecycle.Ending(outcome))
        }
        if abandoningRun { runWasAbandoned() }
        onEnd(outcome)
        willAnnounce(finish.ending)
        // When a caller learns of the finish, the place is already free.
        finish.queued?.starter.finished(finish.place, wasExecuting: finish.wasExecuting)
        // Foundation on Linux derives one announcement from the other.
        if Announcement.precedesChange { didChange(.isExecuting, if: finish.wasExecuting) }
        didChange(.isFinished, if: finish.isAnnounced)
        if !finish.isAnnounced { finish.gate?.start() }
        finish.remains?.end()
        if let queued = finish.queued, queued.isBefore { queued.starter.leave(self) }
        // This comes first, because it may start other operations while this thread goes on.
        finish.dependents?.notify(of: ObjectIdentifier(self))
        if let completionBlock = finish.completionBlock {
            // Like Foundation, keeps the operation until its block has returned.
            DispatchQueue.global().async { [self] in withExtendedLifetime(self, completionBlock) }
        }
        releaseChain(of: finish.takeDependencies())
        finish.listeners.callAll()
        wasAnnounced()
        return finish.mayLeave
    }

    /// Decides how the operation ends. An operation that was told to stop drops its value. Returns `nil` if the outcome
    /// was decided before.
    private func decide(_ outcome: Result<Success, any Error>) -> Result<Success, any Error>? {
        switch state.withLock({ $0.decide(OperationLifecycle.Ending(outcome)) }) {
        case .succeeded: outcome
        case .failed(let error): .failure(error is CancellationError ? error : finalError(error))
        case nil: nil
        }
    }
}

/// How long a cancelled operation waits for its work to return.
private let cancellationGrace = Duration.milliseconds(50)

/// What one step of an operation's work led to.
///
/// Each step runs in a Task of its own. Between two steps there is no Task, because a suspended one costs several KiB.
enum Step<Value: Sendable>: Sendable {
    case finished(Value)
    /// The next step begins when this wait is over.
    case waits(any StepWait)
}

/// What the work waits for between two steps.
protocol StepWait: AnyObject, Sendable {
    /// Calls a listener once when the wait is over, on the thread that ends it.
    func whenOver(_ listener: @escaping @Sendable () -> Void)
}
