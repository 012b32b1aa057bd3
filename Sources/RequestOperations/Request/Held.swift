/// A right that one attempt holds, until it ends: a redirect to another host exchanges it.
///
/// What is returned is held no longer, and to be given back.
final class Held<Right: Sendable>: Sendable {
    private enum State {
        case holds(Right)
        case between
        case closed
    }

    private let state: Locked<State>

    init(_ right: Right) {
        state = Locked(.holds(right))
    }

    /// What is held now.
    var right: Right? {
        state.withLock { if case .holds(let right) = $0 { right } else { nil } }
    }

    /// Takes what is held; another right may follow.
    func take() -> Right? {
        replace(by: .between)
    }

    /// Holds another right. One that comes when the attempt has ended is returned.
    func hold(_ right: Right) -> Right? {
        replace(by: .holds(right))
    }

    /// Takes what is held, when the attempt has ended or was left behind. Nothing is held afterwards.
    func close() -> Right? {
        replace(by: .closed)
    }

    private func replace(by next: State) -> Right? {
        let unheld = state.withLock { state -> State in
            if case .closed = state { return next }
            defer { state = next }
            return state
        }
        return if case .holds(let right) = unheld { right } else { nil }
    }
}
