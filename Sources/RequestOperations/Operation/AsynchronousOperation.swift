/// An operation whose work is one `async` function, and whose outcome is one stored result.
///
/// A subclass must override ``run()``. It may override ``completionQueue`` and ``onEnd(_:)``. Add the operation to an
/// `OperationQueue`, or call `start()`. Then take the result in the style that suits you:
///
/// ```swift
/// queue.addOperations([operation], waitUntilFinished: true)  // and then operation.result
/// operation.whenFinished { result in print(result) }
/// let value = try await operation.value
/// ```
///
/// Foundation's contract holds: dependencies (also across queues, and removable before they finish), priorities,
/// `completionBlock`, `waitUntilFinished` and `maxConcurrentOperationCount`. The `qualityOfService` becomes the
/// priority of the Task. The task-local values of the Task that makes the operation hold while it runs. An operation is
/// for one use: a queue traps when it is added a second time.
///
/// ## Cancellation
///
/// `isCancelled` is `true` exactly if the result is or will be a `CancellationError`. So `cancel()` after the finish
/// changes nothing, and a ``run()`` that throws a `CancellationError` cancels the operation. `cancel()` cancels the
/// Task. If ``run()`` has not returned 50 ms later, the operation finishes without it and drops what it returns.
///
/// ## Order
///
/// First the result is stored. Then `isFinished` is announced, on Apple platforms with `isExecuting`. Then Tasks that
/// await the value resume, and `whenFinished` closures run on the ``completionQueue``. All of that happens once. If
/// another operation starts this one as its member, and a queue on Linux also has it, that queue announces the finish
/// when it comes to it.
// Unchecked, as Foundation's Operation is. The lock of `state` guards everything. `success` is written once, under it.
open class AsynchronousOperation<Success: Sendable>: Operation, @unchecked Sendable {
    final let state = Locked(OperationState())
    final let context = TaskContext.current()
    private var success: Success?

    /// Makes an operation that is ready to be started.
    public override init() {
        super.init()
    }

    deinit {
        // A dependency may hold the state for a while. A finished operation has left nothing there.
        guard var rest = state.withLock({ $0.takeRest() }) else { return }
        releaseChain(of: rest.dependencies.removeAll())
    }

    /// The work. Called once, in a Task of its own, after `start()`. Not called if the operation was cancelled before.
    ///
    /// What it returns or throws becomes the ``result``. It should return soon after its Task is cancelled. It traps by
    /// default.
    open func run() async throws -> Success {
        preconditionFailure("\(type(of: self)) must override run().")
    }

    /// The queue on which `whenFinished` closures run. By default a serial queue that all operations share.
    open var completionQueue: DispatchQueue { .completions }

    /// Called once when the operation has its ``result``, before anyone is told of it: observers, awaiting Tasks,
    /// dependent operations and `whenFinished` closures. It runs on the thread that finishes the operation, also for one
    /// that is cancelled before its start, and must return quickly. It does nothing by default.
    open func onEnd(_ result: Result<Success, any Error>) {}

    // MARK: Result

    /// The outcome. `nil` until the operation has finished.
    public final var result: Result<Success, any Error>? {
        state.withLock({ $0.lifecycle.ending }).map(outcome)
    }

    final func outcome(of ending: OperationLifecycle.Ending) -> Result<Success, any Error> {
        switch ending {
        // `success` is set whenever the lifecycle says this.
        case .succeeded: .success(success!)
        case .failed(let error): .failure(error)
        }
    }

    // MARK: Description

    /// One line: the type, what it is about, and the state. For a request, that is its method and the scheme, host and path
    /// of its URL, without user, query and fragment.
    open override var description: String {
        let state =
            switch state.withLock({ $0.lifecycle.ending }) {
            case .succeeded?: "succeeded"
            case .failed(let error)?: error is CancellationError ? "cancelled" : "failed"
            case nil: isCancelled ? "cancelled" : isExecuting ? "executing" : "not started"
            }
        return [subject.map { "\(type(of: self)): \($0)" } ?? "\(type(of: self))", state].joined(separator: ", ")
    }

