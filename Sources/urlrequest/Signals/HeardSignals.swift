/// The signals that a process has got, and what the next one means: a pure value.
///
/// The program `timeout` of GNU sends its signal twice: to the process, and to its group. So the same signal counts once within
/// half a second.
struct HeardSignals {
    enum Meaning {
        case isFirst
        case isLater
        case isRepeated
    }

    private var first: (number: Int32, time: ContinuousClock.Instant)?

    mutating func note(_ number: Int32, at now: ContinuousClock.Instant) -> Meaning {
        guard let first else {
            first = (number, now)
            return .isFirst
        }
        return number == first.number && first.time.duration(to: now) < .milliseconds(500) ? .isRepeated : .isLater
    }
}
