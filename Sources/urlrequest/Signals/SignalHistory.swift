/// Tells a second signal from a repetition of the first.
///
/// `timeout` of GNU sends its signal to the process and then to the group of the process, so it comes twice.
struct SignalHistory {
    /// What a signal means, after those before it.
    enum Meaning {
        case first
        case repetition
        case second
    }

    /// How long after the first signal the same one counts as its repetition.
    static let repetitionTime = Duration.milliseconds(500)

    private var first: (number: Int32, instant: ContinuousClock.Instant)?

    /// Notes a signal, and returns what it means.
    mutating func meaning(of number: Int32, at now: ContinuousClock.Instant) -> Meaning {
        guard let first else {
            first = (number, now)
            return .first
        }
        return number == first.number && first.instant.duration(to: now) < Self.repetitionTime ? .repetition : .second
    }
}
