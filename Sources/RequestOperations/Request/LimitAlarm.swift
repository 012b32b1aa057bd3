/// The alarm of a time limit that does not count waits for a connection. The time of such waits is added to the limit.
final class LimitAlarm: Sendable {
    private enum State {
        /// The alarm is set. This much of the waits has been added to the limit.
        case set(Alarm?, added: Duration)
        /// The alarm rang or was cancelled.
        case over
    }

    private let state: Locked<State>
    private let wait: ConnectionWait?
    private let clock: RequestClock
    private let action: @Sendable () -> Void

    /// While a wait goes on, the alarm checks again after this time at the earliest.
    private static let shortestLook = Duration.milliseconds(20)

    /// Sets the alarm.
    ///
    /// - Parameters:
    ///   - limit: The time until it rings.
    ///   - wait: The waits that are added to that time. `nil` adds nothing.
    ///   - clock: The clock that measures the limit.
    ///   - action: Called once, unless the alarm is cancelled first. It must only resume or cancel.
    init(
        after limit: Duration, besides wait: ConnectionWait?, on clock: RequestClock,
        _ action: @escaping @Sendable () -> Void
    ) {
        self.wait = wait
        // Waits before the alarm was set are not part of its time.
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
