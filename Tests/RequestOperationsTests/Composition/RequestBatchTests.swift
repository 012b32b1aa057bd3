import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestBatchTests {
    private func members(_ count: Int, failing: Set<Int> = []) -> [AsynchronousOperation<Int>] {
        (0..<count).map { number in
            ClosureOperation {
                if failing.contains(number) { throw Problem() }
                return number
            }
        }
    }

    @Test func `Results are in the order of the members`() async throws {
        let doors = (0..<3).map { _ in Door() }
        let batch = RequestBatch(
            (0..<3).map { number in
                ClosureOperation { () -> Int in
                    await doors[number].pass()
                    if number > 0 { doors[number - 1].open() }
                    return number
                }
            })
        OperationQueue().addOperation(batch)
        doors[2].open()
        #expect(try await batch.values == [0, 1, 2])
    }

    @Test func `A batch without members succeeds`() async throws {
        #expect(try await run(RequestBatch<Int>([])).isEmpty)
    }

    @Test func `All results are collected`() async throws {
        let batch = RequestBatch(members(50, failing: [3, 7, 11, 19, 23, 31, 43]), policy: .collectAll)
        OperationQueue().addOperation(batch)
        let results = await batch.results
        #expect(results.count == 50 && results.count { (try? $0.get()) == nil } == 7)
        #expect(results.enumerated().allSatisfy { (try? $1.get()) == nil || (try? $1.get()) == $0 })
        #expect(batch.result.map { (try? $0.get()) != nil } == true)
        await #expect(throws: Problem.self) { try await batch.values }
    }

    @Test func `The first failure ends the others`() async throws {
        let never = (0..<49).map { _ in
            ClosureOperation { () -> Int in
                await blockedUntilCancelled()
                return 0
            }
        }
        let batch = RequestBatch(never + members(1, failing: [0]))
        OperationQueue().addOperation(batch)
        await #expect(throws: Problem.self) { try await batch.values }
        let results = await batch.results
        #expect(results.count == 50 && results.last.map { (try? $0.get()) == nil } == true)
        #expect(never.allSatisfy { $0.isCancelled })
    }

    @Test func `Members that did not begin are cancelled`() async throws {
        let members = members(10, failing: [0])
        let batch = RequestBatch(members, maximumConcurrency: 1)
        #expect(await failure(of: batch) is Problem)
        #expect(members.dropFirst().allSatisfy { $0.isCancelled })
        #expect(await batch.results.count == 10)
    }

    @Test func `A quorum is enough`() async throws {
        let stuck = ClosureOperation { () -> Int in
            await blockedUntilCancelled()
            return 0
        }
        let batch = RequestBatch([stuck] + members(4, failing: [1]), policy: .quorum(3))
        OperationQueue().addOperation(batch)
        #expect(try await batch.values == [0, 2, 3] && stuck.isCancelled)
    }

    @Test func `Without a quorum the batch fails with the first error`() async throws {
        #expect(await failure(of: RequestBatch(members(4, failing: [0, 1]), policy: .quorum(3))) is Problem)
    }

    @Test func `A quorum that is too large is an error`() async throws {
        let error = await failure(of: RequestBatch(members(2), policy: .quorum(3)))
        #expect(error.map { RequestError.Code.unsupported ~= $0 } == true)
    }

    @Test func `No more run at once than allowed`() async throws {
        let running = Locked((now: 0, most: 0))
        let batch = RequestBatch(
            (0..<40).map { _ in
                ClosureOperation {
                    running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    for _ in 0..<10 { await Task.yield() }
                    running.withLock { $0.now -= 1 }
                }
            }, maximumConcurrency: 4)
        _ = try await run(batch)
        #expect(running.withLock { $0.most } <= 4)
    }

    @Test func `A sequence makes the next member when it can begin`() async throws {
        let made = Collector<Int>()
        let door = Door()
        let sequence = (0..<1000).lazy.map { number in
            made.append(number)
            return ClosureOperation { () -> Int in
                await door.pass()
                return number
            }
        }
        let batch = RequestBatch(each: sequence, maximumConcurrency: 8)
        OperationQueue().addOperation(batch)
        await made.count(8)
        #expect(made.count == 8)
        door.open()
        #expect(try await batch.values == Array(0..<1000))
        #expect(batch.progress.fractionCompleted == 1)
    }

    @Test func `Cancelling it cancels its members`() async throws {
        let begun = Collector<Void>()
        let members = (0..<4).map { _ in
            ClosureOperation {
                begun.append(())
                await blockedUntilCancelled()
            }
        }
        let batch = RequestBatch(members, maximumConcurrency: 2)
        OperationQueue().addOperation(batch)
        await begun.count(2)
        batch.cancel()
        await #expect(throws: CancellationError.self) { try await batch.value }
        await eventually { members.allSatisfy { $0.isCancelled } }
        #expect(begun.count == 2)
    }

    @Test func `Cancelling it before the start cancels its members`() async throws {
        let members = members(3)
        let batch = RequestBatch(members)
        batch.cancel()
        #expect(await failure(of: batch) is CancellationError)
        #expect(members.allSatisfy { $0.isCancelled })
    }

    @Test func `A member that is cancelled counts as failed`() async throws {
        let members = members(3)
        members[1].cancel()
        let batch = RequestBatch(members, policy: .collectAll)
        OperationQueue().addOperation(batch)
        let results = await batch.results
        #expect(results.map { (try? $0.get()) != nil } == [true, false, true])
    }

    @Test func `A member that is left out does not fail the batch and has no value`() async throws {
        let failing = ClosureOperation<Void> { throw Problem() }
        let members = (1...3).map { number in ClosureOperation { number } }
        members[1].addDependency(failing, ifFails: .skip)
        let batch = RequestBatch(members)
        batch.addDependency(failing)
        let queue = OperationQueue()
        queue.addOperation(failing)
        queue.addOperation(batch)
        #expect(try await batch.values == [1, 3])
        #expect(await batch.results.count == 3)
    }

    @Test func `Its progress comes as a stream that ends with it`() async throws {
        let batch = RequestBatch(members(20), maximumConcurrency: 2)
        let updates = batch.progressUpdates
        OperationQueue().addOperation(batch)
        var counts: [Int64] = []
        for await update in updates {
            #expect(update.total == 20)
            counts.append(update.completed)
        }
        #expect(counts == counts.sorted() && counts.first == 0 && counts.last == 20)
    }

    @Test func `Cancelling its progress cancels it`() async throws {
        let blocked = ClosureOperation<Int> {
            await blockedUntilCancelled()
            return 0
        }
        let batch = RequestBatch([blocked])
        OperationQueue().addOperation(batch)
        await eventually { batch.isExecuting }
        batch.progress.cancel()
        await eventually { batch.isFinished && batch.isCancelled }
    }

    @Test func `In a queue of width one its requests take the only place in turn`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let transport = ScriptedTransport((0..<5).map { _ in .body(Data()) })
        let batch = RequestBatch((0..<5).map { _ in URLRequestOperation(anyRequest, configuration: .over(transport)) })
        queue.addOperation(batch)
        #expect(try await batch.values.count == 5)
    }

    @Test func `A response without content is a success`() async throws {
        let transport = ScriptedTransport([.status(204), .status(204)])
        let batch = RequestBatch((0..<2).map { _ in URLRequestOperation(anyRequest, configuration: .over(transport)) })
        OperationQueue().addOperation(batch)
        #expect(try await batch.values == [Data(), Data()])
    }

    @Test func `Batches can be members`() async throws {
        let batch = RequestBatch([RequestBatch(members(2)), RequestBatch(members(3))])
        OperationQueue().addOperation(batch)
        #expect(try await batch.values.map(\.count) == [2, 3])
    }
}
