import RequestOperations
import RequestOperationsTesting
import Testing

/// `add(_:)`, for those who add more operations than a queue is to hold.
@Suite(.timeLimit(.minutes(15))) struct RequestQueueProducerTests {
    private let queue = RequestQueue()

    @Test func `A producer is slowed down to what the queue holds`() async throws {
        queue.maxConcurrentOperationCount = 2
        queue.maximumPending = 10
        let most = Locked(0)
        let configuration = RequestConfiguration.scripted([.body(Data())])
        let finished = Collector<Void>()
        for _ in 0..<2000 {
            let operation = URLRequestOperation(anyRequest, configuration: configuration)
            operation.whenFinished { _ in finished.append(()) }
            try await queue.add(operation)
            let waiting = queue.limiter.waitingCount
            most.withLock { $0 = max($0, waiting) }
        }
        await finished.count(2000)
        #expect(most.withLock { $0 } <= 10)
    }

    @Test func `Add operation takes no notice of the maximum`() async throws {
        queue.maxConcurrentOperationCount = 0
        queue.maximumPending = 2
        for _ in 0..<10 { queue.addOperation(Work {}) }
        #expect(queue.allOperationCount == 10)
        queue.maxConcurrentOperationCount = 5
        await queue.drained()
    }

    @Test func `A producer that is cancelled adds nothing`() async throws {
        queue.maxConcurrentOperationCount = 0
        queue.maximumPending = 1
        try await queue.add(Work {})
        let late = Work {}
        let adding = Task { [queue] in try await queue.add(late) }
        adding.cancel()
        await #expect(throws: CancellationError.self) { try await adding.value }
        #expect(queue.allOperationCount == 1)
        let cancelled = Task { [queue] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await queue.add(late)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(queue.allOperationCount == 1)
        queue.maxConcurrentOperationCount = 1
        await queue.drained()
        // It was in no queue.
        queue.addOperation(late)
        try await late.value
    }

    @Test func `A suspended queue makes producers wait`() async throws {
        queue.isSuspended = true
        let operation = Work {}
        let isAdded = Locked(false)
        let adding = Task { [queue] in
            try await queue.add(operation)
            isAdded.withLock { $0 = true }
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(!isAdded.withLock { $0 } && queue.allOperationCount == 0)
        queue.isSuspended = false
        try await adding.value
        try await operation.value
    }

    @Test func `A raised maximum lets producers in`() async throws {
        queue.maxConcurrentOperationCount = 0
        queue.maximumPending = 1
        try await queue.add(Work {})
        let adding = Task { [queue] in try await queue.add(Work {}) }
        queue.maximumPending = 2
        try await adding.value
        #expect(queue.allOperationCount == 2)
        queue.maxConcurrentOperationCount = 1
        await queue.drained()
    }

    @Test func `What a stage adds does not wait`() async throws {
        queue.maxConcurrentOperationCount = 1
        queue.maximumPending = 1
        let isFull = Door()
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [
            RequestAdapter { [queue] request in
                await isFull.pass()
                let token = Work { "token" }
                try await queue.add(token)
                _ = try await token.value
                return request
            }
        ]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        queue.addOperation(operation)
        let held = Work {}
        queue.addOperation(held)
        isFull.open()
        _ = try await operation.value
        try await held.value
    }

    @Test func `Many producers at once lose nothing`() async throws {
        let (producers, each) = (8, 500)
        queue.maxConcurrentOperationCount = 3
        queue.maximumPending = 5
        let finished = Collector<Void>()
        try await withThrowingTaskGroup(of: Void.self) { [queue] group in
            for _ in 0..<producers {
                group.addTask {
                    for _ in 0..<each { try await queue.add(Work { finished.append(()) }) }
                }
            }
            try await group.waitForAll()
        }
        await finished.count(producers * each)
        await queue.drained()
        #expect(queue.allOperationCount == 0)
    }
}
