import RequestOperationsTesting

/// A clock that a test moves, and that notes who is about to sleep on it.
struct RecordingClock: Clock {
    let manual = ManualClock()
    /// When each sleep ends, in the order in which they were begun.
    let sleeps = Collector<Duration>()

    var now: ManualClock.Instant { manual.now }

    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        sleeps.append(deadline.offset)
        try await manual.sleep(until: deadline, tolerance: tolerance)
    }
}
