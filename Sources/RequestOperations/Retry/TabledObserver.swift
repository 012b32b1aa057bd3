/// An early-retry observer of this package. For each waiting request it costs an entry in a shared table, but no Task.
protocol TabledObserver: EarlyRetryObserver {
    /// Adds an entry for a wait.
    ///
    /// - Parameters:
    ///   - failure: The attempt that failed; `nil` before the first one.
    ///   - hosts: The registry with the lines of requests that wait for a host.
    ///   - hold: How long, from now on, nothing ends the wait.
    ///   - wake: Ends the wait, with the release of a retry. Returns whether the wait was still under way.
    /// - Returns: A closure that removes the entry. It is called once.
    func watch(
        after failure: AttemptFailure?, in hosts: HostRegistry, on clock: RequestClock, using random: RandomSource,
        holdingBack hold: Duration, _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void
}

extension TabledObserver {
    /// Waits for the sign in a Task, for observers that are built on this one. It reports no outcome of the release.
    func waitInTask(after failure: AttemptFailure) async throws {
        let answer = Answer<Void>()
        let remove = watch(
            after: failure, in: failure.hosts, on: failure.hosts.clock, using: .system, holdingBack: .zero
        ) { release in
            let isFirst = answer.resume(with: .success(()))
            if isFirst { release?.settle(.untold) }
            return isFirst
        }
        defer { remove() }
        try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resume(with: .failure(CancellationError()))
        }
    }
}
