/// An operation whose work is one `async` function, and whose outcome is one stored result.
///
/// Subclasses override ``run()`` and nothing else. Add the operation to an `OperationQueue`, or call `start()`; then take
/// the result in the style that suits you:
///
/// ```swift
/// queue.addOperations([operation], waitUntilFinished: true); operation.result
/// operation.whenFinished { result in … }
/// queue.addOperation(operation); let value = try await operation.value
/// ```
///
/// Foundation's contract holds: dependencies, across queues too and removable before they finish, priorities,
/// `completionBlock`, `waitUntilFinished`, `maxConcurrentOperationCount`. The `qualityOfService` becomes the priority of
/// the Task; the task-local values of the place where the operation was made hold while it runs. Like any operation it is
/// for one use: a queue traps when an operation is added a second time.
///
/// ## Cancellation
///
/// `isCancelled` is `true` exactly if the result is a `CancellationError` or is bound to be: `cancel()` after the finish
/// changes nothing, and a `CancellationError` out of ``run()`` cancels the operation. `cancel()` cancels the Task; if
/// ``run()`` has not returned 50 ms later, the operation finishes without it, and what it returns is dropped.
///
/// ## Order
///
/// The result is stored, then `isExecuting` and `isFinished` are announced, then completions run: awaiting tasks resume,
/// `whenFinished` closures are called on the ``completionQueue``. All of that happens once.
// Unchecked as Foundation's own Operation is: all state of this class is in `state`, and `success` is written once, under
// its lock, before the lifecycle says so.
open class AsynchronousOperation<Success: Sendable>: Operation, @unchecked Sendable {
    private let state = Locked(OperationState())
    private let context = TaskContext.current()
    private var success: Success?

    /// Makes an operation that is ready to be started.
    public override init() {
        super.init()
    }

    deinit {
        releaseChain(of: state.withLock { $0.dependencies.removeAll() })
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
        switch state.withLock({ $0.lifecycle.ending }) {
        // A lifecycle that says so has a value.
        case .succeeded: .success(success!)
        case .failed(let error): .failure(error)
        case nil: nil
        }
    }

    /// The value, awaited; it can be awaited any number of times.
    ///
    /// Cancelling the Task that awaits cancels the operation; if that was not started yet, the Task is resumed at once.
    ///
    /// - Throws: The failure of the ``result``.
    public final var value: Success {
        get async throws {
            if let result { return try result.get() }
            let answer = Answer<Success>()
            subscribe { answer.resume(with: $0) }
            return try await withTaskCancellationHandler {
                try await answer.value
            } onCancel: {
                cancel()
                // An operation that was not started yet may never be.
                let waitsForStart = state.withLock { $0.lifecycle.isCancelledBeforeStart }
                if waitsForStart { answer.resume(with: .failure(CancellationError())) }
            }
        }
    }

    /// Calls a closure with the result, once, on the ``completionQueue``; at once if there is a result already.
    public final func whenFinished(_ completion: @escaping @Sendable (Result<Success, any Error>) -> Void) {
        let queue = completionQueue
        subscribe { result in queue.async { completion(result) } }
    }

    /// Calls a subscriber with the result on whatever thread has it.
    private func subscribe(_ subscriber: @escaping @Sendable (Result<Success, any Error>) -> Void) {
        // Subscribers are called by the operation itself, which has a result then.
        subscribeToFinish { [unowned self] in subscriber(result!) }
    }

