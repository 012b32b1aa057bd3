/// Measures how long one attempt has waited for a connection that other requests make or use.
///
/// This time counts toward no limit of the attempt. A transport says when such a wait begins and ends. The code that
/// keeps the limit asks for the sum.
final class ConnectionWait: Sendable {
    private struct State {
        var past: Int64 = 0
        /// When the current wait began; `nil` if there is none.
        var start: Int64?
    }

    private let state = Locked(State())
    private let now: @Sendable () -> Int64

    /// - Parameter now: Returns the nanoseconds since some fixed moment.
    init(now: @escaping @Sendable () -> Int64 = { RequestClock.continuous.now.nanoseconds }) {
        self.now = now
    }

    /// Begins a wait. Does nothing if a wait is already under way.
    func begin() {
        let now = now()
        state.withLock { if $0.start == nil { $0.start = now } }
    }

    /// Ends the wait. Does nothing if no wait is under way.
    func end() {
        let now = now()
        state.withLock { state in
            guard let start = state.start else { return }
            state.past += now - start
            state.start = nil
        }
    }

    /// The sum of all waits so far, including the current one.
    var total: Duration {
        let now = now()
        return .nanoseconds(state.withLock { state in state.past + (state.start.map { now - $0 } ?? 0) })
    }
}
