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

    @Test func `When one awaiter is cancelled the others are resumed`() async {
        let operation = Work { 1 }
        let awaiters = (0..<2).map { _ in Task { try await operation.value } }
        awaiters[0].cancel()
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
