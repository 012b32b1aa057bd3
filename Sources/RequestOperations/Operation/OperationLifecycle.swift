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
/// Whoever holds it performs the returned actions after the lock is released.
struct OperationLifecycle<Success: Sendable>: Sendable {
    typealias Subscriber = @Sendable (Result<Success, any Error>) -> Void

    private enum State {
        case pending
        /// Cancelled before the start: finishes when it is started, as Foundation's queues demand.
        case cancelled
        case executing(Task<Void, Never>)
        /// Its Task was told to stop; whatever that returns, the operation finishes with this error.
        case ending(Task<Void, Never>, with: any Error)
        case finished(Result<Success, any Error>)
    }

    private var state = State.pending
    private var subscribers: [Subscriber] = []

    var isExecuting: Bool {
        switch state {
        case .executing, .ending: true
        case .pending, .cancelled, .finished: false
        }
    }

    var result: Result<Success, any Error>? {
        if case .finished(let result) = state { result } else { nil }
    }

    /// Whether the operation's result is a `CancellationError`, or is bound to be.
    var isCancelled: Bool {
        switch state {
        case .cancelled: true
        case .ending(_, let error), .finished(.failure(let error)): error is CancellationError
        case .pending, .executing, .finished(.success): false
        }
    }

    enum StartAction {
        case run
        case finish
        case ignore
    }

    /// The operation was started. A second start changes nothing.
    mutating func start(_ makeTask: () -> Task<Void, Never>) -> StartAction {
        switch state {
        case .pending:
            state = .executing(makeTask())
            return .run
        case .cancelled:
            return .finish
        case .executing, .ending, .finished:
            return .ignore
        }
    }

    enum CancelAction {
        case markCancelled
        case stop(Task<Void, Never>)
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

    /// The operation must end with an error now; returns the Task to stop, if it was still at work.
    mutating func fail(with error: any Error) -> Task<Void, Never>? {
        guard case .executing(let task) = state else { return nil }
        state = .ending(task, with: error)
        return task
    }

    /// The Task returned. `nil` if the operation had finished without it.
    mutating func finish(
        _ outcome: Result<Success, any Error>
    ) -> (result: Result<Success, any Error>, subscribers: [Subscriber])? {
        let result: Result<Success, any Error>
        switch state {
        case .pending, .executing: result = outcome
        case .cancelled: result = .failure(CancellationError())
        case .ending(_, let error): result = .failure(error)
        case .finished: return nil
        }
        state = .finished(result)
        defer { subscribers = [] }
        return (result, subscribers)
    }

    /// Whether the operation still waits for the Task that it told to stop.
    var isEnding: Bool {
        if case .ending = state { true } else { false }
    }

    /// Registers a subscriber, or returns the result that it is to be called with at once.
    mutating func subscribe(_ subscriber: @escaping Subscriber) -> Result<Success, any Error>? {
        if case .finished(let result) = state { return result }
        subscribers.append(subscriber)
        return nil
    }
}
