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

    /// How an operation ended.
    enum Ending: Sendable {
        case succeeded
        case failed(any Error)
    }

    private enum State {
        case pending
        /// Cancelled before the start: finishes when it is started, as Foundation's queues demand.
        case cancelled
        /// The Task is `nil` until the thread that started the operation has it at hand.
        case executing(Task<Void, Never>?)
        /// The Task was told to stop, or will be when it is at hand; whatever it returns, the operation finishes with this
        /// error.
        case ending(Task<Void, Never>?, with: any Error)
        case finished(Ending)
    }

    private var state = State.pending
    private var subscribers: [Subscriber] = []

    var isPending: Bool {
        if case .pending = state { true } else { false }
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

    /// The Task of the work is at hand; whether it has to be told to stop.
    mutating func adopt(_ task: Task<Void, Never>) -> Bool {
        switch state {
        case .executing:
            state = .executing(task)
            return false
        case .ending(_, let error):
            state = .ending(task, with: error)
            return true
        case .pending, .cancelled, .finished:
            return false
        }
    }

    enum CancelAction {
        case markCancelled
        /// Tell the Task to stop, if it is at hand.
        case stop(Task<Void, Never>?)
        case ignore
    }

    /// The operation was cancelled, by whomever. After the finish this changes nothing.
    mutating func cancel() -> CancelAction {
        switch state {
        case .pending:
            state = .cancelled
            return .markCancelled
        case .executing(let task):
            state = .ending(task, with: CancellationError())
            return .stop(task)
        case .ending(let task, let error) where !(error is CancellationError):
            state = .ending(task, with: CancellationError())
            return .markCancelled
        case .cancelled, .ending, .finished:
            return .ignore
        }
    }

    /// The operation must end with an error now, unless it is ending already.
    mutating func fail(with error: any Error) -> CancelAction {
        guard case .executing(let task) = state else { return .ignore }
        state = .ending(task, with: error)
        return .stop(task)
    }

    /// The Task returned, or is not waited for any longer. `nil` if the operation had finished before.
    mutating func finish(_ outcome: Ending) -> (ending: Ending, subscribers: [Subscriber])? {
        let ending: Ending
        switch state {
        case .pending, .executing: ending = outcome
        case .cancelled: ending = .failed(CancellationError())
        case .ending(_, let error): ending = .failed(error)
        case .finished: return nil
        }
        state = .finished(ending)
        defer { subscribers = [] }
        return (ending, subscribers)
    }

    /// Registers a subscriber; whether it is to be called at once instead, since the operation has finished.
    mutating func subscribe(_ subscriber: @escaping Subscriber) -> Bool {
        if case .finished = state { return true }
        subscribers.append(subscriber)
        return false
    }
}
