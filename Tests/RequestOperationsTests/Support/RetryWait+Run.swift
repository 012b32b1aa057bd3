@testable import RequestOperations

extension RetryWait {
    /// Waits from the beginning of the race to its end.
    func run(
        _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure?,
        in hosts: HostRegistry = HostRegistry()
    ) async throws -> WakeReason {
        begin(delay, or: observers, after: failure, in: hosts)
        return try await wake.reason
    }
}
