/// An operation whose work is one `async` function, and whose outcome is one stored result.
///
/// Subclasses override ``run()`` and nothing else. Add the operation to an `OperationQueue`, or call `start()`; then take
/// the result in the style that suits you:
///
/// ```swift
/// queue.addOperations([operation], waitUntilFinished: true)  // and then operation.result
/// operation.whenFinished { result in print(result) }
/// let value = try await operation.value
/// ```
///
/// Foundation's contract holds: dependencies, across queues too and removable before they finish, priorities,
/// `completionBlock`, `waitUntilFinished`, `maxConcurrentOperationCount`. The `qualityOfService` becomes the priority of
/// the Task; the task-local values of the Task in which the operation was made hold while it runs. (Swift tells nothing of
/// values that are bound outside of any Task.) Like any operation it is for one use: a queue traps when an operation is
/// added a second time.
///
/// ## Cancellation
///
/// `isCancelled` is `true` exactly if the result is a `CancellationError` or is bound to be: `cancel()` after the finish
/// changes nothing, and a `CancellationError` out of ``run()`` cancels the operation. `cancel()` cancels the Task; if
/// ``run()`` has not returned 50 ms later, the operation finishes without it, and what it returns is dropped.
///
/// ## Order
///
/// The result is stored, then `isFinished` is announced (on Apple platforms with `isExecuting`), then completions run: awaiting
/// tasks resume, `whenFinished` closures are called on the ``completionQueue``. All of that happens once. (On Linux the finish
/// of an operation that a ``RequestChain`` has started while a queue has it is announced when that queue comes to it.)
// Unchecked as Foundation's own Operation is. All state of this class is in `state`. `success` is written once, under the same
// lock, and read only after the lifecycle says so.
open class AsynchronousOperation<Success: Sendable>: Operation, @unchecked Sendable {
    final let state = Locked(OperationState())
    final let context = TaskContext.current()
    private var success: Success?

    /// Makes an operation that is ready to be started.
    public override init() {
        super.init()
    }

    deinit {
        // What it depends on may hold the state for a while. One that has finished has left nothing there.
        guard var rest = state.withLock({ $0.takeRest() }) else { return }
        releaseChain(of: rest.dependencies.removeAll())
    }

    /// The work: called once, in a Task of its own, after `start()`, unless the operation was cancelled before.
    ///
    /// What it returns or throws becomes the ``result``. It should return soon after its Task was cancelled. The default
    /// is a programmer's error.
    open func run() async throws -> Success {
        preconditionFailure("\(type(of: self)) must override run().")
    }

    /// The queue on which `whenFinished` closures run; a global concurrent one by default.
    open var completionQueue: DispatchQueue { .global() }

    // MARK: Result

    /// The outcome, or `nil` while there is none.
    public final var result: Result<Success, any Error>? {
        state.withLock({ $0.lifecycle.ending }).map(outcome)
    }

    private func outcome(of ending: OperationLifecycle.Ending) -> Result<Success, any Error> {
        switch ending {
        // A lifecycle that says so has a value.
        case .succeeded: .success(success!)
        case .failed(let error): .failure(error)
        }
    }

    /// The value, awaited; it can be awaited any number of times.
    ///
    /// Cancelling the Task that awaits cancels the operation. One that is cancelled before its start, by whomever, finishes
    /// when it is started, which may be never: who awaits it then waits for 50 ms at most.
    ///
    /// - Throws: The failure of the ``result``.
    public final var value: Success {
        get async throws {
            if let result { return try result.get() }
            let answer = Answer<Success>()
            // Without a result yet, the operation was cancelled before its start.
            let awaiter: OperationLifecycle.Subscriber = { [unowned self] in
                answer.resume(with: result ?? .failure(CancellationError()))
            }
            switch state.withLock({ $0.lifecycle.addAwaiter(awaiter) }) {
            case .wait: break
            case .waitForStart: limitWaitForStart()
            case .goOn: awaiter()
            }
            return try await withTaskCancellationHandler {
                try await answer.value
            } onCancel: {
                cancel()
            }
        }
    }

