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

    /// Returns none: a caller never sees this operation, so it cannot add dependencies.
    func takeDependencies() -> [Operation] { [] }
}

/// The block of a barrier, as an operation. A `RequestQueue` adds it to itself when everything that was there before it
/// has finished.
// Unchecked like Foundation's own Operation. All state of this class is in `state`.
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
    ///   - block: The block to run, unless the barrier is cancelled before.
    ///   - whenDue: Called once, when everything that the barrier waits for has finished.
    ///   - whenOver: Called once, when the barrier has finished.
    init(
        _ block: @escaping @Sendable () -> Void, whenDue: @escaping @Sendable (QueueBarrier) -> Void,
        whenOver: @escaping @Sendable (QueueBarrier) -> Void
    ) {
        state = Locked(State(block: block))
        self.whenDue = whenDue
        self.whenOver = whenOver
    }

    /// Waits for these operations. It is called once, when all barriers before this one have ended.
    ///
    /// We do not use Foundation's dependencies. While they are added one by one, an operation that finishes could let
    /// the barrier start before the next one is added.
    func wait(for operations: [Operation]) {
        operations.announceFinish(wantsResult: false) { [self] in whenDue(self) }
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0.phase == .executes } }
    override var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// We do not use `main`, because Foundation would then count the barrier in the progress of the queue.
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
