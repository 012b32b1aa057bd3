/// A clock that runs code of the user's when it is read.
struct AskingClock: Clock {
    let ask: @Sendable () -> Void

    init(_ ask: @escaping @Sendable () -> Void) {
        self.ask = ask
    }

    var now: ContinuousClock.Instant {
        ask()
        return ContinuousClock.now
    }

    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
}