    /// What a description says that the operation is about. `nil` if there is nothing to say.
    var subject: String? { nil }

    /// Runs a closure for a step of the operation.
    func callBack(_ call: @escaping @Sendable () -> Void) {
        completionQueue.async(execute: call)
    }

    /// Runs a `whenFinished` closure after the end.
    func callBackAfterEnd(_ call: @escaping @Sendable () -> Void) { callBack(call) }

    // MARK: Foundation's contract

    /// Always `true`.
    public final override var isAsynchronous: Bool { true }

    /// Whether the operation was started and has not finished.
    public final override var isExecuting: Bool { state.withLock { $0.lifecycle.isExecuting } }

    /// Whether there is a ``result``.
    public final override var isFinished: Bool { state.withLock { $0.lifecycle.ending != nil } }

    /// Whether the ``result`` is or will be a `CancellationError`.
    public final override var isCancelled: Bool { state.withLock { $0.lifecycle.isCancelled } }

    /// Starts the work, once. Queues call it. It does not wait for dependencies: if you call it, check ``isReady``
    /// first.
    public final override func start() {
        start(by: nil)
    }

    private func start(by starter: MemberStarter?) {
        if Announcement.precedesChange, isExecuting || isFinished { return }
        willChange(.isExecuting)
        let action = state.withLock { $0.start(by: starter) }
        // On Linux a queue can neither take in nor start an operation if it knows that the operation is executing.
        didChange(.isExecuting, if: action == .run && starter == nil)
        switch action {
        case .run:
            if let starter { takePlace(of: starter) }
            let queue = OperationQueue.current ?? starter?.operationQueue
            startStep(after: nil, on: queue, in: context, or: Task.startHere)
        // The settled error takes the place of this one.
        case .finish: finish(.failure(CancellationError()))
        case .ignore: break
        }
    }

    /// Starts the operation as soon as it is ready, unless something else starts it first.
    final func startWhenReady(by starter: MemberStarter) {
        state.withLock { $0.startWhenReady(self, by: starter) }
        checkPreconditions()
        startIfReady()
    }

    final func startIfReady() {
        guard let starter = state.withLock({ $0.takeStarter() }) else { return }
        starter.queue.async { self.start(by: starter) }
    }

    /// Which places of a ``RequestQueue`` the operation takes.
    var placeDemand: PlaceDemand { .whileExecuting }

    /// Called before a queue starts the operation, in the order of starting.
    func willRun(by turn: QueueTurn) {}

    /// Whether the operation holds a place of the queue with this limiter.
    func holdsPlace(of limiter: RequestLimiter) -> Bool {
        state.withLock { $0.membership.limiter === limiter && $0.membership.holdsPlace }
    }

    /// One step of the work. By default all of ``run()`` is one step.
    ///
    /// - Parameter wake: What ended the wait before the step. `nil` for the first step.
    func step(after wake: Wake?) async throws -> Step<Success> {
        .finished(try await run())
    }

    /// Cancels the operation. See the discussion of the class. Can be called from any thread, any number of times.
    public final override func cancel() {
        cancel { _ in true }
    }

    /// Cancels the operation if a condition holds for its state.
    final func cancel(if condition: (OperationState) -> Bool) {
        let (action, remains, wasAsked) = state.withLock { state in
            let action = condition(state) ? state.lifecycle.cancel() : .ignore
            return (action, state.endPreconditions(after: action), state.wasAskedForReadiness)
        }
        if case .ignore = action { return }
        tellFoundationOfCancel(wasAsked: wasAsked)
        if case .settle(waitsForStart: true) = action { limitWaitForStart() }
        remains?.end()
        stop(action)
        startIfReady()
        enterQueueIfReady()
    }