    final func subscribeToFinish(_ subscriber: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.lifecycle.subscribe(subscriber) }) { subscriber() }
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

    /// Starts the work; queues call it. A second call does nothing.
    public final override func start() {
        willChangeValue(forKey: "isExecuting")
        let action = state.withLock { $0.lifecycle.start() }
        didChangeValue(forKey: "isExecuting")
        switch action {
        case .run: launch(on: .current)
        case .finish: finish(.failed(CancellationError()))
        case .ignore: break
        }
    }

    /// Starts the operation on a queue as soon as it is ready, unless somebody else starts it before.
    final func startWhenReady(on queue: DispatchQueue) {
        state.withLock { $0.starter = queue }
        startIfReady()
    }

    private func startIfReady() {
        let queue = state.withLock { state -> DispatchQueue? in
            guard state.lifecycle.isCancelled || state.dependencies.isSatisfied else { return nil }
            defer { state.starter = nil }
            return state.starter
        }
        queue?.async { self.start() }
    }

    private func launch(on queue: OperationQueue?) {
        let priority = qualityOfService.taskPriority
        let body: TaskContext.Body = { await self.execute(on: queue) }
        if let context {
            context.run(priority: priority, body)
        } else {
            Task.startHere(priority: priority, body)
        }
    }

    /// Cancels the operation; see the discussion of the class. Can be called from any thread, any number of times.
    public final override func cancel() {
        let action = state.withLock { $0.lifecycle.cancel() }
        if case .ignore = action { return }
        super.cancel()
        stop(action)
        startIfReady()
    }

    /// Ends the operation with an error as `cancel()` ends it with a `CancellationError`.
    final func fail(with error: any Error) {
        stop(state.withLock { $0.lifecycle.fail(with: error) })
    }

    private func stop(_ action: OperationLifecycle.CancelAction) {
        guard case .stop(let task) = action else { return }
        runWasStopped()
        task?.cancel()
        _ = DeadlineHeap.shared.schedule(at: .now + cancellationGrace) { [weak self] in
            // Observers of the finish must not keep the deadlines of others waiting.
            DispatchQueue.global().async { [weak self] in self?.abandon() }
        }
    }

    /// Called when ``run()`` is told to stop, before its Task is cancelled.
    func runWasStopped() {}

    /// The Task did not return in its grace: the operation finishes without it.
    private func abandon() {
        guard state.withLock({ $0.lifecycle.isStopping }) else { return }
        finish(.failed(CancellationError()), abandoningRun: true)
    }

    /// Called when the operation finished without waiting any longer for ``run()``, before anybody hears of the result.
    func runWasAbandoned() {}

    /// Called once, when the result is stored and before anybody hears of it.
    func willAnnounce(_ ending: OperationLifecycle.Ending) {}

    private func execute(on queue: OperationQueue?) async {
        let task = RunningTask.current()
        if state.withLock({ $0.lifecycle.adopt(task) }) { task.cancel() }
        do {
            let value = try await OperationQueue.$ofCurrentOperation.withValue(queue) { try await run() }
            finish(.succeeded, with: value)
        } catch {
            if error is CancellationError { noteOwnCancellation() }
            finish(.failed(error))
        }
    }

    /// The work said that it was cancelled, so the operation was.
    private func noteOwnCancellation() {
        if case .stop = state.withLock({ $0.lifecycle.fail(with: CancellationError()) }) { super.cancel() }
    }

    private func finish(
        _ outcome: OperationLifecycle.Ending, with value: Success? = nil, abandoningRun: Bool = false
    ) {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        let (published, dependencies) = state.withLock { state in
            let published = state.lifecycle.finish(outcome)
            if case .succeeded = published?.ending { success = value }
            return (published, published == nil ? [] : state.dependencies.removeAll())
        }
        if let published {
            if abandoningRun { runWasAbandoned() }
            willAnnounce(published.ending)
        }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
        guard let published else { return }
        releaseCompletionBlock()
        releaseChain(of: dependencies)
        for subscriber in published.subscribers { subscriber() }
    }

    // MARK: Dependencies

    /// Whether all dependencies have finished, or the operation was cancelled.
    public final override var isReady: Bool {
        // Foundation's own table still holds the barriers of a queue.
        let isReady = super.isReady
        let isOwnRead = DispatchQueue.getSpecific(key: announcesReadiness) == true
        let (answer, change) = state.withLock { state in
            let answer = state.lifecycle.isCancelled || isReady && state.dependencies.isSatisfied
            let isWaiting = state.lifecycle.isPending && !isOwnRead
            return (answer, state.readiness.update(to: answer, isWaiting: isWaiting))
        }
        if change.isTurn { answer ? becameReady() : becameUnready() }
        if change.isToBeAnnounced { readinessQueue.async { self.announceReadiness() } }
        return answer
    }

    /// Called when the operation is seen to be ready, for the first time or again.
    func becameReady() {}

    /// Called when the operation, which was ready, is seen not to be.
    func becameUnready() {}

    /// The operations that this one waits for or has waited for, in the order in which they were added; none once it
    /// has finished.
    public final override var dependencies: [Operation] { state.withLock { $0.dependencies.operations } }

    /// Makes this operation wait until another has finished, whatever its outcome and its queue. Adding one twice, or after
    /// the start, changes nothing.
    public final override func addDependency(_ operation: Operation) {
        let isNew = state.withLock { state in
            state.lifecycle.isPending && state.dependencies.add(operation)
        }
        guard isNew else { return }
        let id = ObjectIdentifier(operation)
        operation.announceFinish { [weak self] in self?.noteFinished(id) }
        announceReadiness()
    }

    /// Stops waiting for another operation.
    public final override func removeDependency(_ operation: Operation) {
        if state.withLock({ $0.dependencies.remove(operation) }) { announceReadiness() }
    }

    func takeDependencies() -> [Operation] {
        state.withLock { $0.dependencies.removeAll() }
    }

    private func noteFinished(_ dependency: ObjectIdentifier) {
        if state.withLock({ $0.dependencies.noteFinished(dependency) }) { announceReadiness() }
    }

    private func announceReadiness() {
        willChangeValue(forKey: "isReady")
        didChangeValue(forKey: "isReady")
        startIfReady()
    }
}

