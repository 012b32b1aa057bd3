/// Which successes of one host are signs of its recovery: of a host that comes and goes ever fewer. A pure value.
struct HostRecoveries: Sendable {
    /// When the last sign was; measured on the clock of the request that gave it.
    private(set) var last: Stopwatch?
    /// How long no other sign follows it.
    private var pause = Duration.zero

    /// How much longer than the spread the pause becomes at most.
    private static let mostSpreads = 20

    /// Whether a success is a sign.
    ///
    /// - Parameters:
    ///   - elapsed: The time since the last sign; `nil` if there was none.
    ///   - spread: Over how long those are spread whom it wakes.
    ///   - present: Has just begun to measure.
    mutating func isSign(after elapsed: Duration?, spread: Duration, _ present: Stopwatch) -> Bool {
        if let elapsed, elapsed < pause { return false }
        let isNewOutage = elapsed.map { $0 >= pause * 2 } ?? true
        pause = isNewOutage ? spread : min(max(pause * 2, spread), spread * Self.mostSpreads)
        last = present
        return true
    }

    /// Whether this says no more than one that is newly made. (Another clock than the real one is that of a test, and is not
    /// asked: that may be under a lock.)
    var isIdle: Bool {
        guard case .real(let start)? = last else { return true }
        return .nanoseconds(ContinuousTime.nanoseconds - start) >= pause * 2
    }
}
