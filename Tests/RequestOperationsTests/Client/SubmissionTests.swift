import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct SubmissionTests {
    private let transport = ScriptedTransport([.stall])
    private let client: RequestClient

    init() {
        client = RequestClient(over: transport)
    }

    private func submit(_ path: String, tag: String? = nil) -> RequestID {
        client.submit(client.operation(.get, path, as: User.self) { $0.tag = tag })
    }

    @Test func `An identifier stays valid through all attempts`() async throws {
        let transport = ScriptedTransport([.status(503), .status(503), .stall])
        let client = RequestClient(over: transport)
        let operation = client.operation(.get, "a", as: User.self)
        let id = client.submit(operation)
        await transport.requests(atLeast: 3)
        let found = try #require(client.submission(id))
        #expect(found.operation === operation && found.path == "a" && found.method == .get)
        #expect(client.cancel(id)?.id == id)
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test func `A submission that has ended is neither found nor cancelled`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        let operation = client.operation(.get, "a", as: User.self)
        let id = client.submit(operation)
        _ = try await operation.value
        #expect(client.submission(id) == nil && client.cancel(id) == nil && client.submissions.isEmpty)
        #expect(!operation.isCancelled)
    }

    @Test func `A request can be found and cancelled before it is submitted, and is not kept`() async throws {
        var operation: URLRequestOperation<User>? = client.operation(.get, "a", as: User.self)
        let id = try #require(operation?.id)
        #expect(client.cancel(id)?.path == "a" && operation?.isCancelled == true)
        operation = nil
        #expect(client.submission(id) == nil)
    }

    @Test func `All requests with a tag are cancelled`() async throws {
        let ids = [submit("a", tag: "x"), submit("b", tag: "y"), submit("c", tag: "x")]
        #expect(client.cancelAll(tag: "x").map(\.id) == [ids[0], ids[2]])
        #expect(client.cancelAll(tag: "x").isEmpty)
        #expect(client.cancelAll().map(\.id) == [ids[1]])
    }

    @Test func `All requests to a host are cancelled`() async throws {
        let ids = [submit("a"), submit("http://other.invalid:8080/b")]
        #expect(client.cancelAll(host: "OTHER.invalid").map(\.id) == [ids[1]])
        #expect(client.cancelAll().map(\.id) == [ids[0]])
    }

    @Test func `A batch has an identifier that cancels all of it`() async throws {
        let members = (0..<3).map { client.operation(.get, "\($0)", as: User.self) }
        let results = Collector<[Bool]>()
        let id = client.batch(members, tag: "t") { results.append($0.map(\.isCancellation)) }
        await transport.requests(atLeast: 3)
        #expect(client.submission(id)?.operation is RequestBatch<User> && client.submission(id)?.tag == "t")
        #expect(client.cancel(id)?.id == id)
        await results.count(1)
        #expect(results.elements == [[true, true, true]])
        await eventually { client.submissions.isEmpty }
    }

    @Test func `A batch that has ended fast had its identifier before`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        let results = Collector<[String?]>()
        let ids = (0..<20).map { _ in
            client.batch([client.operation(.get, "a", as: User.self)]) { results.append($0.map { try? $0.get().name }) }
        }
        await results.count(20)
        #expect(Set(ids).count == 20 && results.elements.allSatisfy { $0 == ["Ada"] })
        await eventually { client.submissions.isEmpty }
    }

    @Test func `A batch without members ends with no results`() async throws {
        let results = Collector<Int>()
        client.batch([URLRequestOperation<User>]()) { results.append($0.count) }
        await results.count(1)
        #expect(results.elements == [0])
    }

    @Test func `A chain that is cancelled between two steps does not go on`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        let (isBetween, isCancelled) = (Door(), Door())
        let results = Collector<Bool>()
        let id = client.chain(
            client.operation(.get, "a", as: User.self).then { _ in
                isBetween.open()
                await isCancelled.pass()
                return client.operation(.get, "b", as: User.self)
            }
        ) { results.append($0.isCancellation) }
        #expect(await isBetween.isOpen(within: .seconds(60)))
        #expect(client.cancel(id)?.operation is RequestChain<User>)
        isCancelled.open()
        await results.count(1)
        #expect(results.elements == [true])
    }

    @Test func `A response without content is a success in a batch and in a chain`() async throws {
        let client = RequestClient(over: ScriptedTransport([.status(204)]))
        let done = Collector<Bool>()
        client.batch([client.operation(.delete, "a", decoder: .void)]) {
            done.append($0.allSatisfy { (try? $0.get()) != nil })
        }
        client.chain(
            client.operation(.delete, "a", decoder: .void).then { client.operation(.delete, "b", decoder: .void) }
        ) { done.append((try? $0.get()) != nil) }
        await done.count(2)
        #expect(done.elements == [true, true])
    }

    @Test func `Work of any kind can be submitted`() async throws {
        let results = Collector<Int>()
        let id = client.submit(ClosureOperation { 7 }, tag: "t") { results.append((try? $0.get()) ?? 0) }
        await results.count(1)
        #expect(results.elements == [7])
        await eventually { client.submission(id) == nil }
    }

    @Test func `An operation of any class can be submitted`() async throws {
        let ran = Collector<Void>()
        let block = BlockOperation { ran.append(()) }
        let kept: Operation = client.operation(.get, "a", as: User.self)
        let id = client.submit(block, tag: "t")
        let ours = client.submit(kept)
        await ran.count(1)
        await eventually { client.submission(id) == nil }
        #expect(client.submission(ours)?.operation === kept)
        client.cancel(ours)
    }

    @Test func `A Task that awaits a submitted batch and is cancelled cancels the batch`() async throws {
        let batch = RequestBatch([client.operation(.get, "a", as: User.self)])
        client.submit(batch)
        let task = Task { await batch.results }
        await transport.requests(atLeast: 1)
        await eventually { batch.state.withLock { $0.isAwaited } }
        task.cancel()
        _ = await task.value
        await eventually { batch.isFinished && batch.isCancelled }
    }

    @Test func `Everything that is cancelled with a batch is returned`() async throws {
        let requests = (1...3).map { client.operation(.get, "\($0)", as: User.self) }
        let batch = RequestBatch(requests)
        let id = client.submit(batch)
        await transport.requests(atLeast: 3)
        #expect(client.cancelAll().map(\.id) == requests.map(\.id) + [id])
        await eventually { batch.isFinished }
        #expect(batch.isCancelled)
    }

    @Test func `A chain that is cancelled before its start ends its first link`() async throws {
        let first = client.operation(.get, "a", as: User.self)
        let chain = first.then { _ in ClosureOperation { 1 } }
        chain.addDependency(ClosureOperation {})
        let id = client.chain(chain)
        client.cancel(id)
        await eventually { first.isFinished && client.submissions.isEmpty }
    }

    @Test func `A chain of steps is submitted like a chain`() async throws {
        let chain = StepChain<User>({ _ in .run(client.operation(.get, "a", as: User.self)) })
        let id = client.chain(chain)
        #expect(client.submission(id)?.operation === chain)
        client.cancel(id)
    }

    // MARK: Shutdown

    @Test func `A client that is shut down lets its requests end`() async throws {
        let door = Door()
        let transport = ScriptedTransport([
            .dynamic { _ in
                await door.pass()
                return .user
            }
        ])
        let client = RequestClient(over: transport)
        let operation = client.operation(.get, "a", as: User.self)
        client.submit(operation)
        await transport.requests(atLeast: 1)
        let shutdown = Task { await client.shutdown(draining: .seconds(600)) }
        await eventually { !client.table.withLock { $0.isOpen } }
        door.open()
        #expect(await shutdown.value == RequestClient.ShutdownCounts(finished: 1, cancelled: 0))
        #expect(try await operation.value.name == "Ada")
    }

    @Test func `What does not end in time is cancelled`() async throws {
        let ids = [submit("a"), submit("b")]
        await transport.requests(atLeast: 2)
        #expect(
            await client.shutdown(draining: .milliseconds(5)) == RequestClient.ShutdownCounts(finished: 0, cancelled: 2)
        )
        #expect(ids.allSatisfy { client.submission($0) == nil })
    }

    @Test func `A client that is shut down accepts nothing more`() async throws {
        let before = client.operation(.get, "a", as: User.self)
        #expect(await client.shutdown() == RequestClient.ShutdownCounts(finished: 0, cancelled: 1))
        #expect(before.isCancelled)
        do {
            _ = try await client.get("a", as: User.self)
            Issue.record("The call succeeded.")
        } catch {
            #expect((error as? RequestError)?.code == .clientShutDown)
        }
        let late = client.operation(.get, "a", as: User.self)
        #expect((await failure(of: late) as? RequestError)?.code == .clientShutDown)
        let work = ClosureOperation { 7 }
        client.submit(work)
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(transport.requests.isEmpty)
        // It has not ended, because nothing has started it.
        await eventually { client.submissions.map(\.id) == [before.id] }
    }

    @Test func `Members of a batch and links of a chain begin while the client drains`() async throws {
        let door = Door()
        let transport = ScriptedTransport([
            .dynamic { _ in
                await door.pass()
                return .user
            }
        ])
        let client = RequestClient(over: transport)
        let requests = (1...5).map { client.operation(.get, "\($0)", as: User.self) }
        let batch = RequestBatch(requests, maximumConcurrency: 1)
        let chain = client.operation(.get, "a", as: User.self).then { _ in client.operation(.get, "b", as: User.self) }
        client.submit(batch)
        client.chain(chain)
        await transport.requests(atLeast: 2)
        let shutdown = Task { await client.shutdown(draining: .seconds(600)) }
        await eventually { !client.table.withLock { $0.isOpen } }
        door.open()
        #expect(await shutdown.value.cancelled == 0)
        #expect(try await batch.values.count == 5)
        #expect(try await chain.value.name == "Ada")
        #expect(transport.requests.count == 7)
    }

    @Test func `A submission after the end of a suspended client ends at once`() async throws {
        client.queue.isSuspended = true
        await client.shutdown()
        let late = client.operation(.get, "a", as: User.self)
        client.submit(late)
        await eventually { late.isFinished }
        #expect(RequestError.Code.clientShutDown ~= late.failure!)
        let work = ClosureOperation { 7 }
        client.submit(work)
        await eventually { work.isFinished && work.isCancelled }
    }

    @Test func `A client can be shut down twice`() async throws {
        _ = submit("a")
        await transport.requests(atLeast: 1)
        async let one = client.shutdown()
        async let other = client.shutdown()
        let counts = await [one, other]
        #expect(counts == Array(repeating: RequestClient.ShutdownCounts(finished: 0, cancelled: 1), count: 2))
    }

    @Test func `What was cancelled before a shutdown and has not ended counts as cancelled`() async throws {
        let (isRunning, gate) = (Locked(false), DispatchSemaphore(value: 0))
        client.submit(
            BlockOperation {
                isRunning.withLock { $0 = true }
                gate.wait()
            })
        await eventually { isRunning.withLock { $0 } }
        #expect(client.cancelAll().count == 1)
        let shutdown = Task { await client.shutdown() }
        await eventually { !client.table.withLock { $0.isOpen } }
        gate.signal()
        #expect(await shutdown.value == RequestClient.ShutdownCounts(finished: 0, cancelled: 1))
    }

    @Test func `A shutdown returns after all callbacks`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        let (calls, gate) = (Locked(0), DispatchSemaphore(value: 0))
        let note: @Sendable () -> Void = {
            gate.wait()
            gate.signal()
            calls.withLock { $0 += 1 }
        }
        for number in 0..<10 {
            let operation = client.operation(.get, "a", as: User.self)
            operation.whenFinished { _ in note() }
            client.submit(operation) { _ in note() }
            client.submit(ClosureOperation { number }) { _ in note() }
        }
        let shutdown = Task {
            await client.shutdown(draining: .seconds(600))
            return calls.withLock { $0 }
        }
        // All operations have ended, and the first callback waits.
        await eventually { client.submissions.isEmpty && !client.table.withLock { $0.isOpen } }
        gate.signal()
        #expect(await shutdown.value == 30)
    }

    @Test func `A shutdown waits for a callback in spite of an operation that never ends`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        let (door, isCalled) = (DispatchSemaphore(value: 0), Locked(false))
        let operation = client.operation(.get, "a", as: User.self)
        client.submit(operation) { _ in
            door.wait()
            isCalled.withLock { $0 = true }
        }
        _ = try await operation.value
        client.queue.isSuspended = true
        let stuck = client.submit(client.operation(.get, "b", as: User.self))
        let shutdown = Task { await client.shutdown() }
        await eventually { client.submission(stuck)?.operation?.isCancelled == true }
        DispatchQueue.global().asyncAfter(deadline: .now() + 1.5) { door.signal() }
        #expect(await shutdown.value == RequestClient.ShutdownCounts(finished: 0, cancelled: 1))
        #expect(isCalled.withLock { $0 })
    }

    @Test func `A cancel ends the wait of a shutdown for a callback`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        let door = DispatchSemaphore(value: 0)
        defer { door.signal() }
        let operation = client.operation(.get, "a", as: User.self)
        client.submit(operation) { _ in door.wait() }
        _ = try await operation.value
        let shutdown = Task { await client.shutdown() }
        await eventually { !client.table.withLock { $0.isOpen } }
        shutdown.cancel()
        #expect(await shutdown.value.cancelled == 0)
    }

    @Test func `What is cancelled while a client drains counts as cancelled`() async throws {
        _ = [submit("a"), submit("b", tag: "x")]
        await transport.requests(atLeast: 2)
        let shutdown = Task { await client.shutdown(draining: .seconds(600)) }
        await eventually { !client.table.withLock { $0.isOpen } }
        client.cancelAll(tag: "x")
        await eventually { client.submissions.count == 1 }
        shutdown.cancel()
        #expect(await shutdown.value == RequestClient.ShutdownCounts(finished: 0, cancelled: 2))
    }
}
