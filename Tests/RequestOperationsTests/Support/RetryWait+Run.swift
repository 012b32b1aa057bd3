@testable import RequestOperations

extension RetryWait {
    /// Waits from the beginning of the race to its end.
    func run(
        _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure?,
        clock: any Clock<Duration>
    ) async throws -> WakeReason {
        let runners = begin(delay, or: observers, after: failure, clock: clock)
        defer { runners.stop() }
        return try await winner.reason
    }
}