    /// Calls a closure with the result, once, on the ``completionQueue``; at once if there is a result already.
    public final func whenFinished(_ completion: @escaping @Sendable (Result<Success, any Error>) -> Void) {
        let queue = completionQueue
        // Subscribers are called by the operation itself, which has ended then.
        subscribeToFinish { [unowned self] in
            let finished: AsynchronousOperation = self
            queue.async { completion(finished.outcome(of: finished.state.withLock { $0.lifecycle.ending! })) }
        }
    }

    /// Calls a subscriber when the operation has finished, on whatever thread sees to that.
    final func subscribeToFinish(_ subscriber: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.lifecycle.subscribe(subscriber) }) { subscriber() }
    }

    /// Tells one that depends on the operation when that has finished; at once if it has.
    final func announceFinish(toDependent dependent: Locked<OperationState>) {
        let id = ObjectIdentifier(self)
        let (isOver, isCrowded) = state.withLock { $0.add(dependent) }
        guard !isOver else { return dependent.noteFinished(id) }
        guard isCrowded else { return }
        let sifted = state.withLock { $0.takeDependents() }.sifted(of: id)
        if !state.withLock({ $0.putBack(sifted) }) { sifted.tell(of: id) }
    }

    // MARK: Foundation's contract

    /// Always `true`.
    public final override var isAsynchronous: Bool { true }

    /// Whether the operation was started and has not finished.
    public final override var isExecuting: Bool { state.withLock { $0.lifecycle.isExecuting } }

    /// Whether there is a ``result``.
    public final override var isFinished: Bool { state.withLock { $0.lifecycle.ending != nil } }

    /// Whether the ``result`` is a `CancellationError`, or is bound to be.
    public final override var isCancelled: Bool { state.withLock { $0.lifecycle.isCancelled } }

    /// Starts the work; queues call it. A second call does nothing. It does not wait for dependencies: a queue does, and
    /// whoever starts an operation by hand sees to it that ``isReady`` is `true`.
    public final override func start() {
        start(by: nil)
    }

    private func start(by starter: LinkStarter?) {
        if Announcement.precedesChange, isExecuting || isFinished { return }
        willChange(.isExecuting)
        let action = state.withLock { $0.start(by: starter) }
        // On Linux a queue cannot take in an operation, or start one, that it knows to execute.
        didChange(.isExecuting, if: action == .run && starter == nil)
        switch action {
        case .run:
            if let starter { joinQueue(of: starter) }
            let queue = OperationQueue.current ?? starter?.operationQueue
            startStep(after: nil, on: queue, in: context, or: Task.startHere)
        case .finish: finish(.failure(CancellationError()))
        case .ignore: break
        }
    }

    /// Has the operation started as soon as it is ready, unless somebody else starts it before.
    final func startWhenReady(by starter: LinkStarter) {
        state.withLock { $0.startWhenReady(self, by: starter) }
        startIfReady()
    }

    final func startIfReady() {
        guard let starter = state.withLock({ $0.takeStarter() }) else { return }
        starter.queue.async { self.start(by: starter) }
    }

    /// What places the operation takes of a ``RequestQueue``.
    var placeDemand: PlaceDemand { .whileExecuting }

    /// Called before the operation is started in a queue, in the order of starting.
    func willRun(by turn: QueueTurn) {}

    /// What a chain starts takes its places of the queue that the chain is in.
    private func joinQueue(of starter: LinkStarter) {
        guard let limiter = (starter.operationQueue as? RequestQueue)?.limiter else { return }
        if let holder = starter.placeHolder, holder.holdsPlace(of: limiter) {
            runs(onPlaceOf: holder)
        } else {
            willRun(by: QueueTurn(limiter: limiter, place: limiter.newPlace()))
        }
    }

    /// Whether the operation holds a place of the queue with a limiter.
    func holdsPlace(of limiter: RequestLimiter) -> Bool {
        state.withLock { $0.membership.limiter === limiter && $0.membership.holdsPlace }
    }

    /// One step of the work. By default all of ``run()`` is one step.
    ///
    /// - Parameter wake: What ended the wait before the step. `nil` for the first step.
    func step(after wake: Wake?) async throws -> Step<Success> {
        .finished(try await run())
    }

    /// Cancels the operation; see the discussion of the class. Can be called from any thread, any number of times.
    public final override func cancel() {
        let (action, wasAsked) = state.withLock { ($0.lifecycle.cancel(), $0.wasAskedForReadiness) }
        if case .ignore = action { return }
        tellFoundationOfCancel(wasAsked: wasAsked)
        if case .markCancelled(waitsForStart: true) = action { limitWaitForStart() }
        stop(action)
        startIfReady()
        enterQueueIfReady()
    }

    /// Has a queue start the operation soon. On Linux Foundation asks for the readiness in the course of that, as a queue does;
    /// one that has not asked yet learns of the cancel when it does.
    final func tellFoundationOfCancel(wasAsked: Bool) {
        if wasAsked || Announcement.precedesChange { super.cancel() }
    }

    /// A queue starts an operation that was cancelled, and so finishes it, within a moment; if nobody does, those who await it
    /// must not wait for ever.
    private func limitWaitForStart() {
        _ = DeadlineHeap.shared.schedule(at: .now + cancellationGrace) { [weak self] in
            guard let self else { return }
            for awaiter in state.withLock({ $0.lifecycle.giveUpStart() }) { awaiter() }
        }
    }

    /// Ends the operation with an error as `cancel()` ends it with a `CancellationError`.
    final func fail(with error: any Error) {
        stop(state.withLock { $0.lifecycle.fail(with: error) })
    }

    private func stop(_ action: OperationLifecycle.CancelAction) {
        guard case .stop(let task) = action else { return }
        runWasStopped()
        // First, since cancelling runs the handlers of user code, which may take their time.
        _ = DeadlineHeap.shared.schedule(at: .now + cancellationGrace) { [weak self] in
            // Observers of the finish must not keep the deadlines of others waiting.
            DispatchQueue.global().async { [weak self] in self?.abandon() }
        }
        guard let task else { return }
        task.cancel()
        for leaver in state.withLock({ $0.lifecycle.wasTold() }) { leaver() }
    }

    /// Called when ``run()`` is told to stop, before its Task is cancelled.
    func runWasStopped() {}

    /// The Task did not return in its grace: the operation finishes without it.
    private func abandon() {
        guard state.withLock({ $0.lifecycle.isStopping }) else { return }
        finish(.failure(CancellationError()), abandoningRun: true)
    }

    /// Called when the operation finished without waiting any longer for ``run()``, before anybody hears of the result.
    func runWasAbandoned() {}

    /// Called once, when the result is stored and before anybody hears of it.
    func willAnnounce(_ ending: OperationLifecycle.Ending) {}

    final func finish(_ outcome: Result<Success, any Error>, abandoningRun: Bool = false) {
        if Announcement.precedesChange, isFinished { return }
        willChange(.isExecuting)
        willChange(.isFinished)
        guard var finish = state.withLock({ end(&$0, with: outcome) }) else {
            didChange(.isExecuting, if: false)
            didChange(.isFinished, if: false)
            return
        }
        if abandoningRun { runWasAbandoned() }
        willAnnounce(finish.published.ending)
        finish.departure?.giveBack(counting: finish.published.wasExecuting)
        // Foundation on Linux learns the one from the other.
        if Announcement.precedesChange { didChange(.isExecuting, if: finish.published.wasExecuting) }
        didChange(.isFinished, if: finish.isAnnounced)
        finish.openGate()
        finish.departure?.end(for: self)
        // First, since others may be started by that while this thread goes on.
        finish.dependents.tell(of: ObjectIdentifier(self))
        if let completionBlock = finish.completionBlock {
            // Keeps the operation until its block has returned, as Foundation does.
            DispatchQueue.global().async { [self] in withExtendedLifetime(self, completionBlock) }
        }
        releaseChain(of: finish.takeDependencies())
        for awaiter in finish.published.awaiters { awaiter() }
        finish.published.subscribers.callAll()
    }

    /// Ends the lifecycle and keeps the value. Called under the lock of the state.
    private func end(
        _ state: inout OperationState, with outcome: Result<Success, any Error>
    ) -> OperationState.Finish? {
        switch outcome {
        case .failure(let error): return state.finish(.failed(error))
        case .success(let value):
            let finish = state.finish(.succeeded)
            // An operation that was told to stop drops the value.
            if case .succeeded? = finish?.published.ending { success = value }
            return finish
        }
    }

    /// Called once, on a global queue, when the operation has finished, and freed then; dropped if it is set later.
    // Not Foundation's own: on Linux any thread that sees `isFinished` may announce the finish, and reads the block unlocked.
    open override var completionBlock: (@Sendable () -> Void)? {
        get { state.withLock { $0.completionBlock } }
        set { _ = state.withLock { $0.setCompletionBlock(newValue) } }
    }

    /// Blocks the thread until the operation has finished.
    // Foundation on Linux waits for the announcement, which a queue may make later.
    @available(*, noasync, message: "Use completionBlock or a dependent Operation instead")
    open override func waitUntilFinished() {
        if Announcement.precedesChange { return super.waitUntilFinished() }
        let finish = DispatchSemaphore(value: 0)
        subscribeToFinish { finish.signal() }
        finish.wait()
    }

    // MARK: Dependencies

    /// Whether all dependencies have finished, or the operation was cancelled.
    ///
    /// The first time that it is read as `true` counts as the moment when the operation became ready, and so starts the
    /// deadline of a ``URLRequestOperation``, in a queue or not: Foundation's queues tell of themselves in no other way.
    public final override var isReady: Bool {
        // Foundation's own table still holds the barriers of a queue.
        let isReady = super.isReady
        let isOwnRead = DispatchQueue.getSpecific(key: announcesReadiness) == true
        let (answer, change, gate) = state.withLock { state in
            let answer = state.lifecycle.isCancelled || isReady && state.dependencies.isSatisfied
            let isWaiting = state.mayBeStartedByQueue && !isOwnRead
            let change = state.readiness.update(to: answer, isWaiting: isWaiting, isHeld: state.membership.isHeld)
            // To pass on what the operation is takes longer than all of this.
            return (answer, change, state.needsGateForReader ? state.makeGate(of: self) : nil)
        }
        if change.isTurn { answer ? becameReady() : becameUnready() }
        if change.isToBeAnnounced { readinessQueue.async { self.announceReadiness() } }
        guard let gate else { return answer }
        super.addDependency(gate)
        // Were the gate opened before Foundation knew it, nobody would tell Foundation.
        return self.isReady
    }

    /// Called when the operation is seen to be ready, for the first time or again.
    func becameReady() {}

    /// Called when the operation, which was ready, is seen not to be.
    func becameUnready() {}

    /// The operations that this one waits for or has waited for, in the order in which they were added; none once it
    /// has finished.
    public final override var dependencies: [Operation] { state.withLock { $0.dependencies.operations } }

    /// Makes this operation wait until another has finished, whatever its outcome and its queue. Adding one twice, or after
    /// the start, changes nothing. One of another kind than this class is kept until it has finished, removed or not.
    public final override func addDependency(_ operation: Operation) {
        let (isNew, gate) = state.withLock { $0.addDependency(operation, of: self) }
        guard isNew else { return }
        if let gate { super.addDependency(gate) }
        operation.announceFinish(to: state)
    }

    /// Stops waiting for another operation.
    public final override func removeDependency(_ operation: Operation) {
        state.withLock { $0.openGate { $0.remove(operation) } }?.open()
    }

    /// Whether it waits for no other operation; ``isReady`` is asked by those who take it into a queue.
    final var hasFinishedDependencies: Bool { state.withLock { $0.dependencies.isSatisfied } }

    func takeDependencies() -> [Operation] {
        state.withLock { $0.takeDependencies() }
    }

    /// The operation is ready as far as its dependencies go.
    func dependenciesFinished() {
        startIfReady()
        enterQueueIfReady()
    }

    private func announceReadiness() {
        willChangeValue(forKey: "isReady")
        didChangeValue(forKey: "isReady")
    }
}

/// How long a cancelled operation waits for its work to return.
private let cancellationGrace = Duration.milliseconds(50)

/// Announces readiness a second time; what reads it in the course of that is not another reader.
private let readinessQueue = {
    let queue = DispatchQueue(label: "RequestOperations.readiness")
    queue.setSpecific(key: announcesReadiness, value: true)
    return queue
}()

private let announcesReadiness = DispatchSpecificKey<Bool>()

extension AsynchronousOperation: CustomReflectable {
    /// No children: an operation holds its request, its configuration and its value.
    public final var customMirror: Mirror { Mirror(opaque: self) }
}
