/// An observer whose sign counts only after a delay. Until then the host is to be left alone, or there is no room for
/// the retry. If the inner observer is one of this package, this costs no Task, see ``RetryWait``.
struct HeldBackObserver: EarlyRetryObserver {
    let observer: any EarlyRetryObserver
    let delay: Duration

    func wait(after failure: AttemptFailure) async throws {
        try await wait(after: failure, on: failure.hosts.clock)
    }

    func wait(after failure: AttemptFailure, on clock: RequestClock) async throws {
        let end = clock.now + delay
        try await observer.wait(after: failure)
        let left = end - clock.now
        if left > .zero { try await clock.sleep(for: left) }
    }
}
