extension OperationQueue {
    /// The queue that runs the operation whose Task this is.
    @TaskLocal static var ofCurrentOperation: OperationQueue?

    /// Runs an asynchronous function on this queue: each of its synchronous parts is an operation of the queue.
    ///
    /// On the queue that runs the caller's own operation the function runs at once: the operation has a place there
    /// already, and a queue of width 1 would wait for itself. If that is the main queue, it runs on Dispatch's main queue.
    ///
    /// A part that the queue cancels or drops before the function began is never run; one after that runs elsewhere, since a
    /// function cannot be left half-way.
    ///
    /// - Throws: What the function throws; `CancellationError` if the queue cancels or drops a part of the work, at once
    ///   even if it is suspended.
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

    /// For systems without task executors: one operation that holds a thread of the queue, never one of the cooperative
    /// pool, until the function returns.
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

/// Runs the jobs of one function where a queue would.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class OperationQueueExecutor: TaskExecutor {
    enum Place {
        /// As operations of a queue.
        case operations(of: OperationQueue)
        /// On the main queue of Dispatch, beside the operation that has the only place of Foundation's.
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
                // A job must run, or its Task would hang; off the queue it finds out at the next check.
                self.hasDroppedJob.withLock { $0 = true }
                DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            })
    }

    func checkNothingWasDropped() throws {
        if hasDroppedJob.withLock({ $0 }) { throw CancellationError() }
    }
}

/// A block operation that answers, one way or the other, exactly once: by its block, or, if the queue cancels it or frees
/// it without running it, by the other. (A suspended queue keeps what it cancelled, so the freeing is not waited for.)
// Unchecked as its superclass is: all state of this class is in `block`.
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
