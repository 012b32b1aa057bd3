import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct FailedDependencyTests {
    static let queues: [@Sendable () -> OperationQueue] = [{ OperationQueue() }, { RequestQueue() }]

    @Test(arguments: queues)
    func `A dependent with the rule cancel fails with the error of its dependency and never runs`(
        makeQueue: @Sendable () -> OperationQueue
    ) async {
        let queue = makeQueue()
        let hasRun = Locked(false)
        for _ in 0..<100 {
            let failing = Work<Int> { throw Problem() }
            let dependent = Work {
                hasRun.withLock { $0 = true }
                return 1
            }
            dependent.addDependency(failing, ifFails: .cancel)
            queue.addOperation(dependent)
            queue.addOperation(failing)
            let error = await requestError(of: dependent)
            #expect(error?.code == .dependencyFailed && error?.underlying is Problem && error?.stage == .start)
            // On a busy machine the error may be there before the queue has come to the dependent.
            await eventually { dependent.isFinished }
            #expect(!dependent.isCancelled)
        }
        #expect(!hasRun.withLock { $0 })
    }

    @Test(arguments: queues)
    func `A dependent with the rule run goes on`(makeQueue: @Sendable () -> OperationQueue) async throws {
        let queue = makeQueue()
        let failing = Work<Int> { throw Problem() }
        let dependent = Work { 1 }
        dependent.addDependency(failing, ifFails: .run)
        queue.addOperation(failing)
        queue.addOperation(dependent)
        #expect(try await dependent.value == 1)
    }

    @Test(arguments: queues)
    func `A dependent with the rule skip is left out and those that run anyway go on`(
        makeQueue: @Sendable () -> OperationQueue
    ) async throws {
        let queue = makeQueue()
        let failing = Work<Int> { throw Problem() }
        let (skipped, next, last) = (Work { 1 }, Work { 2 }, Work { 3 })
        skipped.addDependency(failing, ifFails: .skip)
        next.addDependency(skipped, ifFails: .run)
        last.addDependency(skipped, ifFails: .cancel)
        for operation in [last, next, skipped, failing] { queue.addOperation(operation) }
        #expect(await requestError(of: skipped)?.code == .skipped)
        #expect(try await next.value == 2)
        let error = await requestError(of: last)
        #expect(error?.code == .dependencyFailed && (error?.underlying as? RequestError)?.code == .skipped)
    }

    @Test func `A dependency that was cancelled has failed`() async {
        let (cancelled, dependent, queue) = (Work { 1 }, Work { 2 }, OperationQueue())
        let (foreign, second) = (BlockOperation {}, Work { 3 })
        dependent.addDependency(cancelled, ifFails: .cancel)
        second.addDependency(foreign, ifFails: .cancel)
        cancelled.cancel()
        foreign.cancel()
        for operation in [dependent, cancelled, second, foreign] { queue.addOperation(operation) }
        #expect(await requestError(of: dependent)?.underlying is CancellationError)
        #expect(await requestError(of: second)?.underlying is CancellationError)
    }

    @Test func `A dependency that had failed before counts too`() async {
        let failed = Work<Int> { throw Problem() }
        _ = await failure(of: failed)
        let dependent = Work { 1 }
        dependent.addDependency(failed, ifFails: .cancel)
        #expect(await failure(of: dependent) is RequestError)
    }

    @Test func `A dependency that succeeds changes nothing`() async throws {
        let (first, dependent) = (Work { 1 }, Work { 2 })
        dependent.addDependency(first, ifFails: .cancel)
        OperationQueue().addOperation(first)
        #expect(try await run(dependent) == 2)
    }

    @Test func `The rule of a dependency can be set later and goes with it`() async throws {
        let failing = Work<Int> { throw Problem() }
        let (first, second) = (Work { 1 }, Work { 2 })
        for dependent in [first, second] {
            dependent.addDependency(failing)
            dependent.addDependency(failing, ifFails: .cancel)
        }
        second.removeDependency(failing)
        let queue = RequestQueue()
        for operation in [failing, first, second] { queue.addOperation(operation) }
        #expect(await requestError(of: first)?.code == .dependencyFailed)
        #expect(try await second.value == 2)
    }

    @Test func `The rule of a dependency can be set back to run`() async throws {
        let failing = Work<Void> { throw Problem() }
        let dependent = Work { 1 }
        dependent.addDependency(failing, ifFails: .cancel)
        dependent.addDependency(failing, ifFails: .run)
        OperationQueue().addOperations([failing, dependent])
        #expect(try await dependent.value == 1)
    }

    @Test func `The cause is the dependency that was added first`() async {
        let (first, second) = (Work<Int> { throw Problem() }, Work { 1 })
        second.cancel()
        let dependent = Work { 2 }
        dependent.addDependency(first, ifFails: .cancel)
        dependent.addDependency(second, ifFails: .skip)
        let queue = OperationQueue()
        for operation in [second, first, dependent] { queue.addOperation(operation) }
        #expect(await requestError(of: dependent)?.underlying is Problem)
    }

    @Test func `A failure goes down a chain of dependents`() async {
        let queue = RequestQueue()
        var last: Work<Int> = Work { throw Problem() }
        queue.addOperation(last)
        for _ in 0..<50 {
            let next = Work { 1 }
            next.addDependency(last, ifFails: .cancel)
            queue.addOperation(next)
            last = next
        }
        #expect(await requestError(of: last)?.code == .dependencyFailed)
    }

    @Test func `In a full queue it ends without a place`() async {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let door = Door()
        queue.addOperation(Work { await door.pass() })
        let (failing, dependent) = (Work<Int> { throw Problem() }, Work { 1 })
        dependent.addDependency(failing, ifFails: .cancel)
        queue.addOperation(dependent)
        OperationQueue().addOperation(failing)
        #expect(await requestError(of: dependent)?.code == .dependencyFailed)
        door.open()
    }

    @Test func `Members of groups and links of chains keep to it`() async throws {
        let failing = Work<Void> { throw Problem() }
        let (skipped, cancelled, last) = (Work {}, Work {}, Work {})
        skipped.addDependency(failing, ifFails: .skip)
        cancelled.addDependency(failing, ifFails: .cancel)
        let group = RequestGroup([skipped, last], order: .serial)
        OperationQueue().addOperation(failing)
        try await run(group)
        #expect(throws: RequestError.self) { try skipped.result?.get() }
        #expect(last.result != nil)
        let chain = cancelled.then { _ in Work { 1 } }
        #expect(await failure(of: chain).map { RequestError.Code.dependencyFailed ~= $0 } == true)
    }

    @Test func `A chain that must not run runs no link`() async {
        let failing = Work<Int> { throw Problem() }
        let hasRun = Locked(false)
        let inner = Work { hasRun.withLock { $0 = true } }.then { _ in Work { 1 } }
        inner.addDependency(failing, ifFails: .cancel)
        OperationQueue().addOperation(failing)
        _ = await failure(of: inner.then { _ in Work { 2 } })
        #expect(!hasRun.withLock { $0 })
    }

    @Test func `In a concurrent group the cause stays when the group cancels its members`() async {
        for _ in 0..<50 {
            let failing = Work<Void> { throw Problem() }
            let dependent = Work {}
            dependent.addDependency(failing, ifFails: .cancel)
            // Both fail at about the same time.
            _ = await failure(of: [dependent, failing].concurrentGroup())
            let error = #expect(throws: RequestError.self) { try dependent.result?.get() }
            #expect(error?.underlying is Problem)
        }
    }

    @Test func `A cancel before the end of the dependency ends it as cancelled`() async {
        let (never, dependent) = (Work { 1 }, Work { 2 })
        dependent.addDependency(never, ifFails: .cancel)
        let queue = RequestQueue()
        queue.addOperation(dependent)
        dependent.cancel()
        await #expect(throws: CancellationError.self) { try await dependent.value }
    }

    @Test func `A request that depends on a failed one sends nothing`() async {
        let transport = ScriptedTransport([.status(404)])
        let queue = RequestQueue()
        let first = URLRequestOperation(anyRequest, configuration: .over(transport))
        let second = URLRequestOperation(anyRequest, configuration: .over(transport))
        second.addDependency(first, ifFails: .cancel)
        queue.addOperation(second)
        queue.addOperation(first)
        let error = await requestError(of: second)
        #expect(error?.code == .dependencyFailed && error.map { $0.localizedDescription.hasSuffix("succeed.") } == true)
        #expect((error?.underlying as? RequestError)?.code == .unacceptableStatus && transport.requests.count == 1)
    }

    @Test func `A request that did not run names itself and the cause`() async throws {
        let url = URL(string: "http://example.invalid/")!  // A literal that is a URL.
        let requests = ["a", "b", "c"].map {
            URLRequestOperation(url.appending(path: $0), configuration: .scripted([.status(404)]))
        }
        requests[1].addDependency(requests[0], ifFails: .cancel)
        requests[2].addDependency(requests[1], ifFails: .skip)
        OperationQueue().addOperations(requests)
        let error = try #require(await requestError(of: requests[1]))
        #expect(error.code == .dependencyFailed && error.method == "GET" && error.requestID == requests[1].id)
        #expect(error.location == "http://example.invalid/b")
        let skipped = "\(try #require(await requestError(of: requests[2])))"
        #expect(
            skipped.hasPrefix("skipped in start, GET http://example.invalid/c: unacceptableStatus in validate, GET "))
        #expect(skipped.contains("example.invalid/a, status 404") && !skipped.contains("dependencyFailed"))
    }
}
