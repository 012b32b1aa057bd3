/// An early-retry observer of this package: where a request waits, it costs an entry in a shared table and no Task.
protocol TabledObserver: EarlyRetryObserver {
    /// Over how long those are spread whom one sign wakes.
    var spread: Duration { get }

    /// Adds an entry for a wait.
    ///
    /// - Parameter failure: The attempt that failed; `nil` before the first one.
    /// - Returns: Removes the entry; called once.
    func watch(
        after failure: AttemptFailure?, _ waiter: @escaping @Sendable (Range<Double>) -> Alarm
    ) -> @Sendable () -> Void
}

extension TabledObserver {
    /// Adds an entry that wakes after its part of the spread.
    ///
    /// - Parameter hold: From now on for so long no sign wakes; what came meanwhile does then.
    func watch(
        after failure: AttemptFailure?, on clock: any Clock<Duration>, using random: RandomSource,
        holdingBack hold: Duration = .zero, _ wake: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let stopwatch = hold > .zero ? Stopwatch(clock) : nil
        return watch(after: failure) { [spread] part in
            let share = part.lowerBound + (part.upperBound - part.lowerBound) * random.next()
            let held = stopwatch.map { hold - $0.elapsed } ?? .zero
            return Alarm(after: max(.rounded(seconds: spread.inSeconds * share), held), on: clock, wake)
        }
    }

    /// The same as one that is awaited, for observers that are made of this one.
    func waitInTask(after failure: AttemptFailure) async throws {
        let answer = Answer<Void>()
        let remove = watch(after: failure, on: ContinuousClock(), using: .system) {
            answer.resume(with: .success(()))
        }
        defer { remove() }
        try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resume(with: .failure(CancellationError()))
        }
    }
}

/// An observer whose sign counts only when a time has passed: until then there is no room for the retry, or the host is to be
/// left alone. One of this package's costs no Task for it, see ``RetryWait``.
struct HeldBackObserver: EarlyRetryObserver {
    let observer: any EarlyRetryObserver
    let delay: Duration

    func wait(after failure: AttemptFailure) async throws {
        try await wait(after: failure, on: ContinuousClock())
    }

    func wait(after failure: AttemptFailure, on clock: any Clock<Duration>) async throws {
        let stopwatch = Stopwatch(clock)
        try await observer.wait(after: failure)
        let left = delay - stopwatch.elapsed
        // As an alarm is bounded, lest the clock trap.
        if left > .zero { try await clock.sleep(for: min(left, .seconds(Int32.max))) }
    }
}

extension EarlyRetryObserver {
    /// The name under which it is told that it ended a wait.
    var name: String {
        switch self {
        case let heldBack as HeldBackObserver: heldBack.observer.name
        default: String(describing: type(of: self))
        }
    }
}
