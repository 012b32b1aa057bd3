/// The block of a barrier, as an operation that a `RequestQueue` adds to itself when all that was there before it has
/// finished.
// Unchecked as Foundation's own Operation is: all state of this class is in `state`.
final class QueueBarrier: Operation, @unchecked Sendable {
    private struct State {
        var block: (@Sendable () -> Void)?
        var phase = Phase.waits
    }

    private enum Phase {
        case waits
        case executes
        case finished
    }

    private let state: Locked<State>
    private let whenDue: @Sendable (QueueBarrier) -> Void
    private let whenOver: @Sendable (QueueBarrier) -> Void

    /// Makes a barrier.
    ///
    /// - Parameters:
    ///   - block: What it runs, unless it is cancelled before.
    ///   - whenDue: Called once, when all that it waits for has finished.
    ///   - whenOver: Called once, when it has finished.
    init(
        _ block: @escaping @Sendable () -> Void, whenDue: @escaping @Sendable (QueueBarrier) -> Void,
        whenOver: @escaping @Sendable (QueueBarrier) -> Void
    ) {
        state = Locked(State(block: block))
        self.whenDue = whenDue
        self.whenOver = whenOver
    }

    /// Waits for these; called once, when all barriers before this one are over.
    ///
    /// It has no dependencies, as Foundation knows them: while it got them, one that finishes could let it pass the next.
    func wait(for operations: [Operation]) {
        operations.announceFinish { [self] in whenDue(self) }
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0.phase == .executes } }
    override var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// Not through `main`, which would count for the progress of the queue.
    override func start() {
        willChangeValue(forKey: "isExecuting")
        let block = state.withLock { state in
            defer { state.block = nil }
            state.phase = .executes
            return state.block
        }
        didChangeValue(forKey: "isExecuting")
        if !isCancelled { block?() }
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        state.withLock { $0.phase = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
        whenOver(self)
    }
}
