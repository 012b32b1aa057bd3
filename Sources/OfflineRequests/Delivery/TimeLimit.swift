import Foundation
import RequestOperations

/// Runs work that may never return.
enum TimeLimit {
    /// The work took too long.
    struct Exceeded: Error, CustomStringConvertible {
        let limit: Duration
        var description: String { "the handler did not return within \(limit)" }
    }

    /// Returns what the work returns, or throws when the time is over or the Task is cancelled.
    ///
    /// The work is then cancelled and left behind. What it returns later is dropped.
    static func run<Value: Sendable>(
        _ limit: Duration?, on clock: any Clock<Duration>, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let answer = Answer<Value>()
        let working = Task {
            do { answer.resume(with: .success(try await work())) } catch { answer.resume(with: .failure(error)) }
        }
        let alarm = limit.map { limit in
            Task {
                // A cancelled alarm does not ring. Any other error of a clock ends the wait.
                do { try await clock.sleep(for: limit) } catch is CancellationError { return }
                answer.resume(with: .failure(Exceeded(limit: limit)))
            }
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
