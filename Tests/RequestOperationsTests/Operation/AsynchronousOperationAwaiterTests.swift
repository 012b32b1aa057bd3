import RequestOperations
import RequestOperationsTesting
import Testing

/// Who awaits the value of an operation that was cancelled before its start.
@Suite(.timeLimit(.minutes(15))) struct AsynchronousOperationAwaiterTests {
    private static func suspendedQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.isSuspended = true
        return queue
    }

    @Test func `In no queue is resumed`() async {
        let operation = Work { 1 }
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test func `In a suspended queue is resumed and the operation finishes when it is started`() async {
        let queue = Self.suspendedQueue()
        let operation = Work { 1 }
        let results = Collector<Bool>()
        operation.whenFinished { results.append((try? $0.get()) == nil) }
        queue.addOperation(operation)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(operation.isCancelled && !operation.isFinished && operation.result == nil && results.elements.isEmpty)
        queue.isSuspended = false
        await results.count(1)
        #expect(operation.isFinished && results.elements == [true])
    }

    @Test func `Of a first link whose chain was not started is resumed`() async {
        let queue = Self.suspendedQueue()
        let first = Work { 1 }
        let chain = first.then { value in Work { value } }
        queue.addOperation(chain)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(chain.result == nil && !chain.isCancelled)
        queue.cancelAllOperations()
    }

    @Test func `Who awaited before the cancel is resumed too`() async {
        let operation = Work { 1 }
        let awaiters = (0..<10).map { _ in Task { try await operation.value } }
        await Task.yield()
        operation.cancel()
        for awaiter in awaiters {
            await #expect(throws: CancellationError.self) { try await awaiter.value }
        }
    }

    @Test func `A dependent operation waits for the finish all the same`() async throws {
        let queue = Self.suspendedQueue()
        let operation = Work { 1 }
        let dependent = Work { [unowned operation] in operation.isFinished }
        dependent.addDependency(operation)
        queue.addOperation(operation)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(!dependent.isReady)
        OperationQueue().addOperation(dependent)
        queue.isSuspended = false
        #expect(try await dependent.value)
    }
}

/// Tasks that await a value and are cancelled.
@Suite(.timeLimit(.minutes(15))) struct CancelledAwaiterTests {
    /// An operation that runs until it is cancelled or its door opens.
    private let door = Door()
    private var operation: Work<Int> {
        Work { [door] in
            await withTaskCancellationHandler {
                await door.pass()
            } onCancel: {
                door.open()
            }
            return 1
        }
    }

    /// Begins to await, and returns when that has begun.
    private func await(_ operation: Work<Int>) async -> Task<Int, any Error> {
        let begun = Door()
        let task = Task {
            begun.open()
            return try await operation.value
        }
        await begun.pass()
        return task
    }

    @Test func `The last one that leaves cancels the operation`() async {
        let operation = operation
        OperationQueue().addOperation(operation)
        let tasks = [await self.await(operation), await self.await(operation)]
        // Both may not have registered yet. A Task that is cancelled before does so and leaves at once.
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(operation.isCancelled)
    }

    @Test func `One leaves at once although the operation goes on`() async throws {
        let operation = operation
        let results = Collector<Int>()
        operation.whenFinished { if let value = try? $0.get() { results.append(value) } }
        OperationQueue().addOperation(operation)
        let task = await self.await(operation)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!operation.isCancelled && !operation.isFinished)
        door.open()
        await results.count(1)
        #expect(try await operation.value == 1)
    }

    @Test func `One leaves at once although the work ignores the cancel`() async throws {
        let isReleased = Door()
        let operation = Work { await isReleased.pass() }
        OperationQueue().addOperation(operation)
        await eventually { operation.isExecuting }
        let task = Task { try await operation.value }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(operation.isCancelled)
        isReleased.open()
    }

    @Test func `Another one that waits keeps the operation`() async throws {
        let operation = operation
        OperationQueue().addOperation(operation)
        let isLeft = Door()
        async let other = { try await operation.value }()
        // It is registered when a second one that is cancelled does not cancel the operation any more.
        let tasks = (0..<3).map { _ in Task { try await operation.value } }
        operation.whenFinished { _ in isLeft.open() }
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(!operation.isCancelled)
        door.open()
        #expect(try await other == 1)
        await isLeft.pass()
    }

    @Test func `An operation that depends on it keeps it, while it waits`() async throws {
        let operation = operation
        let dependent = Work { 2 }
        dependent.addDependency(operation)
        OperationQueue().addOperation(operation)
        let first = await self.await(operation)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(!operation.isCancelled)
        dependent.removeDependency(operation)
        let second = await self.await(operation)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(operation.isCancelled)
    }

    @Test func `A chain that runs it keeps it`() async throws {
        let operation = operation
        let chain = operation.then { value in Work { value + 1 } }
        OperationQueue().addOperation(chain)
        await eventually { operation.isExecuting }
        let task = await self.await(operation)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!operation.isCancelled)
        door.open()
        #expect(try await chain.value == 2)
    }

    @Test func `A barrier of its queue does not keep it`() async throws {
        let operation = operation
        let queue = RequestQueue()
        queue.addOperation(operation)
        queue.addBarrierBlock {}
        let task = await self.await(operation)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(operation.isCancelled)
    }
}
