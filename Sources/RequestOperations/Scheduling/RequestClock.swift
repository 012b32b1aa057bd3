/// The time of requests: what a clock says, as the duration since some moment.
///
/// All of the package reads the time and sets its alarms here. So an injected clock moves all of it.
struct RequestClock: Sendable {
    private enum Source: Sendable {
        case continuous
        case injected(any Clock<Duration>, now: @Sendable () -> Duration)
    }

    private static let beginning = ContinuousClock.now

    /// Real time.
    static let continuous = RequestClock(ContinuousClock())

    private let source: Source

    /// Reads a clock. Two that are made of one injected clock may count from different moments.
    init(_ clock: any Clock<Duration>) {
        source = clock is ContinuousClock ? .continuous : .injected(clock, now: Self.elapsed(on: clock))
    }

    private static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let beginning = clock.now
        return { beginning.duration(to: clock.now) }
    }

    /// The time now. An injected clock is code of others, so this is not read under a lock.
    var now: Duration {
        switch source {
        case .continuous: Self.beginning.duration(to: .now)
        case .injected(_, let now): now()
        }
    }

    /// Whether this is real time.
    var isContinuous: Bool {
        if case .continuous = source { true } else { false }
    }

    /// Returns after a time.
    ///
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws {
        // Clocks trap on what their instants do not hold; nobody waits for 68 years.
        let duration = min(duration, .seconds(Int32.max))
        switch source {
        case .continuous: try await Task.sleep(for: duration)
        case .injected(let clock, _): try await clock.sleep(for: duration)
        }
    }

    /// Calls an action after a time: an entry in the heap of deadlines for real time, a sleeping Task for any other clock.
    ///
    /// - Parameter action: Called once, if the alarm is not cancelled before. It must only resume or cancel.
    func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        switch source {
        case .continuous:
            let delay = min(delay, .seconds(Int32.max))
            return .entry(DeadlineHeap.shared.schedule(at: .now + delay, action))
        case .injected:
            return .sleeper(
                Task {
                    // A clock that cannot sleep rings at once: what waits must not wait for ever.
                    try? await sleep(for: delay)
                    // Nobody waits for a cancelled one.
                    if !Task.isCancelled { action() }
                })
        }
    }
}
