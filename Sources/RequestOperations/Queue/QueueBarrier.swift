/// The block of a barrier, as an operation that a `RequestQueue` adds to itself when all that was there before it has
/// finished.
// Unchecked as Foundation's own Operation is: all state of this class is in `state`.
final class QueueBarrier: Operation, @unchecked Sendable {
    private struct State {
        var block: (@Sendable () -> Void)?
        /// How many operations it still waits for.
        var unfinished = 1
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
    func wait(for operations: [Operation]) {
        state.withLock { $0.unfinished += operations.count }
        for operation in operations {
            if let ours = operation as? any FinishAnnouncing {
                ours.subscribeToFinish { self.countOne() }
            } else {
                // Foundation watches its own best.
                addDependency(operation)
                countOne()
            }
        }
        // Whoever cancelled the barrier meanwhile may have started it, and has removed what was added before that.
        if state.withLock({ $0.phase != .waits }) { removeDependencies() }
        countOne()
    }

    private func countOne() {
        let isDue = state.withLock { state in
            state.unfinished -= 1
            return state.unfinished == 0
        }
        if isDue { whenDue(self) }
    }

    /// Foundation on Linux keeps no reference to those that it tells of a finish, and a cancelled one may be gone by then.
    private func removeDependencies() {
        for dependency in dependencies { removeDependency(dependency) }
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
        if isCancelled {
            removeDependencies()
        } else {
            block?()
        }
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        state.withLock { $0.phase = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
        whenOver(self)
    }
}
