/// The life of one operation, as a pure state machine: events go in, what to do comes out.
///
/// ```
/// pending ── start ──▶ executing ── finish ──▶ finished
///    │                     │                      ▲
///  cancel            cancel, fail                 │
///    ▼                     ▼                      │
/// cancelled ─ start ─▶   ending ── finish, abandon┘
/// ```
///
/// Whoever holds it performs the returned actions after the lock is released. It knows how an operation ended, not with
/// which value, so that it is compiled once and not for every type of value.
struct OperationLifecycle: Sendable {
    typealias Subscriber = @Sendable () -> Void

    /// Who is told of the finish: mostly one at most, for whom an array would be an object more.
    struct Subscribers: Sendable {
        private var first: Subscriber?
        private var others: [Subscriber] = []

        mutating func append(_ subscriber: @escaping Subscriber) {
            if first == nil { first = subscriber } else { others.append(subscriber) }
        }

        /// In the order in which they came.
        func callAll() {
            first?()
            for subscriber in others { subscriber() }
        }
    }

    /// How an operation ended.
    enum Ending: Sendable {
        case succeeded
        case failed(any Error)
    }

    private enum State {
        case pending
        /// Cancelled before the start: finishes when it is started, as Foundation's queues demand.
        case cancelled
        /// The Task is `nil` until it has begun, and between two of them.
        case executing(RunningTask?)
        /// The Task was told to stop, or will be when it begins; whatever it returns, the operation finishes with this error.
        case ending(RunningTask?, with: any Error)
        case finished(Ending)
    }

    private var state = State.pending
    /// Whether somebody is telling the Task to stop, who has no hold on it: it must not end meanwhile.
    private var isBeingTold = false
    /// Who waits for that to be over.
    private var leavers: [Subscriber] = []
    private var subscribers = Subscribers()
    /// Who waits for the outcome, and for the finish only if it comes: a cancel before the start settles the outcome.
    private var awaiters: [Subscriber] = []

    var isPending: Bool {
        if case .pending = state { true } else { false }
    }

    /// Whether nobody has started the operation yet.
    var awaitsStart: Bool {
        switch state {
        case .pending, .cancelled: true
        case .executing, .ending, .finished: false
        }
    }

    var isExecuting: Bool {
        switch state {
        case .executing, .ending: true
        case .pending, .cancelled, .finished: false
        }
    }

    /// How the operation ended; `nil` if it has not.
    var ending: Ending? {
        if case .finished(let ending) = state { ending } else { nil }
    }

    /// Whether the operation's result is a `CancellationError`, or is bound to be.
    var isCancelled: Bool {
        switch state {
        case .cancelled: true
        case .ending(_, let error), .finished(.failed(let error)): error is CancellationError
        case .pending, .executing, .finished(.succeeded): false
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

    /// The operation was started. A second start changes nothing.
    mutating func start() -> StartAction {
        switch state {
        case .pending:
            state = .executing(nil)
            return .run
        case .cancelled:
            return .finish
        case .executing, .ending, .finished:
            return .ignore
        }
    }

    /// The Task of the work has begun; whether it has to be told to stop.
    mutating func adopt(_ task: RunningTask) -> Bool {
        switch state {
        case .executing:
            state = .executing(task)
            return false
        case .ending(_, let error):
            state = .ending(task, with: error)
            return true
        case .finished:
            // The operation was cancelled before its Task began, and did not wait for it.
            return true
        case .pending, .cancelled:
            return false
        }
    }

    /// The Task of the work is about to end, and another to follow it.
    mutating func disown() {
        switch state {
        case .executing: state = .executing(nil)
        case .ending(_, let error): state = .ending(nil, with: error)
        case .pending, .cancelled, .finished: break
        }
    }

    /// Whether a Task that is no longer the operation's may end.
    var mayLeave: Bool { !isBeingTold }

    /// A Task that is no longer the operation's is about to end; whether it may. If not, it waits until the leaver is called.
    mutating func leave(_ leaver: @escaping Subscriber) -> Bool {
        guard isBeingTold else { return true }
        leavers.append(leaver)
        return false
    }

    /// The Task that was to be told to stop has been told; those who have waited for that.
    mutating func wasTold() -> [Subscriber] {
        isBeingTold = false
        defer { leavers = [] }
        return leavers
    }

    enum CancelAction {
        /// Whether somebody waits for the outcome, and so for the start, but not for ever.
        case markCancelled(waitsForStart: Bool)
        /// Tell the Task to stop, if it has begun; ``wasTold()`` is owed then.
        case stop(RunningTask?)
        case ignore
    }

    /// The operation was cancelled, by whomever. After the finish this changes nothing.
    mutating func cancel() -> CancelAction {
        switch state {
        case .pending:
            state = .cancelled
            return .markCancelled(waitsForStart: !awaiters.isEmpty)
        case .executing(let task):
            return stop(task, with: CancellationError())
        case .ending(let task, let error) where !(error is CancellationError):
            state = .ending(task, with: CancellationError())
            return .markCancelled(waitsForStart: false)
        case .cancelled, .ending, .finished:
            return .ignore
        }
    }

    /// The operation must end with an error now, unless it is ending already.
    mutating func fail(with error: any Error) -> CancelAction {
        guard case .executing(let task) = state else { return .ignore }
        return stop(task, with: error)
    }

    private mutating func stop(_ task: RunningTask?, with error: any Error) -> CancelAction {
        state = .ending(task, with: error)
        isBeingTold = task != nil
        return .stop(task)
    }

    /// The work says itself that it was cancelled; whether nobody said so before.
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

    /// The Task returned, or is not waited for any longer. `nil` if the operation had finished before.
    mutating func finish(_ outcome: Ending) -> Finish? {
        let wasExecuting = isExecuting
        let ending: Ending
        switch state {
        case .pending, .executing: ending = outcome
        case .cancelled: ending = .failed(CancellationError())
        case .ending(_, let error): ending = .failed(error)
        case .finished: return nil
        }
        state = .finished(ending)
        defer { (subscribers, awaiters) = (Subscribers(), []) }
        return Finish(ending: ending, wasExecuting: wasExecuting, subscribers: subscribers, awaiters: awaiters)
    }

    /// Registers a subscriber; whether it is to be called at once instead, since the operation has finished.
    mutating func subscribe(_ subscriber: @escaping Subscriber) -> Bool {
        if case .finished = state { return true }
        subscribers.append(subscriber)
        return false
    }

    enum AwaitAction {
        case wait
        /// Wait for the start, but not for ever.
        case waitForStart
        /// The operation has finished.
        case goOn
    }

    /// Registers somebody who waits for the outcome.
    mutating func addAwaiter(_ awaiter: @escaping Subscriber) -> AwaitAction {
        if case .finished = state { return .goOn }
        awaiters.append(awaiter)
        if case .cancelled = state { return .waitForStart }
        return .wait
    }

    /// Those who have waited long enough for the start of an operation that was cancelled before.
    mutating func giveUpStart() -> [Subscriber] {
        guard case .cancelled = state else { return [] }
        defer { awaiters = [] }
        return awaiters
    }
}
