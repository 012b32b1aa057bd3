extension OperationQueue {
    /// Where the operation of the current Task runs.
    struct Here: Sendable {
        var queue: OperationQueue?
        /// What the starter lends the operation while it runs.
        var place: (any AnyObject & Sendable)?
    }

    @TaskLocal static var here = Here()

    /// The queue that runs the operation of the current Task.
    static var ofCurrentOperation: OperationQueue? { here.queue }

    /// Runs an asynchronous function on this queue. Each synchronous part of the function is an operation of the queue.
    ///
    /// On the queue that runs the caller's own operation, the function runs at once. The operation already has a place
    /// there, and a queue of width 1 would wait for itself. If that queue is the main queue, the function runs on
    /// Dispatch's main queue.
    ///
    /// If the queue cancels or drops a part before the function began, the function never runs. Later parts then run
    /// elsewhere, because a function cannot be stopped half-way.
    ///
    /// - Throws: What the function throws. `CancellationError` if the queue cancels or drops a part of the work, at
    ///   once even if the queue is suspended.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let isOwn = OperationQueue.ofCurrentOperation === self
        if isOwn, self !== OperationQueue.main { return try await body() }
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            return try await isOwn ? body() : runBlocking(body)
        }
        let executor = OperationQueueExecutor(isOwn ? .besideMainQueue : .operations(of: self))
        return try await withTaskExecutorPreference(executor) {
            try executor.checkNothingWasDropped()
            let value = try await body()
            try executor.checkNothingWasDropped()
            return value
        }
    }

    /// For systems without task executors. One operation holds a thread of the queue until the function returns. It
    /// never holds a thread of the cooperative pool.
    private func runBlocking<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let answer = Answer<Value>()
        addOperation(
            DroppableOperation {
                let done = DispatchSemaphore(value: 0)
                Task {
                    answer.resume(with: await Result(catching: body))
                    done.signal()
                }
                done.wait()
            } whenDropped: {
                answer.resume(with: .failure(CancellationError()))
            })
        return try await answer.value
    }
}

/// Runs the jobs of one function at the place of a queue.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class OperationQueueExecutor: TaskExecutor {
    enum Place {
        /// As operations of a queue.
        case operations(of: OperationQueue)
        /// On Dispatch's main queue, beside the operation that holds the only place of Foundation's main queue.
        case besideMainQueue
    }

    private let place: Place
    private let hasDroppedJob = Locked(false)

    init(_ place: Place) {
        self.place = place
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard case .operations(let queue) = place else {
            DispatchQueue.main.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            return
        }
        queue.addOperation(
            DroppableOperation {
                job.runSynchronously(on: self.asUnownedTaskExecutor())
            } whenDropped: {
                // A job must run, or its Task would never end. We run it off the queue, and the function notices that
                // at the next check.
                self.hasDroppedJob.withLock { $0 = true }
                DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            })
    }

    func checkNothingWasDropped() throws {
        if hasDroppedJob.withLock({ $0 }) { throw CancellationError() }
    }
}

/// A block operation that calls exactly one of two closures, exactly once. It calls its block when it runs. It calls
/// `whenDropped` if the queue cancels it, or frees it without running it. (A suspended queue keeps cancelled
/// operations, so we do not wait until they are freed.)
// Unchecked like its superclass. All state of this class is in `block`.
private final class DroppableOperation: Operation, @unchecked Sendable {
    private let block: Locked<(@Sendable () -> Void)?>
    private let whenDropped: @Sendable () -> Void

    init(_ block: @escaping @Sendable () -> Void, whenDropped: @escaping @Sendable () -> Void) {
        self.block = Locked(block)
        self.whenDropped = whenDropped
    }

    deinit { drop() }

    override func main() { takeBlock()?() }

    override func cancel() {
        super.cancel()
        drop()
    }

    private func drop() {
        if takeBlock() != nil { whenDropped() }
    }

    private func takeBlock() -> (@Sendable () -> Void)? {
        block.withLock { block in
            defer { block = nil }
            return block
        }
    }
}

extension DispatchQueue {
    /// Runs a function that may block on this queue. The caller waits for it without holding a thread.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            async { continuation.resume(with: Result { try body() }) }
        }
    }
}
