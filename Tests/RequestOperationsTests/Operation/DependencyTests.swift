import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct DependencyTests {
    @Test func `An operation waits for its dependency`() async throws {
        let order = Collector<Int>()
        let door = Door()
        let first = Work {
            await door.pass()
            order.append(1)
        }
        let second = Work { order.append(2) }
        second.addDependency(first)
        #expect(!second.isReady)
        let queue = OperationQueue()
        queue.addOperation(second)
        queue.addOperation(first)
        door.open()
        try await second.value
        #expect(order.elements == [1, 2])
    }

    @Test func `Dependencies hold across queues`() async throws {
        let order = Collector<Int>()
        let first = Work { order.append(1) }
        let second = Work { order.append(2) }
        second.addDependency(first)
        OperationQueue().addOperation(second)
        OperationQueue().addOperation(first)
        try await second.value
        #expect(order.elements == [1, 2])
    }

    @Test func `A failed or cancelled dependency releases its dependent`() async throws {
        let failing = Work<Void> { throw Problem() }
        let cancelled = Work {}
        cancelled.cancel()
        let dependent = Work { 1 }
        dependent.addDependency(failing)
        dependent.addDependency(cancelled)
        let queue = OperationQueue()
        for operation in [dependent, failing, cancelled] { queue.addOperation(operation) }
        #expect(try await dependent.value == 1)
    }

    @Test func `Removing an unfinished dependency releases the operation`() async throws {
        let never = Work { 1 }
        let operation = Work { 2 }
        operation.addDependency(never)
        let queue = OperationQueue()
        queue.addOperation(operation)
        operation.removeDependency(never)
        #expect(try await operation.value == 2)
        #expect(operation.dependencies.isEmpty)
    }

    @Test func `Removing a finished dependency of a cancelled operation does no harm`() async throws {
        let first = Work { 1 }
        let second = Work { 2 }
        second.addDependency(first)
        _ = try await run(first)
        second.cancel()
        second.removeDependency(first)
        await #expect(throws: CancellationError.self) { try await run(second) }
    }

    @Test func `A foreign operation can be a dependency`() async throws {
        let order = Collector<Int>()
        let block = BlockOperation { order.append(1) }
        let operation = Work { order.append(2) }
        operation.addDependency(block)
        let queue = OperationQueue()
        queue.addOperation(operation)
        queue.addOperation(block)
        try await operation.value
        #expect(order.elements == [1, 2])
    }

    @Test func `A finished foreign operation is no obstacle`() async throws {
        let block = BlockOperation {}
        await withCheckedContinuation { continuation in
            block.completionBlock = { continuation.resume() }
            block.start()
        }
        let operation = Work { 1 }
        operation.addDependency(block)
        #expect(try await run(operation) == 1)
    }

    @Test func `A foreign operation can depend on ours`() async throws {
        let order = Collector<Int>()
        let operation = Work { order.append(1) }
        let block = BlockOperation { order.append(2) }
        block.addDependency(operation)
        let queue = OperationQueue()
        queue.addOperation(block)
        queue.addOperation(operation)
        await order.count(2)
        #expect(order.elements == [1, 2])
    }

    @Test func `Adding a dependency twice counts once`() async throws {
        let first = Work { 1 }
        let second = Work { 2 }
        second.addDependency(first)
        second.addDependency(first)
        #expect(second.dependencies.count == 1)
        let queue = OperationQueue()
        queue.addOperation(second)
        queue.addOperation(first)
        #expect(try await second.value == 2)
    }

    @Test func `Dependencies keep their order`() {
        let operations = (0..<10).map { number in Work { number } }
        let last = Work { 0 }
        for operation in operations { last.addDependency(operation) }
        #expect(last.dependencies == operations)
    }

    @Test func `A finished operation lets its dependencies go`() async throws {
        weak var freed: Operation?
        let second = Work { 2 }
        do {
            let first = Work { 1 }
            freed = first
            second.addDependency(first)
            _ = try await run(first)
        }
        _ = try await run(second)
        await eventually { freed == nil }
        #expect(second.dependencies.isEmpty)
    }

    @Test func `Cancelling a blocked operation finishes it`() async {
        let never = Work { 1 }
        let operation = Work { 2 }
        operation.addDependency(never)
        OperationQueue().addOperation(operation)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test(.timeLimit(.minutes(15))) func `A chain of twenty thousand is freed without recursion`() async {
        weak var freed: Operation?
        do {
            var last = Work { 0 }
            freed = last
            for number in 1...20_000 {
                let next = Work { number }
                next.addDependency(last)
                last = next
            }
        }
        await eventually { freed == nil }
    }

    @Test(.timeLimit(.minutes(15))) func `Readiness is never lost in a race of adding and finishing`() async throws {
        for _ in 0..<1_000 {
            let first = Work { 1 }
            let second = Work { 2 }
            second.addDependency(first)
            let queue = OperationQueue()
            async let adding: Void = { queue.addOperation(second) }()
            first.start()
            await adding
            #expect(try await second.value == 2)
        }
    }
}