/// How long a cancelled operation waits for its work to return.
private let cancellationGrace = Duration.milliseconds(50)

/// The state of one operation. Outside the generic class, so that it is compiled once.
private struct OperationState {
    var lifecycle = OperationLifecycle()
    var dependencies = DependencyTable()
    var readiness = Readiness.unknown
    /// Where the operation is to be started once it is ready.
    var starter: DispatchQueue?
}

/// What the readers of `isReady` were last told.
///
/// A queue of Foundation's that reads "not ready" while it takes an operation in may miss the announcement that comes
/// meanwhile: it stores its answer afterwards, reads again, and does nothing about the new answer until it is told to. So
/// whoever reads "ready" of an operation that had to wait and is not started yet causes another announcement, a bounded
/// number of times.
private enum Readiness {
    case unknown
    case notReady
    case ready(announcementsLeft: Int)

    struct Change {
        var isTurn = false
        var isToBeAnnounced = false
    }

    private static let announcements = 8

    mutating func update(to isReady: Bool, isWaiting: Bool) -> Change {
        switch (self, isReady) {
        case (.unknown, true):
            self = .ready(announcementsLeft: 0)
            return Change(isTurn: true)
        case (.notReady, true):
            self = .ready(announcementsLeft: Self.announcements)
            return Change(isTurn: true, isToBeAnnounced: true)
        case (.ready(let left), true):
            guard isWaiting, left > 0 else { return Change() }
            self = .ready(announcementsLeft: left - 1)
            return Change(isToBeAnnounced: true)
        case (.ready, false):
            self = .notReady
            return Change(isTurn: true)
        case (.unknown, false), (.notReady, false):
            self = .notReady
            return Change()
        }
    }
}

/// Announces readiness a second time; what reads it in the course of that is not another reader.
private let readinessQueue = {
    let queue = DispatchQueue(label: "RequestOperations.readiness")
    queue.setSpecific(key: announcesReadiness, value: true)
    return queue
}()

private let announcesReadiness = DispatchSpecificKey<Bool>()
