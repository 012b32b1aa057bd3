@testable import RequestOperations

extension RetryWait {
    /// Waits from the beginning of the race to its end.
    func run(
        _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure?,
        clock: any Clock<Duration>, in hosts: HostRegistry = HostRegistry()
    ) async throws -> WakeReason {
        let runners = begin(
            delay, or: observers, after: failure, in: hosts, clock: RequestClock(clock))
        defer { runners.stop() }
        return try await winner.reason
    }
}
