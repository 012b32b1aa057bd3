/// The alarm of a time limit that waits for a connection do not use up: what was waited is added to the limit.
final class LimitAlarm: Sendable {
    private enum State {
        case set(Alarm?)
        case cancelled
    }

    private let state = Locked(State.set(nil))
    private let wait: ConnectionWait?
    /// How much of the wait has been added to the limit.
    private let added: Locked<Duration>
    private let clock: any Clock<Duration>
    private let action: @Sendable () -> Void

    /// While a wait goes on, the alarm looks again after so long at the earliest.
    private static let shortestLook = Duration.milliseconds(20)

    /// Sets the alarm.
    ///
    /// - Parameters:
    ///   - limit: After how long it rings.
    ///   - wait: What is added to that; `nil` adds nothing.
    ///   - action: Called once, if the alarm is not cancelled before; it must only resume or cancel.
    init(
        after limit: Duration, besides wait: ConnectionWait?, on clock: any Clock<Duration>,
        _ action: @escaping @Sendable () -> Void
    ) {
        self.wait = wait
        // What was waited before the alarm was set is not part of its time.
        added = Locked(wait?.total ?? .zero)
        self.clock = clock
        self.action = action
        set(after: limit)
    }

    func cancel() {
        let alarm: Alarm? = state.withLock { state in
            defer { state = .cancelled }
            return if case .set(let alarm) = state { alarm } else { nil }
        }
        alarm?.cancel()
    }

    private func set(after delay: Duration) {
        let alarm = Alarm(after: delay, on: clock) { [weak self] in self?.ring() }
        let isCancelled = state.withLock { state in
            guard case .set = state else { return true }
            state = .set(alarm)
            return false
        }
        if isCancelled { alarm.cancel() }
    }

    private func ring() {
        let total = wait?.total ?? .zero
        let more = added.withLock { added in
            defer { added = total }
            return total - added
        }
        if more > .zero { set(after: max(more, Self.shortestLook)) } else { action() }
    }
}