    /// Makes a queue start the cancelled operation soon. Foundation on Linux asks for ``isReady`` in the course of
    /// that. A queue that has not asked yet learns of the cancel when it asks.
    final func tellFoundationOfCancel(wasAsked: Bool) {
        if wasAsked || Announcement.precedesChange { super.cancel() }
    }

    /// A queue soon starts a settled operation, and so finishes it. If none does, awaiting Tasks must not wait
    /// forever.
    final func limitWaitForStart() {
        _ = DeadlineHeap.shared.schedule(at: .now + cancellationGrace) { [weak self] in
            guard let self else { return }
            for awaiter in state.withLock({ $0.lifecycle.giveUpStart() }) { awaiter() }
        }
    }

    /// Ends the operation with an error, as `cancel()` ends it with a `CancellationError`.
    final func fail(with error: any Error) {
        stop(state.withLock { $0.lifecycle.fail(with: error) })
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
        for leaver in state.withLock({ $0.lifecycle.wasTold() }) { leaver() }
    }

    /// Called when ``run()`` is told to stop, before its Task is cancelled.
    func runWasStopped() {}

    /// The Task did not return in time, so the operation finishes without it.
    private func abandon() {
        guard state.withLock({ $0.lifecycle.isStopping }) else { return }
        finish(.failure(CancellationError()), abandoningRun: true)
    }

    /// Called when the operation finished without waiting for ``run()``, before the result is announced.
    func runWasAbandoned() {}

    /// The error that the operation fails with, made from the one that decided its outcome. Called once for an operation
    /// that fails, before anyone is told. Not called after a cancel.
    func finalError(_ error: any Error) -> any Error { error }

    /// The error of an operation that ends before its start, made from the one that says why.
    func refusal(_ error: any Error) -> any Error { error }

    /// Called once, when the result is stored and before it is announced.
    func willAnnounce(_ ending: OperationLifecycle.Ending) {}

    final func finish(_ outcome: Result<Success, any Error>, abandoningRun: Bool = false) {
        guard let outcome = decide(outcome) else { return }
        willChange(.isExecuting)
        willChange(.isFinished)
        var finish = state.withLock { end(&$0, with: outcome) }
        if abandoningRun { runWasAbandoned() }
        onEnd(outcome)
        willAnnounce(finish.published.ending)
        finish.departure?.giveBack(counting: finish.published.wasExecuting)
        // Foundation on Linux derives one announcement from the other.
        if Announcement.precedesChange { didChange(.isExecuting, if: finish.published.wasExecuting) }
        didChange(.isFinished, if: finish.isAnnounced)
        finish.openGate()
        finish.remains?.end()
        finish.departure?.end(for: self)
        // This comes first, because it may start other operations while this thread goes on.
        finish.dependents.tell(of: ObjectIdentifier(self))
        if let completionBlock = finish.completionBlock {
            // Like Foundation, keeps the operation until its block has returned.
            DispatchQueue.global().async { [self] in withExtendedLifetime(self, completionBlock) }
        }
        releaseChain(of: finish.takeDependencies())
        for awaiter in finish.published.awaiters { awaiter() }
        finish.published.subscribers.callAll()
        wasAnnounced()
    }

    /// Called once, when everybody has been told of the result.
    func wasAnnounced() {}

    /// Decides how the operation ends. An operation that was told to stop drops its value. Returns `nil` if the outcome
    /// was decided before.
    private func decide(_ outcome: Result<Success, any Error>) -> Result<Success, any Error>? {
        switch state.withLock({ $0.lifecycle.decide(OperationLifecycle.Ending(outcome)) }) {
        case .succeeded: outcome
        case .failed(let error): .failure(error is CancellationError ? error : finalError(error))
        case nil: nil
        }
    }

    /// Ends the lifecycle and stores the value. Called under the lock of the state.
    private func end(
        _ state: inout OperationState, with outcome: Result<Success, any Error>
    ) -> OperationState.Finish {
        if case .success(let value) = outcome { success = value }
        return state.finish(OperationLifecycle.Ending(outcome))
    }

