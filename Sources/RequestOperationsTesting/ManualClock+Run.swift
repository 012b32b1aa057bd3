extension ManualClock {
    /// Runs an operation to its end, and moves the clock by itself whenever the operation waits.
    ///
    /// ```swift
    /// let value = try await clock.run(operation)
    /// ```
    ///
    /// The clock moves to the next moment at which a sleeper on it wakes, such as the end of a backoff or a deadline.
    /// It does so again and again until the operation has finished. It stands still while the operation works, since
    /// nothing sleeps then.
    ///
    /// For a `URLRequestOperation`, a limit alone does not move the clock, since limits run while the operation works.
    /// The limits are its deadline, the time limits of an attempt or a stage, and the delay of a hedge. The clock
    /// reaches a limit that comes before the end of a wait. It also reaches a limit when a ``ScriptedTransport``
    /// stalls. For any other operation, such as a chain, every sleeper moves the clock.
    ///
    /// Run only one operation at a time on a clock, since the clock cannot tell the waits of two operations apart. This
    /// function does not return while one of your stages does not end. It also does not return while an answer stalls
    /// without any limit.
    ///
    /// - Parameters:
    ///   - operation: An operation whose configuration has this clock. It must not have been started or added to a
    ///     queue.
    ///   - queue: The queue that the operation is added to. By default a new queue.
    /// - Returns: The value of the operation.
    /// - Throws: The failure of the operation. If the calling Task is cancelled, the operation is cancelled and fails
    ///   with `CancellationError`.
    public func run<Success: Sendable>(
        _ operation: AsynchronousOperation<Success>, on queue: OperationQueue = OperationQueue()
    ) async throws -> Success {
        let request = operation as? URLRequestOperation<Success>
        (request?.configuration.transport as? ScriptedTransport)?.stall(on: self)
        let (arrivals, continuation) = AsyncStream.makeStream(of: Int.self)
        let run = state.withLock { state in
            let run = state.newID()
            state.runs[run] = continuation
            return run
        }
        defer { _ = state.withLock { $0.runs.removeValue(forKey: run) } }
        operation.whenFinished { _ in continuation.finish() }
        queue.addOperation(operation)
        return try await withTaskCancellationHandler {
            // Each sleeper moves the clock at most once. It does not if it was woken or has left before its turn.
            for await id in arrivals {
                let limits = request?.runningLimits ?? RunningLimits()
                let sleepers = state.withLock { $0.wakeNext(for: id, besides: limits) }
                for sleeper in sleepers { sleeper.continuation.resume() }
            }
            return try await operation.value
        } onCancel: {
            // The closure of `whenFinished` wants the result, so the end of this wait alone would not cancel the operation.
            operation.cancel()
        }
    }

    /// Runs a function to its end, and moves the clock by itself whenever something sleeps on it.
    ///
    /// ```swift
    /// let product = try await clock.run { try await shop.product(1) }
    /// ```
    ///
    /// The requests that the function sends must have this clock in their configuration. Every sleeper moves the clock, as
    /// for an operation that is not a `URLRequestOperation`. So a deadline or another limit on the clock passes at once.
    ///
    /// - Parameter work: The function. It runs once, in a Task of its own.
    /// - Returns: What it returns.
    /// - Throws: What it throws. If the calling Task is cancelled, the Task of the function is cancelled.
    public func run<Success: Sendable>(_ work: @escaping @Sendable () async throws -> Success) async throws -> Success {
        try await run(Work(work))
    }

    /// Sleeps until the Task is cancelled. It counts as a sleeper until then.
    func sleepForEver() async throws {
        try await sleep(until: .never)
    }
}

extension ManualClock.Instant {
    /// An instant that no clock reaches.
    fileprivate static let never = Self(offset: .seconds(Int64.max))
}

extension ManualClock.State {
    /// Moves the clock to the next deadline, if this sleeper still sleeps and the operation waits.
    ///
    /// - Returns: The sleepers that wake. The caller must resume them.
    fileprivate mutating func wakeNext(for id: Int, besides limits: RunningLimits) -> [ManualClock.Sleeper] {
        let deadlines = sleepers.values.map(\.deadline).filter { $0 < .never }
        guard sleepers[id] != nil, limits.countOfWaits(among: sleepers.values.map(\.length)) > 0,
            let next = deadlines.min()
        else { return [] }
        return move(to: next)
    }
}

extension URLRequestOperation {
    /// The limits that may be running now.
    fileprivate var runningLimits: RunningLimits {
        // An attempt has ended when the operation decides about the next one and while it waits for it.
        let runsAttempt = attempts.last.map { $0.ended == nil } ?? false
        var lengths = configuration.stageTimeLimits.filter { ($0.key == .retryDecision) != runsAttempt }.map(\.value)
        if runsAttempt {
            lengths += [configuration.attemptTimeLimit, configuration.hedging?.delay].compactMap { $0 }
        }
        return RunningLimits(hasDeadline: configuration.deadline != nil, lengths: lengths)
    }
}

/// A function as an operation.
// Unchecked, as its superclass is. The function never changes.
private final class Work<Success: Sendable>: AsynchronousOperation<Success>, @unchecked Sendable {
    private let work: @Sendable () async throws -> Success

    init(_ work: @escaping @Sendable () async throws -> Success) {
        self.work = work
    }

    override func run() async throws -> Success { try await work() }
}
