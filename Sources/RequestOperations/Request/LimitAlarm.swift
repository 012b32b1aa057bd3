/// The alarm of a time limit that waits for a connection do not use up: what was waited is added to the limit.
final class LimitAlarm: Sendable {
    private enum State {
        /// It is to ring. So much of the wait has been added to the limit.
        case set(Alarm?, added: Duration)
        /// It rang, or was cancelled.
        case over
    }

    private let state: Locked<State>
    private let wait: ConnectionWait?
    private let clock: RequestClock
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
        after limit: Duration, besides wait: ConnectionWait?, on clock: RequestClock,
        _ action: @escaping @Sendable () -> Void
    ) {
        self.wait = wait
        // What was waited before the alarm was set is not part of its time.
        state = Locked(.set(nil, added: wait?.total ?? .zero))
        self.clock = clock
        self.action = action
        set(after: limit)
    }

    func cancel() {
        let alarm: Alarm? = state.withLock { state in
            defer { state = .over }
            return if case .set(let alarm, _) = state { alarm } else { nil }
        }
        alarm?.cancel()
    }

    private func set(after delay: Duration) {
        let alarm = clock.alarm(after: delay) { [weak self] in self?.ring() }
        let isOver = state.withLock { state in
            guard case .set(_, let added) = state else { return true }
            state = .set(alarm, added: added)
            return false
        }
        if isOver { alarm.cancel() }
    }

    private func ring() {
        let total = wait?.total ?? .zero
        let more: Duration? = state.withLock { state in
            guard case .set(let alarm, let added) = state else { return nil }
            state = total > added ? .set(alarm, added: total) : .over
            return total - added
        }
        guard let more else { return }
        if more > .zero { set(after: max(more, Self.shortestLook)) } else { action() }
    }
}
