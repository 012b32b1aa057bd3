import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct OperationResultsTests {
    private let made = Collector<Int>()

    /// The operations, made as they are asked for.
    private func operations(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Int = { $0 }
    ) -> some Sequence<Work<Int>> {
        (0..<count).lazy.map { [made] number in
            made.append(number)
            return Work { try await body(number) }
        }
    }

    private func stream(of operations: some Sequence<Work<Int>>) -> AsyncStream<Work<Int>> {
        AsyncStream { continuation in
            for operation in operations { continuation.yield(operation) }
            continuation.finish()
        }
    }

    @Test func `The results come in the order of the operations`() async throws {
        let doors = (0..<4).map { _ in Door() }
        var values: [Int] = []
        doors[3].open()
        let operations = operations(4) { number in
            await doors[number].pass()
            if number > 0 { doors[number - 1].open() }
            return number
        }
        for try await result in OperationQueue().results(of: operations, atMost: 4) { values.append(try result.get()) }
        #expect(values == [0, 1, 2, 3])
    }

    @Test func `The results come as the operations end`() async throws {
        let doors = (0..<4).map { _ in Door() }
        var values: [Int] = []
        doors[3].open()
        let operations = operations(4) { number in
            await doors[number].pass()
            return number
        }
        for try await result in RequestQueue().results(of: operations, atMost: 4, order: .ofEnds) {
            values.append(try result.get())
            if let last = values.last, last > 0 { doors[last - 1].open() }
        }
        #expect(values == [3, 2, 1, 0])
    }

    @Test(arguments: [ResultOrder.ofOperations, .ofEnds])
    func `No operation is made before there is room for it`(order: ResultOrder) async throws {
        var results = RequestQueue().results(of: operations(100), atMost: 8, order: order).makeAsyncIterator()
        #expect(made.count == 0)
        for count in 1...20 {
            _ = try await results.next()
            #expect(made.count <= 7 + count)
        }
    }

    @Test(arguments: [ResultOrder.ofOperations, .ofEnds])
    func `An asynchronous sequence is read as there is room`(order: ResultOrder) async throws {
        let source = Pulled(count: 50)
        var sum = 0
        var count = 0
        for try await result in RequestQueue().results(of: source, atMost: 3, order: order) {
            sum += try result.get()
            count += 1
            #expect(source.pulled.count <= count + 3)
        }
        #expect(count == 50 && sum == 49 * 25)
    }

    @Test func `A result does not wait for a slow source`() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Work<Int>.self)
        continuation.yield(Work { 1 })
        var results = OperationQueue().results(of: stream, atMost: 8).makeAsyncIterator()
        #expect(try await results.next()?.get() == 1)
        continuation.finish()
        #expect(try await results.next() == nil)
    }

    @Test func `An error of the source comes after the results`() async throws {
        var results = OperationQueue().results(of: Pulled(count: 2, fails: true), atMost: 1).makeAsyncIterator()
        #expect(try await results.next()?.get() == 0)
        #expect(try await results.next()?.get() == 1)
        await #expect(throws: Problem.self) { try await results.next() }
        #expect(try await results.next() == nil)
    }

    @Test func `The failure of an operation is a result`() async throws {
        let operations = operations(3) { number in
            if number == 1 { throw Problem() }
            return number
        }
        var failures: [Bool] = []
        for try await result in OperationQueue().results(of: operations) { failures.append((try? result.get()) == nil) }
        #expect(failures == [false, true, false])
    }

    @Test func `A cancel of the Task cancels what has begun and ends the iteration`() async throws {
        let begun = Collector<Work<Int>>()
        let task = Task {
            let operations = (0..<100).lazy.map { _ in
                let operation = Work { () -> Int in
                    await blockedUntilCancelled()
                    return 1
                }
                begun.append(operation)
                return operation
            }
            for try await _ in RequestQueue().results(of: operations, atMost: 3) {}
        }
        await begun.count(3)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(begun.count == 3)
        await eventually { begun.elements.allSatisfy { $0.isCancelled } }
    }

    @Test func `An iteration that stops early cancels what has begun`() async throws {
        let begun = Collector<Work<Int>>()
        let operations = (0..<100).lazy.map { number in
            let operation = Work { () -> Int in
                if number > 0 { await blockedUntilCancelled() }
                return number
            }
            begun.append(operation)
            return operation
        }
        for try await _ in RequestQueue().results(of: operations, atMost: 3) { break }
        await eventually { begun.elements.dropFirst().allSatisfy { $0.isCancelled } }
        #expect(begun.count == 3)
    }

    @Test func `An iteration of an asynchronous sequence that stops early stops reading`() async throws {
        let ended = Door()
        let (stream, continuation) = AsyncStream.makeStream(of: Work<Int>.self)
        continuation.onTermination = { _ in ended.open() }
        continuation.yield(Work { 1 })
        for try await _ in OperationQueue().results(of: stream) { break }
        await ended.pass()
    }

    @Test func `No operations give no results`() async throws {
        var results = OperationQueue().results(of: operations(0)).makeAsyncIterator()
        #expect(try await results.next() == nil)
        #expect(try await results.next() == nil)
    }

    /// Operations that give their numbers.
    private struct Pulled: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let count: Int
        var fails = false
        let pulled = Collector<Int>()

        func makeAsyncIterator() -> Pulled { self }

        mutating func next() async throws -> Work<Int>? {
            let number = pulled.count
            guard number < count else {
                if fails { throw Problem() }
                return nil
            }
            pulled.append(number)
            return Work { number }
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct JoinedOperationTests {
    @Test func `The value is the tuple of the values`() async throws {
        let (number, text, flag) = try await run(all(of: Work { 1 }, Work { "two" }, Work { true }))
        #expect(number == 1 && text == "two" && flag)
    }

    @Test func `The first error cancels the others`() async {
        let never = Work { await blockedUntilCancelled() }
        let error = await failure(of: all(of: never, Work<Int> { throw Problem() }))
        #expect(error is Problem && never.isCancelled)
    }

    @Test func `A cancel cancels the members, also before the start`() async {
        let members = (Work { await blockedUntilCancelled() }, Work { 1 })
        let both = all(of: members.0, members.1)
        OperationQueue().addOperation(both)
        await eventually { members.0.isExecuting }
        both.cancel()
        await #expect(throws: CancellationError.self) { try await both.value }
        await eventually { members.0.isCancelled }
        let unstarted = Work { 1 }
        let second = all(of: unstarted, Work { 2 })
        second.cancel()
        _ = await failure(of: second)
        await eventually { unstarted.isCancelled }
    }

    @Test func `Members may be in a queue`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let (first, second) = (Work { 1 }, Work { "two" })
        queue.addOperation(first)
        queue.addOperation(second)
        let value = try await queue.value(of: all(of: first, second))
        #expect(value == (1, "two"))
    }
}
