/// How long one attempt has waited for a connection of others, which counts for no limit of the attempt.
///
/// A transport says when such a wait begins and ends. The keeper of the limit asks for the sum.
final class ConnectionWait: Sendable {
    private struct State {
        var past: Int64 = 0
        /// When the wait that goes on began.
        var start: Int64?
    }

    private let state = Locked(State())
    private let now: @Sendable () -> Int64

    /// - Parameter now: Nanoseconds since some moment.
    init(now: @escaping @Sendable () -> Int64 = { RequestClock.continuous.now.nanoseconds }) {
        self.now = now
    }

    /// A wait begins, unless one goes on.
    func begin() {
        let now = now()
        state.withLock { if $0.start == nil { $0.start = now } }
    }

    /// The wait ends, if one goes on.
    func end() {
        let now = now()
        state.withLock { state in
            guard let start = state.start else { return }
            state.past += now - start
            state.start = nil
        }
    }

    /// All waits so far, with the one that goes on.
    var total: Duration {
        let now = now()
        return .nanoseconds(state.withLock { state in state.past + (state.start.map { now - $0 } ?? 0) })
    }
}
