/// A block that was added to a `RequestQueue`, as an operation that reports when it has finished.
// Unchecked like Foundation's own Operation. All state of this class is in `state`.
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
    ///   - block: The block to run, unless the operation is cancelled before.
    ///   - progress: The progress that counts the block when it has run.
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
    var failure: (any Error)? { isCancelled ? CancellationError() : nil }

    func subscribeToFinish(wantsResult: Bool, _ observer: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.subscribers.append(observer) }
            return state.isOver
        }
        if isOver { observer() }
    }

    func announceFinish(toDependent dependent: Locked<OperationState>) {
        let id = ObjectIdentifier(self)
        subscribeToFinish(wantsResult: true) { dependent.noteFinished(id) }
    }

    /// Returns none: a caller never sees this operation, so it cannot add dependencies.
    func takeDependencies() -> [Operation] { [] }
}