    /// Called once, on a global queue, when the operation has finished, and then freed. A block that is set later is
    /// dropped.
    // On Linux any thread that sees `isFinished` may announce the finish, and reads Foundation's block without a lock.
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

    /// Whether all dependencies have finished and all conditions are met, or the operation was cancelled.
    ///
    /// The first read as `true` is when the operation counts as ready. It starts the deadline of a
    /// ``URLRequestOperation``, in a queue or not, because Foundation's queues give no other sign.
    public final override var isReady: Bool {
        // The barriers of a queue are still in Foundation's own table.
        let isReady = super.isReady
        let isOwnRead = Readiness.isBeingAnnounced
        let (answer, change, gate, check) = state.withLock { state in
            let answer = state.lifecycle.isSettled || isReady && state.dependencies.isSatisfied
            let isWaiting = state.mayBeStartedByQueue && !isOwnRead
            let change = state.readiness.update(to: answer, isWaiting: isWaiting, isHeld: state.membership.isHeld)
            // Making an existential of `self` costs more than all the rest here, so we do it only if it is needed.
            let gate = state.needsGateForReader ? state.makeGate(of: self) : nil
            return (answer, change, gate, state.beginCheck())
        }
        if change.isTurn { answer ? becameReady() : becameUnready() }
        if change.isToBeAnnounced { Readiness.queue.async { self.announceReadiness() } }
        if let gate { super.addDependency(gate) }
        if let check { run(check, isAsked: true) }
        guard gate != nil else { return answer }
        // If the gate opened before Foundation knew of it, Foundation would not hear of that. So we ask again.
        return self.isReady
    }

    /// Called when the operation is found to be ready, for the first time or again.
    func becameReady() {}

    /// Called when an operation that was ready is found not to be ready.
    func becameUnready() {}

    /// The operations that this one waits for or has waited for, in the order of adding. Empty once it has finished.
    public final override var dependencies: [Operation] { state.withLock { $0.dependencies.operations } }

    /// Makes this operation wait until another has finished, in any queue and with any outcome. Adding one twice, or
    /// after the start, changes nothing. A foreign dependency is kept until it has finished, even if it is removed.
    public final override func addDependency(_ operation: Operation) {
        depend(on: operation, ifFails: .run)
    }

    final func depend(on operation: Operation, ifFails rule: FailedDependencyRule) {
        let (isNew, gate) = state.withLock { $0.addDependency(operation, ifFails: rule, of: self) }
        if let gate { super.addDependency(gate) }
        if isNew { operation.announceFinish(to: state) }
    }

    /// Adds something that is checked before the operation is ready.
    final func addPrecondition(_ change: (inout Preconditions) -> Void) {
        let (gate, check) = state.withLock { state in
            let gate = state.add(of: self, change)
            return (gate, state.beginCheck())
        }
        if let gate { super.addDependency(gate) }
        if let check { run(check) }
    }

    /// Stops waiting for another operation.
    public final override func removeDependency(_ operation: Operation) {
        state.withLock { $0.openGate { $0.remove(operation) } }?.open()
    }

    /// Whether nothing keeps the operation from running now. Queues ask ``isReady`` instead.
    final var mayRun: Bool { state.withLock { $0.lifecycle.isPending && $0.dependencies.isSatisfied } }

    func takeDependencies() -> [Operation] {
        state.withLock { $0.takeDependencies() }
    }

    /// All dependencies have finished, or the hold has ended that is left after them.
    func dependenciesFinished() {
        checkPreconditions()
        startIfReady()
        enterQueueIfReady()
    }

    private func announceReadiness() {
        willChangeValue(forKey: "isReady")
        didChangeValue(forKey: "isReady")
    }
}

extension AsynchronousOperation: CustomReflectable {
    /// No children, because an operation holds its request, its configuration and its value.
    public final var customMirror: Mirror { Mirror(opaque: self) }
}

/// How long a cancelled operation waits for its work to return.
private let cancellationGrace = Duration.milliseconds(50)
