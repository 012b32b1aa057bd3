import RequestOperations
import RequestOperationsTesting
import Testing

/// Blocks until a queue has nothing left, which Foundation allows outside of asynchronous code only.
func block(untilFinished queue: OperationQueue) {
    queue.waitUntilAllOperationsAreFinished()
}

extension OperationQueue {
    /// Returns when the queue has nothing left. It blocks a thread of its own: Dispatch, on whose threads operations run, has
    /// a bounded number of them.
    func drained() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                block(untilFinished: self)
                continuation.resume()
            }
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct RequestQueueTests {
    // MARK: Holding back

    @Test func `An operation that is ready runs`() async throws {
        let operation = Work { 1 }
        RequestQueue().addOperation(operation)
        #expect(try await operation.value == 1)
    }

    @Test func `An operation that is not ready is kept out of Foundation's queue`() async throws {
        let queue = RequestQueue()
        let first = Work {}
        let second = Work {}
        second.addDependency(first)
        queue.addOperation(second)
        #expect(queue.operations.isEmpty && queue.operationCount == 0)
        #expect(queue.allOperations == [second] && queue.allOperationCount == 1)
        queue.addOperation(first)
        try await second.value
        await eventually { queue.allOperationCount == 0 }
    }

    @Test func `An operation waits for a dependency in another queue`() async throws {
        let order = Collector<Int>()
        let first = Work { order.append(1) }
        let second = Work { order.append(2) }
        second.addDependency(first)
        RequestQueue().addOperation(second)
        OperationQueue().addOperation(first)
        try await second.value
        #expect(order.elements == [1, 2])
    }

    @Test func `A dependency added to a held operation is waited for`() async throws {
        let queue = RequestQueue()
        let order = Collector<Int>()
        let first = Work { order.append(1) }
        let second = Work { order.append(2) }
        let third = Work { order.append(3) }
        third.addDependency(first)
        queue.addOperation(third)
        third.addDependency(second)
        queue.addOperation(first)
        try await first.value
        #expect(queue.allOperations.contains(third))
        queue.addOperation(second)
        try await third.value
        #expect(order.elements == [1, 2, 3])
    }

    @Test func `A dependency removed from a held operation is not waited for`() async throws {
        let never = Work {}
        let operation = Work { 1 }
        operation.addDependency(never)
        let queue = RequestQueue()
        queue.addOperation(operation)
        operation.removeDependency(never)
        #expect(try await operation.value == 1)
    }

    @Test func `A held operation that is cancelled finishes at once`() async throws {
        let never = Work {}
        let operation = Work {}
        operation.addDependency(never)
        let queue = RequestQueue()
        queue.addOperation(operation)
        operation.cancel()
        await queue.drained()
        #expect(operation.isFinished && operation.isCancelled)
    }

    /// Which of two operations ran first; the second depends on the first and is added before it.
    private func order(of first: Kind, before second: Kind) async -> [Int] {
        let order = Collector<Int>()
        let (first, second) = (first.operation { order.append(1) }, second.operation { order.append(2) })
        second.addDependency(first)
        let queue = RequestQueue()
        queue.addOperation(second)
        queue.addOperation(first)
        await queue.drained()
        return order.elements
    }

    private enum Kind {
        case ours, foreign

        func operation(_ work: @escaping @Sendable () -> Void) -> Operation {
            switch self {
            case .ours: Work(work)
            case .foreign: BlockOperation(block: work)
            }
        }
    }

    @Test func `Ours waits for a foreign operation`() async {
        #expect(await order(of: .foreign, before: .ours) == [1, 2])
    }

    @Test func `A foreign operation waits for ours`() async {
        #expect(await order(of: .ours, before: .foreign) == [1, 2])
    }

    @Test func `Many of ours that wait for one foreign operation all run`() async throws {
        let foreign = BlockOperation {}
        let queue = RequestQueue()
        let count = Collector<Int>()
        for number in 0..<2000 {
            let ours = Work { count.append(number) }
            ours.addDependency(foreign)
            queue.addOperation(ours)
        }
        queue.addOperation(foreign)
        await count.count(2000)
    }

    @Test func `A condition that comes while its operation waits for a place is checked`() async throws {
        let queue = RequestQueue()
        queue.isSuspended = true
        let operation = Work { 1 }
        queue.addOperation(operation)
        operation.addCondition(.custom("late") {})
        queue.isSuspended = false
        #expect(try await operation.value == 1)
    }

    @Test func `A long chain runs and is released without recursion`() async throws {
        let queue = RequestQueue()
        var last = Work {}
        queue.addOperation(last)
        for _ in 1..<(isFullRun ? 100_000 : 20_000) {
            let next = Work {}
            next.addDependency(last)
            queue.addOperation(next)
            last = next
        }
        try await last.value
        await queue.drained()
    }

    @Test func `A long chain is cancelled without recursion`() async throws {
        let queue = RequestQueue()
        queue.isSuspended = true
        var last = Work {}
        queue.addOperation(last)
        for _ in 1..<(isFullRun ? 100_000 : 20_000) {
            let next = Work {}
            next.addDependency(last)
            queue.addOperation(next)
            last = next
        }
        queue.cancelAllOperations()
        queue.isSuspended = false
        await queue.drained()
        #expect(last.isCancelled && last.isFinished)
    }

    @Test func `A queue that nobody holds stays until its held operations have finished`() async throws {
        let first = Work {}
        let second = Work { 2 }
        second.addDependency(first)
        RequestQueue().addOperation(second)
        OperationQueue().addOperation(first)
        #expect(try await second.value == 2)
    }

    @Test func `A suspended queue that nobody holds is freed with the blocks in it`() {
        weak var queue: RequestQueue?
        do {
            let made = RequestQueue()
            queue = made
            made.maxConcurrentOperationCount = 1
            made.isSuspended = true
            made.addOperation {}
            made.addOperation(BlockOperation {})
        }
        #expect(queue == nil)
    }

    @Test func `A queue that is done is freed`() async throws {
        weak var queue: RequestQueue?
        let operation = Work {}
        do {
            let made = RequestQueue()
            queue = made
            made.addBarrierBlock {}
            made.addOperation(operation)
            made.addOperation {}
            await made.drained()
        }
        await eventually { queue == nil }
        #expect(operation.isFinished)
    }

    @Test func `A chain and a queue may both start an operation at once`() async throws {
        for _ in 0..<500 {
            let dependency = Work {}
            let link = Work { 1 }
            link.addDependency(dependency)
            let queue = RequestQueue()
            queue.addOperation(link)
            let chain = link.then { number in Work { number + 1 } }
            OperationQueue().addOperation(chain)
            OperationQueue().addOperation(dependency)
            #expect(try await chain.value == 2)
            await queue.drained()
            #expect(queue.allOperationCount == 0)
        }
    }

    @Test func `An operation that is in a queue already is a programmers error`() async {
        await #expect(processExitsWith: .failure) {
            let held = Work {}
            held.addDependency(Work {})
            RequestQueue().addOperation(held)
            RequestQueue().addOperation(held)
        }
        await #expect(processExitsWith: .failure) {
            let foreign = BlockOperation {}
            foreign.addDependency(Work {})
            let queue = RequestQueue()
            queue.maxConcurrentOperationCount = 1
            queue.addOperation(foreign)
            queue.addOperation(foreign)
        }
    }

    @Test func `A held operation that a chain starts is done for its queue`() async throws {
        let blocker = Work {}
        let link = Work { 1 }
        let queue = RequestQueue()
        queue.isSuspended = true
        queue.addOperation(blocker)
        queue.addBarrierBlock {}
        queue.addOperation(link)
        let chain = link.then { number in Work { number + 1 } }
        OperationQueue().addOperation(chain)
        #expect(try await chain.value == 2)
        queue.isSuspended = false
        await queue.drained()
        #expect(queue.allOperationCount == 0)
    }

    // MARK: Barriers

    @Test func `What is cancelled behind a barrier is freed`() async throws {
        let queue = RequestQueue()
        let first = Work {}
        first.addDependency(Work {})
        queue.addOperation(first)
        queue.addBarrierBlock {}
        weak var kept: Work<Void>?
        do {
            let operation = Work {}
            kept = operation
            queue.addOperation(operation)
            operation.cancel()
            await #expect(throws: CancellationError.self) { try await operation.value }
        }
        await eventually { kept == nil }
        first.cancel()
        await queue.drained()
    }

    @Test func `Barriers run in their order each after what came before it`() async throws {
        let queue = RequestQueue()
        let order = Collector<Int>()
        let door = Door()
        queue.addOperation(Work { await door.pass() })
        for number in 0..<200 {
            for _ in 0..<3 { queue.addOperation(Work { order.append(number) }) }
            queue.addBarrierBlock { order.append(number) }
        }
        door.open()
        await queue.drained()
        #expect(order.elements == (0..<200).flatMap { Array(repeating: $0, count: 4) })
    }

    /// Adds a barrier, and returns when it runs; it ends, and does a last thing, when the semaphore is signalled.
    private static func barrier(
        of queue: RequestQueue, atItsEnd end: @escaping @Sendable () -> Void
    ) async -> DispatchSemaphore {
        let (isRunning, mayEnd) = (Door(), DispatchSemaphore(value: 0))
        queue.addBarrierBlock {
            isRunning.open()
            mayEnd.wait()
            end()
        }
        await isRunning.pass()
        return mayEnd
    }

    @Test func `A barrier that is added while the one before it runs waits for what came between`() async throws {
        let queue = RequestQueue()
        let order = Collector<Int>()
        let mayEnd = await Self.barrier(of: queue) { order.append(1) }
        let door = Door()
        queue.addOperation(
            Work {
                await door.pass()
                order.append(2)
            })
        queue.addBarrierBlock { order.append(3) }
        mayEnd.signal()
        await order.count(1)
        door.open()
        await queue.drained()
        #expect(order.elements == [1, 2, 3])
    }

    @Test func `What is added after a cancel of all waits for the barrier that runs`() async throws {
        let queue = RequestQueue()
        let order = Collector<Int>()
        let mayEnd = await Self.barrier(of: queue) { order.append(1) }
        let dropped = Collector<Int>()
        queue.addBarrierBlock { dropped.append(1) }
        queue.cancelAllOperations()
        queue.addOperation(Work { order.append(2) })
        mayEnd.signal()
        await queue.drained()
        #expect(order.elements == [1, 2] && dropped.count == 0)
    }

    // MARK: Suspension

    @Test func `Of two that suspend and resume at once the last one holds`() async throws {
        for _ in 0..<500 {
            let queue = RequestQueue()
            await withTaskGroup { group in
                for isSuspended in [true, false, true, false] { group.addTask { queue.isSuspended = isSuspended } }
            }
            guard !queue.isSuspended else { continue }
            let operation = Work { 1 }
            queue.addOperation(operation)
            #expect(try await operation.value == 1)
        }
    }

    // MARK: Quality of service

    @Test func `Ours get the quality of the queue unless they have their own`() async throws {
        let queue = RequestQueue()
        queue.qualityOfService = .utility
        let without = Work { Task.currentPriority }
        let with = Work { Task.currentPriority }
        with.qualityOfService = .userInitiated
        for operation in [without, with] { queue.addOperation(operation) }
        // Who awaits them would raise them.
        await queue.drained()
        #expect(try without.result?.get() == .utility && with.result?.get() == .userInitiated)
    }

    @Test func `Blocks and foreign operations run on the underlying queue`() async throws {
        let key = DispatchSpecificKey<Int>()
        let underlying = DispatchQueue(label: "underlying", attributes: .concurrent)
        underlying.setSpecific(key: key, value: 7)
        let queue = RequestQueue()
        queue.underlyingQueue = underlying
        let seen = Collector<Int?>()
        queue.addOperation { seen.append(DispatchQueue.getSpecific(key: key)) }
        queue.addOperation(BlockOperation { seen.append(DispatchQueue.getSpecific(key: key)) })
        await queue.drained()
        #expect(seen.elements == [7, 7])
    }

    // MARK: Many foreign operations

    @Test func `Five thousand that each wait for a foreign operation of its own run`() async throws {
        let queue = RequestQueue()
        let foreign = (0..<5000).map { _ in BlockOperation {} }
        for operation in foreign {
            let ours = Work {}
            ours.addDependency(operation)
            queue.addOperation(ours)
        }
        for operation in foreign { operation.start() }
        await queue.drained()
    }
}
