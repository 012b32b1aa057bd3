import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct OperationQueueRunTests {
    private struct Mine: Error {}

    private static func serialQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    @Test func `A function runs on the queue before and after it waits`() async throws {
        let queue = Self.serialQueue()
        let queues = try await queue.run {
            let before = OperationQueue.current
            await Self.somewhereElse()
            return [before, OperationQueue.current]
        }
        #expect(queues.allSatisfy { $0 === queue })
    }

    @concurrent private static func somewhereElse() async {
        let answer = Answer<Void>()
        DispatchQueue.global().async { answer.resume(with: .success(())) }
        // The answer is never an error.
        try? await answer.value
    }

    @Test func `A stage of an operation of the main queue runs on the main queue at every attempt`() async throws {
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([.error(.connectionLost), .status(200)])
        configuration.retryPolicy.backoff = .constant(.milliseconds(1))
        configuration.setQueue(.main, for: .process)
        let places = Locked<[Bool]>([])
        // Not the main thread: here the test program has given it up, and another serves the main queue.
        let isMain = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: isMain, value: true)
        configuration.adapters = [
            RequestAdapter { request in
                places.withLock { $0.append(DispatchQueue.getSpecific(key: isMain) == true) }
                return request
            }
        ]
        // A good URL.
        let operation = URLRequestOperation(URL(string: "http://example.com/")!, configuration: configuration)
        OperationQueue.main.addOperation(operation)
        _ = try await operation.value
        #expect(places.withLock { $0 } == [true, true])
    }

    @Test func `What follows is not on the queue`() async throws {
        let queue = Self.serialQueue()
        _ = try await queue.run { 1 }
        #expect(OperationQueue.current !== queue)
    }

    @Test func `The value and the error of the function are returned`() async throws {
        let queue = OperationQueue()
        #expect(try await queue.run { 7 } == 7)
        await #expect(throws: Mine.self) { try await queue.run { throw Mine() } }
    }

    @Test func `A serial queue runs one part at a time`() async throws {
        let queue = Self.serialQueue()
        let running = Locked(0)
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    try await queue.run {
                        #expect(
                            running.withLock {
                                $0 += 1
                                return $0
                            } == 1)
                        running.withLock { $0 -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `On the queue of its own operation a function runs at once`() async throws {
        let queue = Self.serialQueue()
        queue.isSuspended = true
        let value = try await OperationQueue.$here.withValue(.init(queue: queue)) { try await queue.run { 7 } }
        #expect(value == 7)
    }

    // MARK: Queues that do not run what they are given

    /// Calls a closure with each operation that it was given.
    private final class WatchedQueue: OperationQueue, @unchecked Sendable {
        // Unchecked as its superclass is: the closure is never changed.
        private let take: @Sendable (WatchedQueue, Operation) -> Void

        init(_ take: @escaping @Sendable (WatchedQueue, Operation) -> Void) {
            self.take = take
            super.init()
        }

        override func addOperation(_ operation: Operation) { take(self, operation) }

        func reallyAdd(_ operation: Operation) { super.addOperation(operation) }
    }

    @Test func `A queue that drops operations ends in cancellation`() async {
        let queue = WatchedQueue { _, _ in }
        await #expect(throws: CancellationError.self) {
            try await queue.run { Issue.record("the function ran off its queue") }
        }
    }

    @Test func `A queue that cancels operations ends in cancellation`() async {
        let queue = WatchedQueue { queue, operation in
            operation.cancel()
            queue.reallyAdd(operation)
        }
        await #expect(throws: CancellationError.self) {
            try await queue.run { Issue.record("a cancelled function ran") }
        }
    }

    @Test func `A suspended queue that is cancelled ends in cancellation at once`() async {
        let queue = WatchedQueue { queue, operation in
            queue.reallyAdd(operation)
            queue.cancelAllOperations()
        }
        queue.isSuspended = true
        await #expect(throws: CancellationError.self) {
            try await queue.run { Issue.record("a cancelled function ran") }
        }
        #expect(queue.isSuspended)
    }

    @Test func `A function whose rest is dropped ends in cancellation`() async {
        let count = Locked(0)
        let queue = WatchedQueue { queue, operation in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { queue.reallyAdd(operation) }
        }
        let wentOn = Locked(false)
        await #expect(throws: CancellationError.self) {
            try await queue.run {
                // What is waited for elsewhere may be there already, and then there is no rest.
                await Task.yield()
                // A function cannot be left half-way.
                wentOn.withLock { $0 = true }
            }
        }
        #expect(wentOn.withLock { $0 })
    }

    @Test func `A resumed queue runs what waited`() async throws {
        let queue = WatchedQueue { queue, operation in
            queue.reallyAdd(operation)
            queue.isSuspended = false
        }
        queue.isSuspended = true
        #expect(try await queue.run { 7 } == 7)
    }

    @Test func `Many functions on a queue that is cancelled again and again all end`() async {
        let queue = Self.serialQueue()
        let ended = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    if number.isMultiple(of: 10) { queue.cancelAllOperations() }
                    return (try? await queue.run { await Self.somewhereElse() }) != nil
                }
            }
            return await group.reduce(into: 0) { count, _ in count += 1 }
        }
        #expect(ended == 200)
    }
}
