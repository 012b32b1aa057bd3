import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct OperationQueueAwaitingTests {
    @Test(arguments: FailedDependencyTests.queues)
    func `The value of an operation that nothing has comes from this queue`(
        makeQueue: @Sendable () -> OperationQueue
    ) async throws {
        let queue = makeQueue()
        let operation = Work { queue.operations.count }
        #expect(try await queue.value(of: operation) == 1)
    }

    @Test(arguments: FailedDependencyTests.queues)
    func `An operation that a queue or a chain has is only awaited`(
        makeQueue: @Sendable () -> OperationQueue
    ) async throws {
        let (queue, other) = (makeQueue(), makeQueue())
        let (added, linked, finished) = (Work { 1 }, Work { 2 }, Work { 3 })
        other.isSuspended = true
        other.addOperation(added)
        let chain = linked.then { value in Work { value } }
        _ = try await run(chain)
        _ = try await run(finished)
        async let first = queue.value(of: added)
        async let second = queue.value(of: added)
        other.isSuspended = false
        #expect(try await first + second == 2)
        #expect(try await queue.value(of: linked) == 2)
        #expect(try await queue.value(of: finished) == 3)
    }

    @Test func `Many that want its value at once add it once`() async throws {
        let queue = RequestQueue()
        let operation = Work { 1 }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await queue.value(of: operation) } }
            for try await value in group { #expect(value == 1) }
        }
    }

    @Test func `The value of a cancelled operation is an error`() async {
        let operation = Work { 1 }
        operation.cancel()
        let queue = OperationQueue()
        await #expect(throws: CancellationError.self) { try await queue.value(of: operation) }
        await eventually { operation.isFinished }
    }

    @Test(arguments: FailedDependencyTests.queues)
    func `Finished waits for all that is in the queue now`(makeQueue: @Sendable () -> OperationQueue) async {
        let queue = makeQueue()
        await queue.finished()
        let (door, later) = (Door(), Door())
        let ended = Collector<Int>()
        let first = Work {
            await door.pass()
            ended.append(1)
        }
        let second = BlockOperation { ended.append(2) }
        second.addDependency(first)
        queue.addOperation(second)
        queue.addOperation(first)
        async let finished: Void = queue.finished()
        queue.addOperation(Work { await later.pass() })
        door.open()
        // It may have begun only after the last one was added.
        later.open()
        await finished
        #expect(ended.elements == [1, 2])
    }

    @Test func `Finished returns early when its Task is cancelled`() async {
        let queue = RequestQueue()
        let operation = Work { await blockedUntilCancelled() }
        queue.addOperation(operation)
        let task = Task { await queue.finished() }
        task.cancel()
        await task.value
        #expect(!operation.isCancelled)
        operation.cancel()
    }

    @Test func `Operations are added together without waiting`() async throws {
        for queue in [OperationQueue(), RequestQueue()] {
            let door = Door()
            let operations = [Work { await door.pass() }, Work { await door.pass() }]
            queue.addOperations(operations)
            door.open()
            for operation in operations { try await operation.value }
        }
    }
}
