/// Runs the stages of user code that have a queue or a time limit.
///
/// We never await user code in a task group, because a group cannot return before its slowest child. A stage with a
/// limit runs in a Task of its own. Its result counts, or the limit if that comes first.
struct StageRunner: Sendable {
    let clock: RequestClock
    /// How long we wait for a stage that was told to stop.
    var grace = Duration.milliseconds(50)
    /// Called when a stage was left behind: it was told to stop, and did not return in time.
    let onAbandoned: @Sendable (RequestError.Stage) -> Void

    /// Runs a stage.
    ///
    /// - Parameters:
    ///   - stage: The stage.
    ///   - queue: The queue that runs it. `nil` means the calling Task.
    ///   - limit: The time limit. `nil` means none.
    ///   - whole: The limit that an error names, if `limit` is only what is left of it.
    ///   - wait: Time that the limit does not count.
    ///   - body: The stage.
    func run<Value: Sendable>(
        _ stage: RequestError.Stage, on queue: OperationQueue? = nil, limit: Duration?, of whole: Duration? = nil,
        besides wait: AttemptTrace? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let queue {
            return try await run(stage, limit: limit, of: whole, besides: wait) { try await queue.run(body) }
        }
        guard let limit else { return try await body() }
        let race = Race<Value>(grace: grace, onAbandoned: { onAbandoned(stage) })
        race.start(body)
        let alarm = LimitAlarm(after: limit, besides: wait, on: clock) {
            race.stop(
                with: RequestError(
                    .timedOut, stage: stage, reason: "\(stage.rawValue) took longer than \(whole ?? limit)"))
        }
        defer { alarm.cancel() }
        return try await withTaskCancellationHandler {
            try await race.answer.value
        } onCancel: {
            race.stop(with: CancellationError())
        }
    }
}

/// A stage that runs in a Task of its own, and the limit or cancel that may stop it.
private final class Race<Value: Sendable>: Sendable {
    private enum State {
        case ready
        case runs(Task<Void, Never>)
        /// The stage was told to stop. Its result is dropped, and this error replaces it.
        case stops(with: any Error)
        case over
    }

    let answer = Answer<Value>()
    private let state = Locked(State.ready)
    private let grace: Duration
    private let onAbandoned: @Sendable () -> Void

    init(grace: Duration, onAbandoned: @escaping @Sendable () -> Void) {
        self.grace = grace
        self.onAbandoned = onAbandoned
    }

    func start(_ body: @escaping @Sendable () async throws -> Value) {
        let task = Task { [self] in returned(await Result(catching: body)) }
        state.withLock { state in
            // It may have returned already.
            if case .ready = state { state = .runs(task) }
        }
    }

    /// Tells the stage to stop, and waits for it no longer than `grace`.
    func stop(with error: any Error) {
        let task: Task<Void, Never>? = state.withLock { state in
            guard case .runs(let task) = state else { return nil }
            state = .stops(with: error)
            return task
        }
        guard let task else { return }
        // Cancelling runs the user's handlers, so it must not happen on the queue of the deadlines.
        DispatchQueue.global().async { task.cancel() }
        _ = DeadlineHeap.shared.schedule(at: .now + grace) { [self] in
            DispatchQueue.global().async { self.abandon(with: error) }
        }
    }

    private func returned(_ result: Result<Value, any Error>) {
        let outcome: Result<Value, any Error>? = state.withLock { state in
            defer { state = .over }
            return switch state {
            case .ready, .runs: result
            case .stops(let error): .failure(result.stopped(by: error))
            case .over: nil
            }
        }
        if let outcome { answer.resume(with: outcome) }
    }

    private func abandon(with error: any Error) {
        let isLeftBehind = state.withLock { state in
            guard case .stops = state else { return false }
            state = .over
            return true
        }
        guard isLeftBehind else { return }
        onAbandoned()
        answer.resume(with: .failure(error))
    }
}

extension Result {
    /// The error of a stage that was stopped. If a transfer was stopped by its limit, the error still says how far it
    /// came. A request that certainly was not sent can be sent again.
    fileprivate func stopped(by error: any Error) -> any Error {
        guard error is RequestError, case .failure(let thrown) = self, var failure = thrown as? TransferFailure else {
            return error
        }
        failure.error = error
        return failure
    }
}

/// The stages of a request that run your code and can have a queue and a time limit.
public enum UserStage: String, Sendable, CaseIterable {
    /// ``URLRequestOperation/process(_:)``.
    case process
    /// ``URLRequestOperation/makeTask(for:)``.
    case makeTask
    /// ``URLRequestOperation/validate(_:)-(TransportResponse)``, for a whole response.
    case validate
    /// ``URLRequestOperation/decode(_:)``.
    case decode
    /// ``RetryingOperation/retryDecision(after:)``.
    case retryDecision

    /// The stage as errors name it.
    public var stage: RequestError.Stage {
        switch self {
        case .process: .process
        case .makeTask: .makeTask
        case .validate: .validate
        case .decode: .decode
        case .retryDecision: .retryDecision
        }
    }
}

/// The alarm of a time limit that does not count waits for a connection. The time of such waits is added to the limit.
final class LimitAlarm: Sendable {
    private enum State {
        /// The alarm is set. This much of the waits has been added to the limit.
        case set(Alarm?, added: Duration)
        /// The alarm rang or was cancelled.
        case over
    }

    private let state: Locked<State>
    private let wait: AttemptTrace?
    private let clock: RequestClock
    private let action: @Sendable () -> Void

    /// While a wait goes on, the alarm checks again after this time at the earliest.
    private static let shortestLook = Duration.milliseconds(20)

    /// Sets the alarm.
    ///
    /// - Parameters:
    ///   - limit: The time until it rings.
    ///   - wait: The waits that are added to that time. `nil` adds nothing.
    ///   - clock: The clock that measures the limit.
    ///   - action: Called once, unless the alarm is cancelled first. It must only resume or cancel.
    init(
        after limit: Duration, besides wait: AttemptTrace?, on clock: RequestClock,
        _ action: @escaping @Sendable () -> Void
    ) {
        self.wait = wait
        // Waits before the alarm was set are not part of its time.
        state = Locked(.set(nil, added: wait?.total ?? .zero))
        self.clock = clock
        self.action = action
        set(after: limit)
    }

    func cancel() {
        let alarm: Alarm? = state.withLock { state in
            defer { state = .over }
            return if case .set(let alarm, _) = state { alarm } else { nil }
        }
        alarm?.cancel()
    }

    private func set(after delay: Duration) {
        let alarm = clock.alarm(after: delay) { [weak self] in self?.ring() }
        let isOver = state.withLock { state in
            guard case .set(_, let added) = state else { return true }
            state = .set(alarm, added: added)
            return false
        }
        if isOver { alarm.cancel() }
    }

    private func ring() {
        let total = wait?.total ?? .zero
        let more: Duration? = state.withLock { state in
            guard case .set(let alarm, let added) = state else { return nil }
            state = total > added ? .set(alarm, added: total) : .over
            return total - added
        }
        guard let more else { return }
        if more > .zero { set(after: max(more, Self.shortestLook)) } else { action() }
    }
}

extension UserStage {
    private static let abandoned = Locked(0)

    /// How many stages of user code this process has left behind so far, because they did not return in time.
    public static var abandonedCount: Int { abandoned.withLock { $0 } }

    static func countAbandoned() { abandoned.withLock { $0 += 1 } }
}
