import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct AsynchronousOperationTests {
    // MARK: Results

    @Test func `The value of run is the result`() async throws {
        let operation = Work { 7 }
        #expect(try await run(operation) == 7)
        #expect(try operation.result?.get() == 7)
        #expect(operation.isFinished && !operation.isExecuting && !operation.isCancelled)
    }

    @Test func `The error of run is the result`() async throws {
        let operation = Work<Int> { throw Problem() }
        await #expect(throws: Problem.self) { try await run(operation) }
        #expect(throws: Problem.self) { try operation.result?.get() }
    }

    @Test func `The result is there after a blocking wait`() {
        let operation = Work { "done" }
        block(on: OperationQueue(), until: [operation])
        #expect(try! operation.result?.get() == "done")
    }

    @Test func `There is no result before the finish`() {
        #expect(Work { 1 }.result == nil)
    }

    @Test func `The value can be awaited often`() async throws {
        let operation = Work { 3 }
        OperationQueue().addOperation(operation)
        for _ in 1...3 { #expect(try await operation.value == 3) }
    }

    @Test func `Many tasks await one value`() async throws {
        let door = Door()
        let operation = Work {
            await door.pass()
            return 5
        }
        OperationQueue().addOperation(operation)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await operation.value } }
            door.open()
            return try await group.reduce(0, +)
        }
        #expect(sum == 500)
    }

    @Test func `When finished is called once with the result`() async throws {
        let results = Collector<Int?>()
        let operation = Work { 4 }
        operation.whenFinished { results.append(try? $0.get()) }
        _ = try await run(operation)
        await results.count(1)
        #expect(results.elements == [4])
    }

    @Test func `When finished calls a late subscriber at once`() async throws {
        let operation = Work { 4 }
        _ = try await run(operation)
        let results = Collector<Int?>()
        operation.whenFinished { results.append(try? $0.get()) }
        await results.count(1)
    }

    @Test func `When finished runs on the completion queue`() async throws {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "completions")
        queue.setSpecific(key: key, value: true)
        let operation = Work(completionQueue: queue) { 1 }
        let places = Collector<Bool>()
        operation.whenFinished { _ in places.append(DispatchQueue.getSpecific(key: key) == true) }
        _ = try await run(operation)
        operation.whenFinished { _ in places.append(DispatchQueue.getSpecific(key: key) == true) }
        await places.count(2)
        #expect(places.elements == [true, true])
    }

    @Test func `The result is stored before anybody hears of it`() async throws {
        let operation = Work { 1 }
        let seen = Collector<Bool>()
        operation.whenFinished { [unowned operation] _ in seen.append(operation.isFinished && operation.result != nil) }
        operation.completionBlock = { [unowned operation] in seen.append(operation.result != nil) }
        _ = try await run(operation)
        await seen.count(2)
        #expect(seen.elements == [true, true])
    }

    // MARK: Foundation's contract

    @Test func `The completion block runs once and is freed`() async throws {
        let calls = Collector<Void>()
        let isFreed = Door()
        let operation = Work { 1 }
        do {
            let token = Token(isFreed)
            operation.completionBlock = { [token] in withExtendedLifetime(token) { calls.append(()) } }
        }
        _ = try await run(operation)
        await calls.count(1)
        await isFreed.pass()
        #expect(calls.elements.count == 1)
    }

    @Test func `A queue of width one runs one at a time`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let running = Locked(0)
        let operations = (0..<50).map { _ in
            Work {
                #expect(
                    running.withLock { running in
                        running += 1
                        return running
                    } == 1)
                // Gives another operation the chance to run beside this one, were the queue to start it.
                await Task.yield()
                running.withLock { $0 -= 1 }
            }
        }
        for operation in operations { queue.addOperation(operation) }
        for operation in operations { try await operation.value }
    }

    @Test func `A higher priority goes first`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let order = Collector<String>()
        let low = Work { order.append("low") }
        let high = Work { order.append("high") }
        low.queuePriority = .low
        high.queuePriority = .veryHigh
        queue.addOperation(low)
        queue.addOperation(high)
        queue.isSuspended = false
        try await low.value
        try await high.value
        #expect(order.elements == ["high", "low"])
    }

    @Test func `The quality of service becomes the priority of the task`() async throws {
        let operation = Work { Task.currentPriority }
        operation.qualityOfService = .background
        #expect(try await run(operation) == .background)
    }

    @Test func `A barrier waits for operations and holds later ones`() async throws {
        let queue = OperationQueue()
        let order = Collector<String>()
        let door = Door()
        let before = Work {
            await door.pass()
            order.append("before")
        }
        let after = Work { order.append("after") }
        queue.addOperation(before)
        queue.addBarrierBlock { order.append("barrier") }
        queue.addOperation(after)
        door.open()
        try await after.value
        #expect(order.elements == ["before", "barrier", "after"])
    }

    @Test func `Starting twice runs once`() async throws {
        let runs = Collector<Void>()
        let operation = Work { runs.append(()) }
        operation.start()
        operation.start()
        try await operation.value
        operation.start()
        #expect(runs.elements.count == 1)
    }

    @Test func `An operation added twice stops the process with a sentence`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = OperationQueue()
            queue.isSuspended = true
            let operation = Work { 1 }
            queue.addOperation(operation)
            queue.addOperation(operation)
        }
        let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        // Foundation's words differ between platforms.
        #expect(said.contains("already") && said.contains("enqueued"))
    }

    // MARK: Cancelling

    @Test func `A cancel reaches work that has not suspended yet`() async throws {
        let hasBegun = Door()
        let operation = try await madeOutsideOfTasks {
            Work {
                hasBegun.open()
                await blockUntilCancelled()
            }
        }
        OperationQueue().addOperation(operation)
        await hasBegun.pass()
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test func `Cancelling the awaiter cancels the operation`() async {
        let operation = Work { try await ManualClock().sleep(for: .seconds(1)) }
        OperationQueue().addOperation(operation)
        let awaiter = Task { try await operation.value }
        awaiter.cancel()
        await #expect(throws: CancellationError.self) { try await awaiter.value }
        #expect(operation.isCancelled)
    }

    @Test func `Cancelling the awaiter of an operation that nobody starts resumes it`() async {
        let operation = Work { 1 }
        let awaiter = Task { try await operation.value }
        awaiter.cancel()
        await #expect(throws: CancellationError.self) { try await awaiter.value }
    }

    @Test func `Cancelling after the finish changes nothing`() async throws {
        let operation = Work { 1 }
        _ = try await run(operation)
        operation.cancel()
        #expect(!operation.isCancelled)
        #expect(try operation.result?.get() == 1)
    }

    @Test func `A cancellation error out of run cancels the operation`() async {
        let operation = Work<Int> { throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await run(operation) }
        #expect(operation.isCancelled)
    }

    // MARK: Task-local values

    @Test func `Task local values of the init hold in run`() async throws {
        let operation = Place.$name.withValue("where it was made") { Work { Place.name } }
        let value = try await Place.$name.withValue("where it is awaited") { try await run(operation) }
        #expect(value == "where it was made")
    }

    @Test func `An operation made outside of tasks has no task local values`() async throws {
        let operation = try await madeOutsideOfTasks { Work { Place.name } }
        let value = try await Place.$name.withValue("here") { try await run(operation) }
        #expect(value == "nowhere")
    }

    private func madeOutsideOfTasks<Value>(_ make: @escaping @Sendable () -> Work<Value>) async throws -> Work<Value> {
        // By way of a lock: ThreadSanitizer does not always see that what comes before a resumption comes before what follows.
        let made = Locked<Work<Value>?>(nil)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                made.withLock { $0 = make() }
                continuation.resume()
            }
        }
        return try #require(made.withLock { $0 })
    }

    // MARK: Memory

    @Test func `A finished operation is freed`() async throws {
        let isFreed = Door()
        do {
            let operation = Work { [token = Token(isFreed)] in withExtendedLifetime(token) { 1 } }
            operation.whenFinished { [operation] _ in withExtendedLifetime(operation) {} }
            _ = try await run(operation)
        }
        await isFreed.pass()
    }

    @Test func `An operation that was never started is freed`() async {
        let isFreed = Door()
        do {
            _ = Work { [token = Token(isFreed)] in withExtendedLifetime(token) { 1 } }
        }
        await isFreed.pass()
    }
}
