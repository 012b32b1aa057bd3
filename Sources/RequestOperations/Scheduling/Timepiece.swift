/// Tells the time of one request, on the clock of its configuration.
enum Timepiece: Sendable {
    case real
    /// An instant of the clock would do, but its type is known only when the program runs.
    case injected(Stopwatch)

    init(_ clock: any Clock<Duration>) {
        self = Stopwatch.isReal(clock) ? .real : .injected(Stopwatch(clock))
    }

    /// The moment at hand, to be taken before a lock: an injected clock is code of others. (The real one is read when the
    /// moment is asked for its time, if it is at all.)
    var moment: Moment {
        switch self {
        case .real: .now
        case .injected(let stopwatch): .read(stopwatch.elapsed)
        }
    }

    enum Moment: Sendable {
        case now
        case read(Duration)

        /// The time since some beginning, the same for all moments of one timepiece.
        var time: Duration {
            switch self {
            case .now: .nanoseconds(ContinuousTime.nanoseconds)
            case .read(let time): time
            }
        }
    }
}
