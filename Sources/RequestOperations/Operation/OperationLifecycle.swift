/// The state of one operation, as a pure state machine. It takes events and returns what to do.
///
/// ```
/// pending ── start ──▶ executing ── decide ──▶ decided ── finish ──▶ finished
///    │                     │                     ▲  ▲
/// cancel, refuse     cancel, fail                │  │
///    ▼                     ▼                     │  │
/// resolved             ending ──── decide ───────┘  │
///    └── start, decide ─────────────────────────────┘
/// ```
///
/// An end has two steps. First the outcome is decided. Its error may then be replaced, by code that must not run under the
/// lock. Then the operation has finished.
///
/// The caller performs the returned actions after it has released the lock. The machine knows how an operation ended,
/// but not with which value. So it is compiled once, and not for every type of value.
struct OperationLifecycle {
    typealias Call = @Sendable () -> Void

    /// How an operation ended.
    enum Ending: Sendable {
        case succeeded
        case failed(any Error)

        init<Success>(_ outcome: Result<Success, any Error>) {
            switch outcome {
            case .success: self = .succeeded
            case .failure(let error): self = .failed(error)
            }
        }
    }

    private enum State {
        case pending
        /// Cancelled or refused before the start. The operation finishes with this error when it is started, as
        /// Foundation's queues demand.
        case resolved(with: any Error)
        /// The Task is `nil` until it has begun, and between two steps.
        case executing(RunningTask?)
        /// The Task was told to stop, or will be when it begins. Whatever it returns, the operation finishes with this
        /// error.
        case ending(RunningTask?, with: any Error)
        /// The outcome is final. It has not been announced yet.
        case decided(Ending, wasExecuting: Bool)
        case finished(Ending)
    }

    // First come the fields that other operations use when one depends on the other.
    var dependencies = Dependencies()
    /// `nil` when all have been notified.
    var dependents: Dependents? = Dependents()
    private var state = State.pending
    private var listeners = Listeners()
    /// While another thread tells the Task to stop: what to call when that is over. That thread does not keep the Task, so
    /// the Task must not end meanwhile.
    private var leavers: [Call]?
    /// What is checked before the operation is ready. `nil` if nothing is.
    var preconditions: Preconditions?
    private(set) var completionBlock: Call?

    // Who starts the operation: see OperationStarter.swift.
    var queued: Queued?
    var owner = Owner.nobody
    /// What the starter lends the operation while it runs. Only the starter knows what it is.
    var place: (any AnyObject & Sendable)?
    var readiness = Readiness.unknown
    var gate: Operation?
    var outsider: Outsider?

    // MARK: What it is

    var isPending: Bool {
        if case .pending = state { true } else { false }
    }

    /// Whether nothing keeps the operation from running now. Queues ask `isReady` instead.
    var mayRun: Bool { isPending && dependencies.isSatisfied }

    /// Whether the operation has not been started yet.
    var awaitsStart: Bool { isPending || isResolved }

    var isExecuting: Bool {
        switch state {
        case .executing, .ending: true
        case .decided(_, let wasExecuting): wasExecuting
        case .pending, .resolved, .finished: false
        }
    }

    /// The error of an operation that was cancelled or refused before its start, and has not finished.
    var resolvedError: (any Error)? {
        if case .resolved(let error) = state { error } else { nil }
    }

    /// Whether the operation will finish without its work when it is started.
    var isResolved: Bool {
        if case .resolved = state { true } else { false }
    }

    /// How the operation ended. `nil` until it has.
    var ending: Ending? {
        if case .finished(let ending) = state { ending } else { nil }
    }

    private var hasFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// Whether the operation's result is or will be a `CancellationError`.
    var isCancelled: Bool {
        switch state {
        case .resolved(let error), .ending(_, let error), .decided(.failed(let error), _),
            .finished(.failed(let error)):
            error is CancellationError
        case .pending, .executing, .decided(.succeeded, _), .finished(.succeeded): false
        }
    }

    /// Whether the operation still waits for the Task that it told to stop.
    var isStopping: Bool {
        if case .ending = state { true } else { false }
    }

    // MARK: Start and steps

    enum StartAction {
        case run
        case finish
        case ignore
    }

