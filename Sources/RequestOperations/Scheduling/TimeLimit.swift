/// Runs work of the user that may never return.
package enum TimeLimit {
    /// Returns what the work returns, or throws when the time is over or the Task is cancelled.
    ///
    /// The work is then cancelled and left behind. What it returns later is dropped.
    ///
    /// - Parameters:
    ///   - limit: The longest time. `nil` means no limit.
    ///   - clock: Measures the time.
    ///   - exceeded: Makes the error that says that the time is over.
    ///   - work: Runs on a Task of its own, with the task-local values of the caller.
    package static func run<Value: Sendable>(
        _ limit: Duration?, on clock: any Clock<Duration>, exceeded: @escaping @Sendable (Duration) -> any Error,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run(limit, on: RequestClock(clock), exceeded: exceeded, work)
    }

    static func run<Value: Sendable>(
        _ limit: Duration?, on clock: RequestClock, exceeded: @escaping @Sendable (Duration) -> any Error,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let answer = Answer<Value>()
        let working = Task {
            do { answer.resume(with: .success(try await work())) } catch { answer.resume(with: .failure(error)) }
        }
        let alarm = limit.map { limit in
            clock.alarm(after: limit) { answer.resume(with: .failure(exceeded(limit))) }
        }
        defer {
            working.cancel()
            alarm?.cancel()
        }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resume(with: .failure(CancellationError()))
        }
    }
}
