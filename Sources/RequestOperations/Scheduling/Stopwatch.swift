/// Measures the time since it was made, on the clock of a configuration.
enum Stopwatch: Sendable {
    /// Since a moment of ``ContinuousTime``. An instant of the clock would do, but its size is known only when the program runs.
    case real(since: Int64)
    case injected(@Sendable () -> Duration)

    init(_ clock: any Clock<Duration>) {
        self = Self.isReal(clock) ? .real(since: ContinuousTime.nanoseconds) : .injected(Self.elapsed(on: clock))
    }

    var elapsed: Duration {
        switch self {
        case .real(let start): .nanoseconds(ContinuousTime.nanoseconds - start)
        case .injected(let elapsed): elapsed()
        }
    }

    /// The time that has elapsed, in nanoseconds.
    var nanoseconds: Int64 {
        switch self {
        case .real(let start): ContinuousTime.nanoseconds - start
        case .injected(let elapsed): elapsed().nanoseconds
        }
    }

    /// Whether a clock is the continuous one. (A cast would take longer than the rest of what is made for a request.)
    static func isReal(_ clock: any Clock<Duration>) -> Bool {
        type(of: clock) == ContinuousClock.self
    }

    private static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

/// One alarm on the clock of a configuration: an entry in the heap of deadlines for real time, a sleeping Task for any
/// other clock.
enum Alarm: Sendable {
    case entry(DeadlineHeap.Entry)
    case sleeper(Task<Void, Never>)

    init(after delay: Duration, on clock: any Clock<Duration>, _ action: @escaping @Sendable () -> Void) {
        // Clocks trap on what their instants do not hold; nobody waits for 68 years.
        let delay = min(delay, .seconds(Int32.max))
        if Stopwatch.isReal(clock) {
            self = .entry(DeadlineHeap.shared.schedule(at: .now + delay, action))
        } else {
            self = .sleeper(
                Task {
                    // A clock that cannot sleep rings at once: whoever waits must not wait for ever.
                    try? await clock.sleep(for: delay)
                    // Nobody waits for a cancelled one.
                    if !Task.isCancelled { action() }
                })
        }
    }

    func cancel() {
        switch self {
        case .entry(let entry): DeadlineHeap.shared.cancel(entry)
        case .sleeper(let task): task.cancel()
        }
    }
}
