/// Runs the stages of user code that have a queue or a time limit.
///
/// User code is never awaited in a task group, which cannot return before its slowest child: a stage with a limit runs in
/// a Task of its own, and the first of its answer and the limit counts.
struct StageRunner: Sendable {
    let clock: any Clock<Duration>
    /// Hears of a stage that was left behind: it was told to stop, and had not returned 50 ms later.
    let onAbandoned: @Sendable (RequestError.Stage) -> Void

    func run<Value: Sendable>(
        _ stage: RequestError.Stage, on queue: OperationQueue? = nil, limit: Duration?,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let queue else { return try await run(stage, limit: limit, body) }
        return try await run(stage, limit: limit) { try await queue.run(body) }
    }

    private func run<Value: Sendable>(
        _ stage: RequestError.Stage, limit: Duration?, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await body() }
        let answer = Answer<Value>()
        let hasReturned = Locked(false)
        let task = Task {
            let result = await Result(catching: body)
            hasReturned.withLock { $0 = true }
            answer.resume(with: result)
        }
        let alarm = Alarm(after: limit, on: clock) {
            let timedOut = RequestError(.timedOut, stage: stage, reason: "\(stage.rawValue) took longer than \(limit)")
            guard answer.resume(with: .failure(timedOut)) else { return }
            task.cancel()
            _ = DeadlineHeap.shared.schedule(at: .now + .milliseconds(50)) {
                if !hasReturned.withLock({ $0 }) { onAbandoned(stage) }
            }
        }
        defer { alarm.cancel() }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            task.cancel()
            answer.resume(with: .failure(CancellationError()))
        }
    }
}

/// Stages of user code that were left behind since they did not answer in time.
public enum AbandonedStages {
    private static let total = Locked(0)

    /// How many there were in this process.
    public static var count: Int { total.withLock { $0 } }

    static func countOne() {
        total.withLock { $0 += 1 }
    }
}
