import RequestOperations
import RequestOperationsTesting
import Testing

/// First links of chains that others have started, or that wait.
@Suite(.timeLimit(.minutes(15))) struct FirstLinkTests {
    @Test func `The value of a finished first link is taken`() async throws {
        let runs = Collector<Void>()
        let first = ClosureOperation {
            runs.append(())
            return 4
        }
        _ = try await run(first)
        #expect(try await run(first.then { value in ClosureOperation { value + 1 } }) == 5)
        #expect(runs.elements.count == 1)
    }

    @Test func `The value of a running first link is awaited`() async throws {
        let door = Door()
        let began = Door()
        let first = ClosureOperation {
            began.open()
            await door.pass()
            return 4
        }
        OperationQueue().addOperation(first)
        await began.pass()
        let chain = first.then { value in ClosureOperation { value + 1 } }
        OperationQueue().addOperation(chain)
        door.open()
        #expect(try await chain.value == 5)
    }

    @Test func `A first link that waits in the queue of the chain is run once`() async throws {
        let runs = Collector<Void>()
        let first = ClosureOperation {
            runs.append(())
            return 4
        }
        let chain = first.then { value in ClosureOperation { value + 1 } }
        let last = ClosureOperation { 6 }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        // One that has finished cannot be added.
        queue.isSuspended = true
        for operation in [chain, first, last] { queue.addOperation(operation) }
        queue.isSuspended = false
        #expect(try await chain.value == 5)
        #expect(try await last.value == 6)
        #expect(runs.elements.count == 1)
    }

    #if canImport(FoundationNetworking)
        // A queue of Foundation's lets go of what finishes, started by it or not, and on Linux goes on pointing to it.
        @Test func `A first link that waits in a queue stays there until its turn`() async throws {
            let runs = Collector<Void>()
            let queue = OperationQueue()
            queue.isSuspended = true
            var first: AsynchronousOperation<Int>? = ClosureOperation {
                runs.append(())
                return 4
            }
            weak let kept = first
            queue.addOperation(first!)
            let chain = first!.then { value in ClosureOperation { value + 1 } }
            first = nil
            OperationQueue().addOperation(chain)
            #expect(try await chain.value == 5)
            #expect(kept?.isFinished == true)
            #expect(queue.operationCount == 1)
            queue.isSuspended = false
            await queue.drained()
            #expect(queue.operationCount == 0)
            #expect(runs.elements.count == 1)
        }

        @Test func `A foreign operation may depend on a link that is cancelled`() async throws {
            let (begun, beginner) = AsyncStream<Never>.makeStream()
            let first = ClosureOperation {
                beginner.finish()
                await blockedUntilCancelled()
            }
            let dependent = BlockOperation {}
            dependent.addDependency(first)
            let queue = OperationQueue()
            queue.addOperation(dependent)
            let chain = first.then { ClosureOperation {} }
            OperationQueue().addOperation(chain)
            for await _ in begun {}
            chain.cancel()
            await queue.drained()
            #expect(dependent.isFinished)
        }

        @Test func `A foreign operation may depend on a link that a queue of ours holds back`() async throws {
            let held = RequestQueue()
            held.isSuspended = true
            let first = ClosureOperation {}
            held.addOperation(first)
            #expect(first.isReady)
            let dependent = BlockOperation {}
            dependent.addDependency(first)
            let queue = OperationQueue()
            queue.addOperation(dependent)
            queue.addOperation(first.then { ClosureOperation {} })
            await queue.drained()
            #expect(dependent.isFinished)
            #expect(held.allOperationCount == 0)
        }

        @Test func `A link that is cancelled in a queue stays there until its turn`() async throws {
            let queue = OperationQueue()
            queue.isSuspended = true
            let first = ClosureOperation { 4 }
            queue.addOperation(first)
            first.cancel()
            let chain = first.then { value in ClosureOperation { value } }
            OperationQueue().addOperation(chain)
            await #expect(throws: CancellationError.self) { try await chain.value }
            #expect(first.isFinished)
            #expect(queue.operationCount == 1)
            queue.isSuspended = false
            await queue.drained()
        }

        @Test func `Who waits for a link in a suspended queue hears of its finish`() async throws {
            let queue = OperationQueue()
            queue.isSuspended = true
            let (gate, opener) = AsyncStream<Never>.makeStream()
            let first = ClosureOperation { for await _ in gate {} }
            queue.addOperation(first)
            async let wait: Void = first.waited()
            OperationQueue().addOperation(first.then { ClosureOperation {} })
            opener.finish()
            await wait
            #expect(queue.operationCount == 1)
            queue.isSuspended = false
            await queue.drained()
        }

        @Test func `A link that runs when its turn comes leaves the queue at its finish`() async throws {
            let queue = OperationQueue()
            queue.isSuspended = true
            let (begun, beginner) = AsyncStream<Never>.makeStream()
            let (gate, opener) = AsyncStream<Never>.makeStream()
            let first = ClosureOperation {
                beginner.finish()
                for await _ in gate {}
            }
            queue.addOperation(first)
            let chain = first.then { ClosureOperation {} }
            OperationQueue().addOperation(chain)
            for await _ in begun {}
            queue.isSuspended = false
            opener.finish()
            try await chain.value
            await queue.drained()
            #expect(first.isFinished)
        }
    #endif

    @Test func `The first link waits for its dependencies`() async throws {
        let order = Collector<String>()
        let dependency = ClosureOperation { order.append("dependency") }
        let first = ClosureOperation { order.append("first") }
        first.addDependency(dependency)
        let chain = first.then { ClosureOperation {} }
        let queue = OperationQueue()
        queue.addOperation(chain)
        queue.addOperation(dependency)
        try await chain.value
        #expect(order.elements == ["dependency", "first"])
    }

    @Test func `The first link starts when its last dependency is removed`() async throws {
        let dependency = ClosureOperation {}
        let first = ClosureOperation { 3 }
        first.addDependency(dependency)
        let chain = first.then { value in ClosureOperation { value } }
        OperationQueue().addOperation(chain)
        first.removeDependency(dependency)
        #expect(try await chain.value == 3)
    }
}

extension Operation {
    /// Blocks a thread of its own until the operation has finished.
    fileprivate func waited() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                block(untilFinished: self)
                continuation.resume()
            }
        }
    }
}

private func block(untilFinished operation: Operation) {
    operation.waitUntilFinished()
}
