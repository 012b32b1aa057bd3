/// The clock for requests. It gives the time of a clock as the duration since a fixed moment.
///
/// The whole package reads the time and sets its alarms here. So an injected clock controls all of it.
struct RequestClock: Sendable {
    private enum Source: Sendable {
        case continuous
        case injected(any Clock<Duration>, now: @Sendable () -> Duration)
    }

    private static let beginning = ContinuousClock.now

    /// Real time.
    static let continuous = RequestClock(ContinuousClock())

    private let source: Source

    /// Makes a request clock for a clock. Two of them for the same injected clock may count from different moments.
    init(_ clock: any Clock<Duration>) {
        source = clock is ContinuousClock ? .continuous : .injected(clock, now: Self.elapsed(on: clock))
    }

    private static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let beginning = clock.now
        return { beginning.duration(to: clock.now) }
    }

    /// The present time. An injected clock is foreign code, so we do not read this under a lock.
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
        // Clocks trap on times that their instants cannot hold. The limit of 68 years is longer than any real wait.
        let duration = min(duration, .seconds(Int32.max))
        switch source {
        case .continuous: try await Task.sleep(for: duration)
        case .injected(let clock, _): try await clock.sleep(for: duration)
        }
    }

    /// Calls an action after a time. Real time uses an entry in the heap of deadlines, and any other clock a sleeping
    /// Task.
    ///
    /// - Parameter action: Called once, unless the alarm is cancelled before. It must only resume or cancel something.
    func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        switch source {
        case .continuous:
            let delay = min(delay, .seconds(Int32.max))
            return .entry(DeadlineHeap.shared.schedule(at: .now + delay, action))
        case .injected:
            return .sleeper(
                Task {
                    // If the clock cannot sleep, the alarm rings at once, so that a request does not wait forever.
                    try? await sleep(for: delay)
                    // A cancelled alarm must not ring.
                    if !Task.isCancelled { action() }
                })
        }
    }
}

/// An alarm that was set on a ``RequestClock``.
enum Alarm: Sendable {
    case entry(DeadlineHeap.Entry)
    case sleeper(Task<Void, Never>)

    /// Stops the alarm from ringing, unless it already rings.
    func cancel() {
        switch self {
        case .entry(let entry): DeadlineHeap.shared.cancel(entry)
        case .sleeper(let task): task.cancel()
        }
    }
}

/// Runs work of the user that may never return.
package enum TimeLimit {
    /// Returns what the work returns, or throws when the time is over or the Task is cancelled.
    ///
    /// The work is then cancelled and left behind. What it returns later is dropped.
    ///
    /// - Parameters:
    ///   - limit: The longest time. `nil` means no limit.
    ///   - clock: Measures the time.
    ///   - exceeded: Makes the error that says that the time is over.
    ///   - work: Runs on a Task of its own, with the task-local values of the caller.
    package static func run<Value: Sendable>(
        _ limit: Duration?, on clock: any Clock<Duration>, exceeded: @escaping @Sendable (Duration) -> any Error,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run(limit, on: RequestClock(clock), exceeded: exceeded, work)
    }

    static func run<Value: Sendable>(
        _ limit: Duration?, on clock: RequestClock, exceeded: @escaping @Sendable (Duration) -> any Error,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let answer = Answer<Value>()
        let working = Task {
            do { answer.resume(with: .success(try await work())) } catch { answer.resume(with: .failure(error)) }
        }
        let alarm = limit.map { limit in
            clock.alarm(after: limit) { answer.resume(with: .failure(exceeded(limit))) }
        }
        defer {
            working.cancel()
            alarm?.cancel()
        }
        return try await answer.cancellableValue()
    }
}

extension Duration {
    /// The duration in seconds.
    package var inSeconds: Double { self / .seconds(1) }

    /// A number of seconds, rounded to the nanosecond. So 0.3 becomes exactly 300 milliseconds, although the `Double`
    /// is not exactly 0.3. NaN and negative numbers become zero. From 9e9 seconds (285 years) on we keep whole seconds
    /// only, at most 9e18 of them.
    package static func rounded(seconds: Double) -> Duration {
        guard seconds > 0 else { return .zero }
        guard seconds < 9e9 else { return .seconds(Int64(min(seconds, 9e18))) }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }
}
