/// A block that was added to a `RequestQueue`, as an operation that tells when it has finished.
// Unchecked as Foundation's own Operation is: all state of this class is in `state`.
final class QueueBlock: Operation, @unchecked Sendable {
    private struct State {
        var block: (@Sendable () -> Void)?
        var isOver = false
        var subscribers: [@Sendable () -> Void] = []
    }

    private let state: Locked<State>

    private let progress: QueueProgress

    /// Makes an operation.
    ///
    /// - Parameters:
    ///   - block: What it runs, unless it is cancelled before.
    ///   - progress: For what it counts when it has run.
    init(countingFor progress: QueueProgress, _ block: @escaping @Sendable () -> Void) {
        state = Locked(State(block: block))
        self.progress = progress
    }

    override func main() {
        defer { progress.countOne() }
        let block = state.withLock { state in
            defer { state.block = nil }
            return state.block
        }
        block?()
    }

    override func start() {
        super.start()
        let subscribers = state.withLock { state in
            defer { state = State(isOver: true) }
            return state.subscribers
        }
        for subscriber in subscribers { subscriber() }
    }
}

extension QueueBlock: FinishAnnouncing {
    func subscribeToFinish(_ observer: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.subscribers.append(observer) }
            return state.isOver
        }
        if isOver { observer() }
    }

    func announceFinish(toDependent dependent: Locked<OperationState>) {
        let id = ObjectIdentifier(self)
        subscribeToFinish { dependent.noteFinished(id) }
    }

    /// None that only this one holds: nobody can give it any.
    func takeDependencies() -> [Operation] { [] }
}