    /// Records the start. A second start changes nothing.
    ///
    /// - Parameter starter: The operation whose member this one is. `nil` means a queue, or the user. While a queue takes
    ///   the operation in, another starter has to wait.
    mutating func start(by starter: (any OperationStarter)? = nil) -> StartAction {
        guard noteStart(by: starter) else { return .ignore }
        switch state {
        case .pending:
            state = .executing(nil)
            return .run
        case .resolved: return .finish
        case .executing, .ending, .decided, .finished: return .ignore
        }
    }

    /// Records that the Task of a step has begun. Returns whether that Task must be told to stop.
    mutating func adopt(_ task: RunningTask) -> Bool {
        switch state {
        case .executing: state = .executing(task)
        case .ending(_, let error):
            state = .ending(task, with: error)
            return true
        // The operation was cancelled before its Task began, and has already finished without it.
        case .decided, .finished: return true
        case .pending, .resolved: break
        }
        return false
    }

    /// Records that the Task of a step is about to end, and that another one follows. Returns whether it may end.
    mutating func disown() -> Bool {
        switch state {
        case .executing: state = .executing(nil)
        case .ending(_, let error): state = .ending(nil, with: error)
        case .pending, .resolved, .decided, .finished: break
        }
        return mayLeave
    }

    /// Whether a Task that is no longer the operation's may end: no thread tells it to stop. None begins to tell it.
    var mayLeave: Bool { leavers == nil }

    /// Records that a Task that is no longer the operation's is about to end. Returns whether it may. If not, it waits
    /// until `leaver` is called.
    mutating func leave(_ leaver: @escaping Call) -> Bool {
        leavers?.append(leaver)
        return leavers == nil
    }

    /// Records that the Task has been told to stop. Returns the closures of Tasks that waited for that.
    mutating func wasTold() -> [Call] {
        defer { leavers = nil }
        return leavers ?? []
    }

    // MARK: Cancel and failure

    enum CancelAction {
        /// The value says whether a Task waits for the outcome, so that the wait for the start needs a limit.
        case resolve(waitsForStart: Bool)
        /// Tell the Task to stop, if it has begun. Then call ``wasTold()``.
        case stop(RunningTask?)
        case ignore
    }

    /// Records a cancel. After the finish this changes nothing.
    mutating func cancel() -> CancelAction {
        switch state {
        case .pending: return resolve(with: CancellationError())
        case .executing(let task): return stop(task, with: CancellationError())
        case .ending(let task, let error) where !(error is CancellationError):
            state = .ending(task, with: CancellationError())
            return .resolve(waitsForStart: false)
        case .resolved, .ending, .decided, .finished: return .ignore
        }
    }

    /// Records that the operation must not begin and fails with an error. Changes nothing if it has begun or is resolved.
    mutating func refuse(with error: any Error) -> CancelAction {
        isPending ? resolve(with: error) : .ignore
    }

    /// Records that the operation must end with an error now. Changes nothing if it does not run or is already ending.
    mutating func fail(with error: any Error) -> CancelAction {
        guard case .executing(let task) = state else { return .ignore }
        return stop(task, with: error)
    }

    private mutating func resolve(with error: any Error) -> CancelAction {
        state = .resolved(with: error)
        return .resolve(waitsForStart: listeners.hasAwaiter)
    }

    private mutating func stop(_ task: RunningTask?, with error: any Error) -> CancelAction {
        state = .ending(task, with: error)
        if task != nil { leavers = [] }
        return .stop(task)
    }

    /// Records that the work itself threw a `CancellationError`. Returns whether that is new.
    mutating func noteOwnCancellation() -> Bool {
        guard case .executing(let task) = state else { return false }
        state = .ending(task, with: CancellationError())
        return true
    }

    /// Ends the preconditions of an operation that was resolved before its start.
    mutating func endPreconditions(after action: CancelAction) -> Preconditions.Remains? {
        guard case .resolve = action, isResolved else { return nil }
        return preconditions?.end()
    }

    // MARK: End

    /// Records that the Task returned, or that the operation waits for it no longer. Returns how the operation ends, or
    /// `nil` if that was decided before.
    mutating func decide(_ outcome: Ending) -> Ending? {
        let ending: Ending
        switch state {
        case .pending, .executing: ending = outcome
        case .resolved(let error), .ending(_, let error): ending = .failed(error)
        case .decided, .finished: return nil
        }
        state = .decided(ending, wasExecuting: isExecuting)
        return ending
    }

