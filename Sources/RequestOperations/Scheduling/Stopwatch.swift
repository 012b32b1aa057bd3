/// Measures the time since it was made, on the clock of a configuration.
enum Stopwatch: Sendable {
    case real(since: ContinuousClock.Instant)
    case injected(@Sendable () -> Duration)

    init(_ clock: any Clock<Duration>) {
        self = clock is ContinuousClock ? .real(since: .now) : .injected(Self.elapsed(on: clock))
    }

    var elapsed: Duration {
        switch self {
        case .real(let start): start.duration(to: .now)
        case .injected(let elapsed): elapsed()
        }
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
        if clock is ContinuousClock {
            self = .entry(DeadlineHeap.shared.schedule(at: .now + min(delay, .seconds(Int32.max)), action))
        } else {
            self = .sleeper(
                Task {
                    // A sleep ends early by cancellation only, and then nobody waits for the action.
                    guard (try? await clock.sleep(for: delay)) != nil, !Task.isCancelled else { return }
                    action()
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
