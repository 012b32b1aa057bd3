import RequestOperations
import RequestOperationsTesting
import Testing

/// What an `OperationQueue` means holds for operations that are held back, too.
@Suite(.timeLimit(.minutes(15))) struct RequestQueueFoundationTests {
    /// An operation that has to wait for another.
    private static func pair(_ order: Collector<String>) -> (first: Work<Void>, second: Work<Void>) {
        let first = Work { order.append("first") }
        let second = Work { order.append("second") }
        second.addDependency(first)
        return (first, second)
    }

    // MARK: Waiting and cancelling

    @Test func `Waiting for all waits for those that are held`() async throws {
        let queue = RequestQueue()
        let order = Collector<String>()
        let (first, second) = Self.pair(order)
        queue.addOperation(second)
        queue.addOperation(first)
        await queue.drained()
        #expect(second.isFinished)
    }

    @Test func `Waiting for all waits for what a running one adds and holds back`() async {
        for _ in 0..<500 {
            let queue = RequestQueue()
            let last = Work {}
            let first = Locked<Work<Void>?>(nil)
            let adding = Work {
                if let first = first.withLock({ $0 }) { last.addDependency(first) }
                queue.addOperation(last)
            }
            first.withLock { $0 = adding }
            queue.addOperation(adding)
            await queue.drained()
            #expect(last.isFinished)
            first.withLock { $0 = nil }
        }
    }

    @Test func `Waiting for added operations waits for those that are held`() async {
        let order = Collector<String>()
        let (first, second) = Self.pair(order)
        let queue = RequestQueue()
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                block(on: queue, until: [second, first])
                continuation.resume()
            }
        }
        #expect(first.isFinished && second.isFinished)
    }

    @Test func `Cancelling all finishes those that are held at once`() async {
        let queue = RequestQueue()
        let never = Work {}
        let held = (0..<100).map { _ in Work {} }
        for operation in held {
            operation.addDependency(never)
            queue.addOperation(operation)
        }
        queue.cancelAllOperations()
        await queue.drained()
        #expect(held.allSatisfy { $0.isCancelled && $0.isFinished })
        #expect(queue.allOperationCount == 0)
    }

    @Test func `Cancelling all cancels what executes`() async throws {
        let queue = RequestQueue()
        let began = Door()
        let operation = Work {
            began.open()
            try await ManualClock().sleep(for: .seconds(1))
        }
        queue.addOperation(operation)
        await began.pass()
        queue.cancelAllOperations()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test func `Cancelling all finishes foreign operations that are held at once`() async {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let never = Work {}
        let ran = Collector<Int>()
        let foreign = BlockOperation { ran.append(1) }
        foreign.addDependency(never)
        queue.addOperation(foreign)
        queue.cancelAllOperations()
        await queue.drained()
        #expect(foreign.isFinished && ran.count == 0)
    }

    // MARK: Suspending

    @Test func `A suspended queue starts nothing and a resumed one everything`() async throws {
        let queue = RequestQueue()
        queue.isSuspended = true
        let order = Collector<String>()
        let (first, second) = Self.pair(order)
        queue.addOperation(first)
        queue.addOperation(second)
        queue.addOperation { order.append("block") }
        #expect(queue.isSuspended)
        #expect(queue.allOperationCount == 3)
        #expect(order.count == 0)
        queue.isSuspended = false
        await queue.drained()
        #expect(Set(order.elements) == ["first", "second", "block"])
    }

    @Test func `A suspended queue gives no places`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let operation = Work { 1 }
        queue.addOperation(operation)
        queue.addOperation {}
        #expect(queue.limiter.inFlightCount == 0)
        queue.isSuspended = false
        #expect(try await operation.value == 1)
        await queue.drained()
        #expect(queue.limiter.inFlightCount == 0)
    }

    // MARK: Priorities

    @Test(arguments: [true, false])
    func `Operations that are added together get the first places by priority`(areForeign: Bool) async {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let order = Collector<Int>()
        let priorities: [Operation.QueuePriority] = [.normal, .low, .veryHigh, .veryLow, .normal]
        let operations = priorities.enumerated().map { number, priority in
            let operation: Operation =
                areForeign ? BlockOperation { order.append(number) } : Work { order.append(number) }
            operation.queuePriority = priority
            return operation
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                block(on: queue, until: operations)
                continuation.resume()
            }
        }
        #expect(order.elements == [2, 0, 4, 1, 3])
    }

    // MARK: Barriers

    @Test func `A barrier runs after what is held and before what comes later`() async {
        let queue = RequestQueue()
        let order = Collector<String>()
        let (first, second) = Self.pair(order)
        queue.addOperation(second)
        queue.addBarrierBlock { order.append("barrier") }
        queue.addOperation(Work { order.append("later") })
        queue.addOperation { order.append("later") }
        OperationQueue().addOperation(first)
        await queue.drained()
        #expect(order.elements == ["first", "second", "barrier", "later", "later"])
    }

    @Test func `A barrier waits for foreign operations`() async {
        let queue = RequestQueue()
        let order = Collector<Int>()
        let door = DispatchSemaphore(value: 0)
        queue.addOperation(
            BlockOperation {
                door.wait()
                order.append(1)
            })
        queue.addBarrierBlock { order.append(2) }
        door.signal()
        await queue.drained()
        #expect(order.elements == [1, 2])
    }

    @Test func `Barriers run in their order`() async {
        let queue = RequestQueue()
        let order = Collector<Int>()
        for number in 0..<100 {
            if number.isMultiple(of: 3) { queue.addOperation(Work { order.append(number) }) }
            if number.isMultiple(of: 3) { continue }
            queue.addBarrierBlock { order.append(number) }
        }
        await queue.drained()
        #expect(order.elements == Array(0..<100))
    }

    /// Foundation's queue deadlocks here, see the article Queues.
    @Test(arguments: [OperationQueue.defaultMaxConcurrentOperationCount, 1])
    func `A barrier that is added while a dependency ends blocks nothing`(width: Int) async {
        for _ in 0..<200 {
            let queue = RequestQueue()
            queue.maxConcurrentOperationCount = width
            let first = BlockOperation {}
            let dependents = (0..<4).map { $0 < 2 ? BlockOperation {} : Work {} }
            for dependent in dependents {
                dependent.addDependency(first)
                queue.addOperation(dependent)
            }
            DispatchQueue.global().async { first.start() }
            await withCheckedContinuation { continuation in queue.addBarrierBlock { continuation.resume() } }
            #expect(dependents.allSatisfy { $0.isFinished })
        }
    }

    @Test func `A barrier of an empty queue runs`() async {
        let queue = RequestQueue()
        await withCheckedContinuation { continuation in queue.addBarrierBlock { continuation.resume() } }
    }

    @Test func `A cancelled barrier does not run and holds nothing up`() async throws {
        let queue = RequestQueue()
        let order = Collector<String>()
        let never = Work {}
        let held = Work { order.append("held") }
        held.addDependency(never)
        queue.addOperation(held)
        queue.addBarrierBlock { order.append("barrier") }
        queue.addOperation(Work { order.append("behind") })
        queue.cancelAllOperations()
        try await add(Work { order.append("later") }, to: queue)
        await queue.drained()
        #expect(order.elements == ["later"])
    }

    @Test func `A barrier runs in its queue`() async {
        let queue = RequestQueue()
        let seen = Locked<OperationQueue?>(nil)
        queue.addBarrierBlock { seen.withLock { $0 = .current } }
        await queue.drained()
        #expect(seen.withLock { $0 } === queue)
    }

    private func add<Value>(_ operation: Work<Value>, to queue: RequestQueue) async throws -> Value {
        queue.addOperation(operation)
        return try await operation.value
    }

    // MARK: Progress

    @Test func `Every operation counts for the progress`() async {
        let queue = RequestQueue()
        queue.progress.totalUnitCount = 5
        let order = Collector<String>()
        let (first, second) = Self.pair(order)
        queue.addOperation(second)
        queue.addOperation(first)
        queue.addOperation {}
        queue.addOperation(BlockOperation {})
        queue.addBarrierBlock {}
        queue.addOperation(Work { throw Problem() })
        await queue.drained()
        #expect(queue.progress.completedUnitCount == 5)
        #expect(queue.progress.fractionCompleted == 1)
    }

    @Test func `What never ran does not count for the progress`() async {
        let queue = RequestQueue()
        queue.progress.totalUnitCount = 3
        queue.isSuspended = true
        queue.addOperation(Work {})
        queue.addOperation {}
        queue.addOperation(BlockOperation {})
        queue.cancelAllOperations()
        queue.isSuspended = false
        await queue.drained()
        #expect(queue.progress.completedUnitCount == 0)
    }

    // MARK: Blocks

    @Test func `A block runs in its queue with its quality`() async {
        let queue = RequestQueue()
        queue.qualityOfService = .utility
        queue.isSuspended = true
        let seen = Locked<OperationQueue?>(nil)
        queue.addOperation { seen.withLock { $0 = .current } }
        #expect(queue.allOperations.first?.qualityOfService == .utility)
        queue.isSuspended = false
        await queue.drained()
        #expect(seen.withLock { $0 } === queue)
    }
}