    /// What remains to be done for an operation that finished.
    struct Finish {
        let ending: Ending
        let wasExecuting: Bool
        let mayLeave: Bool
        let listeners: Listeners
        let dependents: Dependents?
        fileprivate var dependencies: [Operation]
        let completionBlock: Call?
        /// The keys, which are released.
        let remains: Preconditions.Remains?
        let queued: Queued?
        let place: (any AnyObject & Sendable)?
        /// The owner that it had. The caller releases it.
        let owner: Owner
        /// Whether the finish is announced to Foundation now. If not, its queue may think that the operation waits for
        /// the gate. The gate is opened, so that the queue starts the operation.
        let isAnnounced: Bool
        let gate: Operation?

        /// Takes out the dependencies, so that the caller can release them.
        mutating func takeDependencies() -> [Operation] {
            defer { dependencies = [] }
            return dependencies
        }
    }

    /// Records the end, after ``decide(_:)``.
    ///
    /// - Parameter ending: What was decided. Its error may have been replaced.
    mutating func finish(_ ending: Ending) -> Finish {
        defer {
            (dependents, listeners, completionBlock, queued, place) = (nil, Listeners(), nil, nil, nil)
            leaveOwner()
        }
        let (wasExecuting, gate) = (isExecuting, gate)
        state = .finished(ending)
        return Finish(
            ending: ending, wasExecuting: wasExecuting, mayLeave: mayLeave, listeners: listeners,
            dependents: dependents, dependencies: takeDependencies(), completionBlock: completionBlock,
            remains: preconditions?.end(), queued: queued, place: place, owner: owner, isAnnounced: !awaitsQueue,
            gate: gate
        )
    }

    /// Takes what is left when the operation is freed. Returns `nil` if it had finished.
    mutating func takeRest() -> OperationLifecycle? {
        guard !hasFinished else { return nil }
        var rest = OperationLifecycle()
        swap(&self, &rest)
        return rest
    }

    mutating func takeDependencies() -> [Operation] {
        gate = nil
        return dependencies.removeAll()
    }

    // MARK: Listeners

    /// Replaces the completion block, unless the operation has finished. Returns the block that the caller must free
    /// outside the lock.
    mutating func setCompletionBlock(_ block: Call?) -> Call? {
        guard !hasFinished else { return block }
        defer { completionBlock = block }
        return completionBlock
    }

    /// Whether other operations depend on this one, as far as is known.
    var hasDependents: Bool { dependents?.isEmpty == false }

    /// Registers a subscriber to the finish. Returns `true` if the operation has finished, so that the caller must call it
    /// at once.
    ///
    /// - Parameters:
    ///   - wantsResult: Whether the operation must go on for the subscriber when nothing awaits it any more.
    ///   - subscriber: Called when the operation has finished.
    mutating func subscribe(wantsResult: Bool = true, _ subscriber: @escaping Call) -> Bool {
        guard !hasFinished else { return true }
        listeners.append(.subscriber(subscriber, wantsResult: wantsResult))
        return false
    }

    enum AwaitAction {
        case wait
        /// Wait for the start, with a time limit.
        case waitForStart
        /// The operation has finished.
        case goOn
    }

    /// Registers a closure that is called when the outcome is resolved. A cancel before the start resolves it, even if the
    /// finish never comes.
    mutating func addAwaiter(_ id: ObjectIdentifier, _ awaiter: @escaping Call) -> AwaitAction {
        guard !hasFinished else { return .goOn }
        listeners.append(.awaiter(awaiter, id))
        return isResolved ? .waitForStart : .wait
    }

    /// Records that a Task that awaited the outcome gives up. Returns `false` if it has the outcome already.
    mutating func removeAwaiter(_ id: ObjectIdentifier) -> Bool {
        listeners.removeAwaiter(id)
    }

    /// The awaiters of an operation that was cancelled before its start and has not been started in time.
    mutating func endWaitForStart() -> [Call] {
        isResolved ? listeners.removeAwaiters() : []
    }

    /// Whether a Task or a subscriber waits for the result.
    var isAwaited: Bool { listeners.wantResult }
}
