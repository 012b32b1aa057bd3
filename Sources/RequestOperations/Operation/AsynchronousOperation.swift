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
/// `isCancelled` is `true` if, and only if, the result is or will be a `CancellationError`. So `cancel()` after the
/// finish changes nothing, and a ``run()`` that throws a `CancellationError` cancels the operation. `cancel()` cancels
/// the Task. If ``run()`` has not returned 50 ms later, the operation finishes anyway and drops the value that
/// ``run()`` returns later.
///
/// ## Order
///
/// First the result is stored. Then `isFinished` is announced, on Apple platforms with `isExecuting`. Then Tasks that
/// await the value resume, and `whenFinished` closures run on the ``completionQueue``. All of that happens once. On
/// Linux, a queue may also have an operation that another one starts as its member. That queue announces the finish
/// when the operation's turn comes.
// Unchecked, as Foundation's Operation is. The lock of `state` guards everything. `success` is written once, under it.
open class AsynchronousOperation<Success: Sendable>: Operation, @unchecked Sendable {
    final let state = Locked(OperationLifecycle())
    final let context = TaskContext.current()
    /// The value of an operation that succeeded.
    final var success: Success?

    /// Makes an operation that is ready to be started.
    public override init() {
        super.init()
    }

    deinit {
        // A dependency may hold the state for a while. A finished operation has left nothing there.
        guard var rest = state.withLock({ $0.takeRest() }) else { return }
        rest.preconditions?.end()?.end()
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

    /// Called once when the operation has its ``result``, even if it was cancelled before its start. Observers, awaiting
    /// Tasks, dependent operations and `whenFinished` closures get the result afterwards. It runs on the thread that
    /// finishes the operation and must return quickly. It does nothing by default.
    open func onEnd(_ result: Result<Success, any Error>) {}

    // MARK: Result

    /// The outcome. `nil` until the operation has finished.
    public final var result: Result<Success, any Error>? {
        state.withLock({ $0.ending }).map(outcome)
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
            switch state.withLock({ $0.ending }) {
            case .succeeded?: "succeeded"
            case .failed(let error)?: error is CancellationError ? "cancelled" : "failed"
            case nil: isCancelled ? "cancelled" : isExecuting ? "executing" : "not started"
            }
        return [subject.map { "\(type(of: self)): \($0)" } ?? "\(type(of: self))", state].joined(separator: ", ")
    }

    // MARK: Hooks of this package

    /// What a description says that the operation is about. `nil` if there is nothing to say.
    var subject: String? { nil }

    /// Whether the operation takes a place of its starter.
    var takesPlace: Bool { true }

    /// The host of the attempts that the operation makes. `nil` if it makes none.
    var origin: Origin? { nil }

    /// One step of the work. By default all of ``run()`` is one step.
    ///
    /// - Parameter wait: The wait before the step, which is over. `nil` for the first step.
    func step(after wait: (any StepWait)?) async throws -> Step<Success> { .finished(try await run()) }

    /// Called when the operation is found to be ready, for the first time or again.
    func becameReady() {}

    /// Called when an operation that was ready is found not to be ready.
    func becameUnready() {}

    /// Called when ``run()`` is told to stop, before its Task is cancelled.
    func runWasStopped() {}

    /// Called when the operation finished without waiting for ``run()``, before the result is announced.
    func runWasAbandoned() {}

    /// The error that the operation fails with, made from the one that decided its outcome. Called once for an operation
    /// that fails, before the result is announced. Not called after a cancel.
    func finalError(_ error: any Error) -> any Error { error }

    /// The error of an operation that ends before its start, made from the error that ends it.
    func refusal(_ error: any Error) -> any Error { error }

    /// Called once, when the result is stored and before it is announced.
    func willAnnounce(_ ending: OperationLifecycle.Ending) {}

    /// Called once, after the result has been announced.
    func wasAnnounced() {}

    /// Runs a closure for a step of the operation.
    func callBack(_ call: @escaping @Sendable () -> Void) {
        completionQueue.async(execute: call)
    }

    /// Runs a `whenFinished` closure after the end.
    func callBackAfterEnd(_ call: @escaping @Sendable () -> Void) { callBack(call) }

    /// Calls a closure each time that the operation begins to wait before another attempt.
    func subscribeToRetries(_ body: @escaping @Sendable () -> Void) {}

    /// Takes out the dependencies of an operation that nothing else refers to.
    func takeDependencies() -> [Operation] {
        state.withLock { $0.takeDependencies() }
    }

    // MARK: Foundation's contract

    /// Always `true`.
    public final override var isAsynchronous: Bool { true }

    /// Whether the operation was started and has not finished.
    public final override var isExecuting: Bool { state.withLock { $0.isExecuting } }

    /// Whether there is a ``result``.
    public final override var isFinished: Bool { state.withLock { $0.ending != nil } }

    /// Whether the ``result`` is or will be a `CancellationError`.
    public final override var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Starts the work, once. Queues call it. It does not wait for dependencies: if you call it, check ``isReady``
    /// first.
    public final override func start() { start(by: nil) }

    /// Cancels the operation. See the discussion of the class. Can be called from any thread, any number of times.
    public final override func cancel() {
        cancel { _ in true }
    }

    /// Makes a queue start the cancelled operation soon. Meanwhile Foundation on Linux reads ``isReady``. A queue that
    /// has not asked yet learns of the cancel when it asks.
    final func notifyFoundationOfCancel(wasAsked: Bool) {
        if wasAsked || Announcement.precedesChange { super.cancel() }
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

    /// Whether all dependencies have finished and all conditions are met, or the operation was cancelled.
    ///
    /// The operation counts as ready when this is first read as `true`. That also starts the deadline of a request, in a
    /// queue or not, because Foundation's queues give no other sign.
    public final override var isReady: Bool {
        let foundationAgrees = super.isReady
        // Making an existential of `self` costs more than all the rest here, so it is made only if it is needed.
        let reading = state.withLock {
            $0.read(foundationAgrees: foundationAgrees, isAnnounced: DispatchQueue.isReadinessAnnounced, of: self)
        }
        if reading.isTurn { reading.isReady ? becameReady() : becameUnready() }
        if reading.isToBeAnnounced { DispatchQueue.readiness.async { self.announceReadiness() } }
        if let gate = reading.gate { super.addDependency(gate) }
        if let check = reading.check { run(check, isAsked: true) }
        guard reading.gate != nil else { return reading.isReady }
        // If the gate opened before Foundation knew of the gate, Foundation would miss that. So we ask again.
        return self.isReady
    }

    private func announceReadiness() {
        willChangeValue(forKey: "isReady")
        didChangeValue(forKey: "isReady")
    }

    /// The operations that this one waits for or has waited for, in the order of adding. Empty once it has finished.
    public final override var dependencies: [Operation] { state.withLock { $0.dependencies.operations } }

    /// Makes this operation wait until another has finished, in any queue and with any outcome. Adding a dependency
    /// twice, or after the start, changes nothing. A dependency that is no ``AsynchronousOperation`` is kept in memory
    /// until it has finished, even if it is removed.
    public final override func addDependency(_ operation: Operation) {
        addDependency(operation, ifFails: .run)
    }

    /// Makes this operation wait until another has finished, and sets what follows if the other one fails.
    ///
    /// ```swift
    /// upload.addDependency(login, ifFails: .cancel)
    /// ```
    ///
    /// The error of the dependency is ``RequestError/underlying`` of this operation's error. If several dependencies have
    /// failed, the error of the one that was added first counts. `isCancelled` stays `false`, because it means a
    /// `CancellationError`.
    ///
    /// Add the dependency before you add this operation to a queue. If the other dependencies have been checked
    /// already, the rule counts as ``FailedDependencyRule/run``.
    ///
    /// - Parameters:
    ///   - operation: The dependency, an operation of any class in any queue. If it was added before, this call sets
    ///     its rule.
    ///   - rule: What its failure means.
    public final func addDependency(_ operation: Operation, ifFails rule: FailedDependencyRule) {
        let (isNew, gate) = state.withLock { $0.addDependency(operation, ifFails: rule, of: self) }
        if let gate { super.addDependency(gate) }
        if isNew { operation.announceFinish(to: state) }
    }

    /// Adds something that is checked before the operation is ready.
    final func addPrecondition(_ change: (inout Preconditions) -> Void) {
        let (gate, check) = state.withLock { ($0.add(of: self, change), $0.beginCheck()) }
        if let gate { super.addDependency(gate) }
        if let check { run(check) }
    }

    /// Stops waiting for another operation.
    public final override func removeDependency(_ operation: Operation) {
        state.withLock { state in
            state.preconditions?.forgetRule(of: operation)
            return state.open { $0.remove(operation) }
        }?.open()
    }
}

// An operation holds its request, its configuration and its value.
extension AsynchronousOperation: OpaqueReflectable {}

extension DispatchQueue {
    /// Runs `whenFinished` closures one at a time, unless an operation has another queue.
    static let completions = DispatchQueue(label: "RequestOperations.completions")

    /// Announces readiness a second time. A read of `isReady` on this queue comes from that announcement, and not from
    /// another reader.
    fileprivate static let readiness = {
        let queue = DispatchQueue(label: "RequestOperations.readiness")
        queue.setSpecific(key: readinessKey, value: true)
        return queue
    }()

    private static let readinessKey = DispatchSpecificKey<Bool>()

    /// Whether the current code runs on that queue.
    fileprivate static var isReadinessAnnounced: Bool { getSpecific(key: readinessKey) == true }
}
