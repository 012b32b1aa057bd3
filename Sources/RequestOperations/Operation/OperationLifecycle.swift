/// The life of one operation, as a pure state machine. It takes events and returns what to do.
///
/// ```
/// pending ── start ──▶ executing ── decide ──▶ decided ── finish ──▶ finished
///    │                     │                     ▲  ▲
/// cancel, refuse     cancel, fail                │  │
///    ▼                     ▼                     │  │
/// settled              ending ──── decide ───────┘  │
///    └── start, decide ─────────────────────────────┘
/// ```
///
/// An end has two steps. First the outcome is decided. Its error may then be replaced, by code that must not run under the
/// lock. Then the operation has finished.
///
/// The caller performs the returned actions after it has released the lock. The machine knows how an operation ended,
/// but not with which value. So it is compiled once, and not for every type of value.
struct OperationLifecycle: Sendable {
    typealias Subscriber = @Sendable () -> Void

    /// The subscribers to the finish. There is mostly one at most, and an array would cost one more object.
    struct Subscribers: Sendable {
        private var first: Subscriber?
        private var others: [Subscriber] = []

        mutating func append(_ subscriber: @escaping Subscriber) {
            if first == nil { first = subscriber } else { others.append(subscriber) }
        }

        /// Calls all subscribers in the order in which they came.
        func callAll() {
            first?()
            for subscriber in others { subscriber() }
        }
    }

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
        case settled(with: any Error)
        /// The Task is `nil` until it has begun, and between two steps.
        case executing(RunningTask?)
        /// The Task was told to stop, or will be when it begins. Whatever it returns, the operation finishes with this
        /// error.
        case ending(RunningTask?, with: any Error)
        /// Nothing changes the outcome any more. Nobody has been told of it yet.
        case decided(Ending, wasExecuting: Bool)
        case finished(Ending)
    }

    private var state = State.pending
    /// Whether another thread is telling the Task to stop. That thread does not keep the Task, so the Task must not end
    /// meanwhile.
    private var isBeingTold = false
    /// Called when that is over.
    private var leavers: [Subscriber] = []
    private var subscribers = Subscribers()
    /// Called when the outcome is settled. A cancel before the start settles it, even if the finish never comes.
    private var awaiters: [(id: ObjectIdentifier, call: Subscriber)] = []
    /// Whether a subscriber wants the result.
    private var isSubscribedForResult = false

    var isPending: Bool {
        if case .pending = state { true } else { false }
    }

    /// Whether the operation has not been started yet.
    var awaitsStart: Bool {
        switch state {
        case .pending, .settled: true
        case .executing, .ending, .decided, .finished: false
        }
    }

    var isExecuting: Bool {
        switch state {
        case .executing, .ending: true
        case .decided(_, let wasExecuting): wasExecuting
        case .pending, .settled, .finished: false
        }
    }

    /// The error of an operation that was cancelled or refused before its start, and has not finished.
    var settledError: (any Error)? {
        if case .settled(let error) = state { error } else { nil }
    }

    /// Whether the operation will finish without its work when it is started.
    var isSettled: Bool { settledError != nil }

    /// How the operation ended. `nil` until it has.
    var ending: Ending? {
        if case .finished(let ending) = state { ending } else { nil }
    }

    /// Whether the operation's result is or will be a `CancellationError`.
    var isCancelled: Bool {
        switch state {
        case .settled(let error), .ending(_, let error), .decided(.failed(let error), _), .finished(.failed(let error)):
            error is CancellationError
        case .pending, .executing, .decided(.succeeded, _), .finished(.succeeded): false
        }
    }

    /// Whether the operation still waits for the Task that it told to stop.
    var isStopping: Bool {
        if case .ending = state { true } else { false }
    }

    enum StartAction {
        case run
        case finish
        case ignore
    }

    /// Records the start. A second start changes nothing.
    mutating func start() -> StartAction {
        switch state {
        case .pending:
            state = .executing(nil)
            return .run
        case .settled:
            return .finish
        case .executing, .ending, .decided, .finished:
            return .ignore
        }
    }

    /// Records that the Task of a step has begun. Returns whether that Task must be told to stop.
    mutating func adopt(_ task: RunningTask) -> Bool {
        switch state {
        case .executing:
            state = .executing(task)
            return false
        case .ending(_, let error):
            state = .ending(task, with: error)
            return true
        case .decided, .finished:
            // The operation was cancelled before its Task began, and has already finished without it.
            return true
        case .pending, .settled:
            return false
        }
    }

    /// Records that the Task of a step is about to end, and that another one follows.
    mutating func disown() {
        switch state {
        case .executing: state = .executing(nil)
        case .ending(_, let error): state = .ending(nil, with: error)
        case .pending, .settled, .decided, .finished: break
        }
    }

    /// Whether a Task that is no longer the operation's may end.
    var mayLeave: Bool { !isBeingTold }

    /// Records that a Task that is no longer the operation's is about to end. Returns whether it may. If not, it waits
    /// until `leaver` is called.
    mutating func leave(_ leaver: @escaping Subscriber) -> Bool {
        guard isBeingTold else { return true }
        leavers.append(leaver)
        return false
    }

    /// Records that the Task has been told to stop. Returns the closures of Tasks that waited for that.
    mutating func wasTold() -> [Subscriber] {
        isBeingTold = false
        defer { leavers = [] }
        return leavers
    }

    enum CancelAction {
        /// The value says whether a Task waits for the outcome, so that the wait for the start needs a limit.
        case settle(waitsForStart: Bool)
        /// Tell the Task to stop, if it has begun. Then call ``wasTold()``.
        case stop(RunningTask?)
        case ignore
    }

    /// Records a cancel. After the finish this changes nothing.
    mutating func cancel() -> CancelAction {
        switch state {
        case .pending:
            return settle(with: CancellationError())
        case .executing(let task):
            return stop(task, with: CancellationError())
        case .ending(let task, let error) where !(error is CancellationError):
            state = .ending(task, with: CancellationError())
            return .settle(waitsForStart: false)
        case .settled, .ending, .decided, .finished:
            return .ignore
        }
    }

    /// Records that the operation must not begin and fails with an error. Changes nothing if it has begun or is settled.
    mutating func refuse(with error: any Error) -> CancelAction {
        guard case .pending = state else { return .ignore }
        return settle(with: error)
    }

    private mutating func settle(with error: any Error) -> CancelAction {
        state = .settled(with: error)
        return .settle(waitsForStart: !awaiters.isEmpty)
    }

    /// Records that the operation must end with an error now. Changes nothing if it is already ending.
    mutating func fail(with error: any Error) -> CancelAction {
        guard case .executing(let task) = state else { return .ignore }
        return stop(task, with: error)
    }

    private mutating func stop(_ task: RunningTask?, with error: any Error) -> CancelAction {
        state = .ending(task, with: error)
        isBeingTold = task != nil
        return .stop(task)
    }

    /// Records that the work itself threw a `CancellationError`. Returns whether that is new.
    mutating func noteOwnCancellation() -> Bool {
        guard case .executing(let task) = state else { return false }
        state = .ending(task, with: CancellationError())
        return true
    }

    /// What follows from a finish.
    struct Finish {
        let ending: Ending
        let wasExecuting: Bool
        let subscribers: Subscribers
        let awaiters: [Subscriber]
    }

    /// Records that the Task returned, or that the operation waits for it no longer. Returns how the operation ends, or
    /// `nil` if that was decided before.
    mutating func decide(_ outcome: Ending) -> Ending? {
        let ending: Ending
        switch state {
        case .pending, .executing: ending = outcome
        case .settled(let error), .ending(_, let error): ending = .failed(error)
        case .decided, .finished: return nil
        }
        state = .decided(ending, wasExecuting: isExecuting)
        return ending
    }

    /// Records the end, after ``decide(_:)``.
    ///
    /// - Parameter ending: What was decided. Its error may have been replaced.
    mutating func finish(_ ending: Ending) -> Finish {
        let wasExecuting = isExecuting
        state = .finished(ending)
        defer { (subscribers, awaiters) = (Subscribers(), []) }
        return Finish(
            ending: ending, wasExecuting: wasExecuting, subscribers: subscribers, awaiters: awaiters.map(\.call))
    }

    /// Registers a subscriber. Returns `true` if the operation has finished, so that the caller must call it at once.
    ///
    /// - Parameters:
    ///   - wantsResult: Whether the operation must go on for the subscriber when nothing awaits it any more.
    ///   - subscriber: Called when the operation has finished.
    mutating func subscribe(wantsResult: Bool = true, _ subscriber: @escaping Subscriber) -> Bool {
        if case .finished = state { return true }
        if wantsResult { isSubscribedForResult = true }
        subscribers.append(subscriber)
        return false
    }

    enum AwaitAction {
        case wait
        /// Wait for the start, with a time limit.
        case waitForStart
        /// The operation has finished.
        case goOn
    }

    /// Registers a closure that is called when the outcome is settled.
    mutating func addAwaiter(_ id: ObjectIdentifier, _ awaiter: @escaping Subscriber) -> AwaitAction {
        if case .finished = state { return .goOn }
        awaiters.append((id, awaiter))
        return isSettled ? .waitForStart : .wait
    }

    /// Records that a Task that awaited the outcome gives up. Returns `false` if it has the outcome already.
    mutating func removeAwaiter(_ id: ObjectIdentifier) -> Bool {
        guard let index = awaiters.firstIndex(where: { $0.id == id }) else { return false }
        awaiters.remove(at: index)
        return true
    }

    /// Whether a Task or a subscriber waits for the result.
    var isAwaited: Bool { isSubscribedForResult || !awaiters.isEmpty }

    /// The awaiters of an operation that was cancelled before its start and has not been started in time.
    mutating func giveUpStart() -> [Subscriber] {
        guard case .settled = state else { return [] }
        defer { awaiters = [] }
        return awaiters.map(\.call)
    }
}
