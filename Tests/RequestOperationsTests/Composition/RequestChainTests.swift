import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestChainTests {
    // MARK: The value's way

    @Test func `The next link is made from the value of the first`() async throws {
        let chain = ClosureOperation { 20 }.then { value in ClosureOperation { "\(value + 1)" } }
        #expect(try await run(chain) == "21")
    }

    @Test func `Requests are links`() async throws {
        let transport = ScriptedTransport([.body(Data("/next".utf8)), .body(Data("end".utf8))])
        let chain = URLRequestOperation(anyRequest, decoder: .string, configuration: .over(transport)).then { path in
            let next = URLRequest(url: URL(string: "http://example.invalid\(path)")!)
            return URLRequestOperation(next, decoder: .string, configuration: .over(transport))
        }
        #expect(try await run(chain) == "end")
        #expect(transport.requests.map { $0.url?.path } == ["/path", "/next"])
    }

    @Test func `A chain can be the first link`() async throws {
        let chain = ClosureOperation { 1 }.then { one in ClosureOperation { one + 1 } }.then { two in
            ClosureOperation { two * 10 }
        }
        #expect(try await run(chain) == 20)
    }

    @Test func `A chain can be the next link`() async throws {
        let chain = ClosureOperation { 1 }.then { one in
            ClosureOperation { one + 1 }.then { two in ClosureOperation { two * 10 } }
        }
        #expect(try await run(chain) == 20)
    }

    @Test func `A chain that is a first link has its own result`() async throws {
        let inner = ClosureOperation { 1 }.then { one in ClosureOperation { one + 1 } }
        _ = try await run(inner.then { _ in ClosureOperation {} })
        #expect(try inner.result?.get() == 2)
    }

    @Test func `An operation can depend on a chain`() async throws {
        let chain = ClosureOperation { 1 }.then { one in ClosureOperation { one + 1 } }
        let dependent = ClosureOperation { [unowned chain] in try chain.result?.get() }
        dependent.addDependency(chain)
        let queue = OperationQueue()
        queue.addOperation(dependent)
        queue.addOperation(chain)
        #expect(try await dependent.value == 2)
    }

    // MARK: Failure

    @Test func `A first link that fails fails the chain and the next is not made`() async {
        let made = Collector<Void>()
        let chain = ClosureOperation<Int> { throw Mishap() }.then { value in
            made.append(())
            return ClosureOperation { value }
        }
        #expect(await failure(of: chain) is Mishap)
        #expect(made.elements.isEmpty)
    }

    @Test func `A next link that fails fails the chain`() async {
        let chain = ClosureOperation { 1 }.then { _ in ClosureOperation<Int> { throw Mishap() } }
        #expect(await failure(of: chain) is Mishap)
    }

    @Test func `An error out of the closure fails the chain`() async {
        let chain = ClosureOperation { 1 }.then { _ -> ClosureOperation<Int> in throw Mishap() }
        #expect(await failure(of: chain) is Mishap)
    }

    @Test func `A failure in the middle of a chain of chains fails the whole`() async {
        let made = Collector<Int>()
        var chain = ClosureOperation { 0 }.then { value in ClosureOperation { value } }
        for link in 1...9 {
            chain = chain.then { value in
                made.append(link)
                return ClosureOperation {
                    guard link < 5 else { throw Mishap() }
                    return value + 1
                }
            }
        }
        #expect(await failure(of: chain) is Mishap)
        #expect(made.elements == [1, 2, 3, 4, 5])
    }

    // MARK: Cancellation

    @Test func `Cancelling the chain cancels the first link while it runs`() async {
        let door = Door()
        let made = Collector<Void>()
        let first = ClosureOperation {
            door.open()
            try await ManualClock().sleep(for: .seconds(1))
        }
        let chain = first.then { _ in
            made.append(())
            return ClosureOperation {}
        }
        OperationQueue().addOperation(chain)
        await door.pass()
        chain.cancel()
        await #expect(throws: CancellationError.self) { try await chain.value }
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(chain.isCancelled && first.isCancelled && made.elements.isEmpty)
    }

    @Test func `Cancelling the chain cancels the next link while it runs`() async {
        let door = Door()
        let next = ClosureOperation {
            door.open()
            try await ManualClock().sleep(for: .seconds(1))
        }
        let chain = ClosureOperation {}.then { next }
        OperationQueue().addOperation(chain)
        await door.pass()
        chain.cancel()
        await #expect(throws: CancellationError.self) { try await next.value }
        #expect(next.isCancelled)
    }

    @Test func `Cancelling the chain cancels a link that waits for a dependency`() async {
        let door = Door()
        let finished = Door()
        let next = ClosureOperation {}
        next.addDependency(ClosureOperation {})
        next.whenFinished { _ in finished.open() }
        let chain = ClosureOperation {}.then {
            door.open()
            return next
        }
        OperationQueue().addOperation(chain)
        await door.pass()
        chain.cancel()
        await #expect(throws: CancellationError.self) { try await next.value }
        await finished.pass()
        #expect(next.isFinished && next.isCancelled)
    }

    @Test func `A link that is made while the chain is cancelled finishes without being run`() async {
        let finished = Door()
        let next = ClosureOperation { _ = Issue.record("It was run.") }
        next.whenFinished { _ in finished.open() }
        let chain = Locked<RequestChain<Void>?>(nil)
        let operation = ClosureOperation {}.then {
            chain.withLock { $0 }?.cancel()
            return next
        }
        chain.withLock { $0 = operation }
        OperationQueue().addOperation(operation)
        await #expect(throws: CancellationError.self) { try await next.value }
        await finished.pass()
        #expect(next.isFinished && next.isCancelled)
        await #expect(throws: CancellationError.self) { try await operation.value }
        chain.withLock { $0 = nil }
    }

    @Test func `A cancelled link cancels the chain`() async {
        let door = Door()
        let first = ClosureOperation {
            door.open()
            try await ManualClock().sleep(for: .seconds(1))
        }
        let chain = first.then { _ in ClosureOperation {} }
        OperationQueue().addOperation(chain)
        await door.pass()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await chain.value }
        #expect(chain.isCancelled)
    }

    @Test func `Cancelling a chain of chains finishes each of them`() async {
        let door = Door()
        let inner = ClosureOperation {
            door.open()
            try await ManualClock().sleep(for: .seconds(1))
        }.then { _ in ClosureOperation {} }
        let middle = inner.then { _ in ClosureOperation {} }
        let outer = middle.then { _ in ClosureOperation {} }
        OperationQueue().addOperation(outer)
        await door.pass()
        outer.cancel()
        for chain in [inner, middle, outer] {
            await #expect(throws: CancellationError.self) { try await chain.value }
        }
    }

    @Test func `A chain that is cancelled before its start runs nothing`() async {
        let first = ClosureOperation {}
        let chain = first.then { _ in ClosureOperation {} }
        chain.cancel()
        #expect(await failure(of: chain) is CancellationError)
        await eventually { first.isFinished && first.isCancelled }
    }

    @Test func `A first link in a queue outlives a chain that did not begin`() async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let first = ClosureOperation { 1 }
        queue.addOperation(first)
        let chain = first.then { _ in ClosureOperation {} }
        chain.cancel()
        #expect(await failure(of: chain) is CancellationError)
        queue.isSuspended = false
        #expect(try await first.value == 1)
    }

    // MARK: Task-local values

    @Test func `The task local values of the chain hold in the closure and the next link`() async throws {
        let first = ClosureOperation { Trace.id }
        let chain = Trace.$id.withValue("a") {
            first.then { before in
                let inClosure = Trace.id
                return ClosureOperation { [before, inClosure, Trace.id] }
            }
        }
        #expect(try await run(chain) == ["none", "a", "a"])
    }

    // MARK: Ten thousand links

    @Test func `A long chain keeps no finished one`() async throws {
        let alive = Locked((now: 0, most: 0))
        var chain = Counted(alive, 0).then { value in Counted(alive, value + 1) }
        for _ in 2...2_000 {
            chain = chain.then { value in Counted(alive, value + 1) }
        }
        #expect(try await run(chain) == 2_000)
        #expect(alive.withLock { $0.most } < 10)
    }

    @Test func `A chain of ten thousand links is freed without recursion`() async throws {
        try await onASmallStack {
            var chain = ClosureOperation { 0 }.then { value in ClosureOperation { value } }
            for _ in 1...10_000 { chain = chain.then { value in ClosureOperation { value } } }
        }
    }

    @Test func `Two thousand chains that all run are cancelled without recursion`() async throws {
        let began = Door()
        var chains = [
            ClosureOperation {
                began.open()
                try await ManualClock().sleep(for: .seconds(1))
            }.then { ClosureOperation {} }
        ]
        for link in 1..<2_000 { chains.append(chains[link - 1].then { ClosureOperation {} }) }
        let queue = OperationQueue()
        for chain in chains { queue.addOperation(chain) }
        await began.pass()
        // One that is cancelled before its start does not cancel what it would have run.
        await eventually { chains.allSatisfy(\.isExecuting) }
        let last = try #require(chains.last)
        try await onASmallStack { last.cancel() }
        for chain in chains { await #expect(throws: CancellationError.self) { try await chain.value } }
    }
}

/// An operation that counts how many of its kind are alive.
// Unchecked as its superclass is; its own properties are constants.
private final class Counted: AsynchronousOperation<Int>, @unchecked Sendable {
    private let alive: Locked<(now: Int, most: Int)>
    private let number: Int

    init(_ alive: Locked<(now: Int, most: Int)>, _ number: Int) {
        self.alive = alive
        self.number = number
        alive.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
    }

    deinit {
        alive.withLock { $0.now -= 1 }
    }

    override func run() async throws -> Int { number }
}

private struct Mishap: Error {}

private enum Trace {
    @TaskLocal static var id = "none"
}

/// Runs a body on a thread whose stack is too small for a recursion of ten thousand.
private func onASmallStack(_ body: @escaping @Sendable () -> Void) async throws {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            body()
            continuation.resume()
        }
        thread.stackSize = 512 << 10
        thread.start()
    }
}
