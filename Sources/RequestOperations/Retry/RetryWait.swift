/// The wait before another attempt: a race of the backoff, early-retry observers and `retryNow()`; the first home wins.
///
/// On real time it costs an entry in the heap of deadlines; only an observer costs a Task.
final class RetryWait: Sendable {
    private let answer = Answer<WakeReason>()

    /// Ends the wait, unless it is over.
    func wake(_ reason: WakeReason) {
        answer.resume(with: .success(reason))
    }

    /// Waits, once.
    ///
    /// - Throws: `CancellationError`, at once when the Task is cancelled, whatever the observers do.
    func run(
        _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure,
        clock: any Clock<Duration>
    ) async throws -> WakeReason {
        let alarm = Alarm(after: max(delay, .zero), on: clock) { self.wake(.backoff) }
        let watches = observers.map { observer in
            Task {
                // An observer that throws, or returns after the end, leaves the race.
                guard (try? await observer.wait(after: failure)) != nil, !Task.isCancelled else { return }
                wake(.observer(String(describing: type(of: observer))))
            }
        }
        defer {
            alarm.cancel()
            for watch in watches { watch.cancel() }
        }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resume(with: .failure(CancellationError()))
        }
    }
}
