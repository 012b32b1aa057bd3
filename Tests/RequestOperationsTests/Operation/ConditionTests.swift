import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct ConditionTests {
    private let evaluated = Collector<String>()

    private func condition(_ name: String, holds: Bool = true) -> OperationCondition {
        .custom(name) { [evaluated] in
            evaluated.append(name)
            if !holds { throw Problem() }
        }
    }

    private func unmet(_ operation: AsynchronousOperation<Int>) async -> RequestError? {
        let error = await failure(of: operation) as? RequestError
        return error?.code == .conditionFailed ? error : nil
    }

    @Test(arguments: FailedDependencyTests.queues)
    func `An operation runs when its conditions hold`(makeQueue: @Sendable () -> OperationQueue) async throws {
        let queue = makeQueue()
        let operation = Work { [evaluated] in evaluated.elements }
        for name in ["a", "b", "c"] { operation.addCondition(condition(name)) }
        queue.addOperation(operation)
        #expect(try await operation.value == ["a", "b", "c"])
    }

    @Test(arguments: FailedDependencyTests.queues)
    func `A condition that does not hold ends the operation and is named`(
        makeQueue: @Sendable () -> OperationQueue
    ) async {
        let queue = makeQueue()
        let operation = Work { [evaluated] in evaluated.append("work") }
        for (name, holds) in [("a", true), ("b", false), ("c", true)] {
            operation.addCondition(condition(name, holds: holds))
        }
        queue.addOperation(operation)
        let error = await requestError(of: operation)
        #expect(error?.code == .conditionFailed && error?.underlying is Problem)
        #expect(error?.reason == "the condition \"b\" does not hold" && evaluated.elements == ["a", "b"])
    }

    @Test func `Nothing is evaluated before the dependencies have finished or before something starts it`() async throws
    {
        let first = Work { [evaluated] in evaluated.append("first") }
        let operation = Work { 1 }
        operation.addDependency(first)
        operation.addCondition(condition("a"))
        let queue = RequestQueue()
        try await run(first)
        #expect(evaluated.elements == ["first"])
        queue.addOperation(operation)
        #expect(try await operation.value == 1)
        #expect(evaluated.elements == ["first", "a"])
    }

    @Test func `An operation whose condition is open takes no place of its queue`() async throws {
        let queue = RequestQueue()
        queue.maxConcurrentOperationCount = 1
        let door = Door()
        let operation = Work { 1 }
        operation.addCondition(.custom("door") { await door.pass() })
        queue.addOperation(operation)
        let other = Work { 2 }
        queue.addOperation(other)
        #expect(try await other.value == 2)
        door.open()
        #expect(try await operation.value == 1)
    }

    @Test func `Behind a barrier nothing is evaluated`() async throws {
        let queue = RequestQueue()
        let door = Door()
        queue.addOperation(Work { await door.pass() })
        queue.addBarrierBlock { [evaluated] in evaluated.append("barrier") }
        let operation = Work { 1 }
        operation.addCondition(condition("a"))
        queue.addOperation(operation)
        door.open()
        #expect(try await operation.value == 1)
        #expect(evaluated.elements == ["barrier", "a"])
    }

    @Test func `A condition has a time limit`() async {
        let operation = Work { 1 }
        operation.addCondition(.custom("never") { await blockedUntilCancelled() }, within: .milliseconds(1))
        let error = await unmet(operation)
        #expect(error?.reason?.contains("\"never\" does not hold within") == true)
        #expect((error?.underlying as? RequestError)?.code == .timedOut)
    }

    @Test func `A condition that throws a cancellation cancels the operation`() async {
        let operation = Work { 1 }
        operation.addCondition(.custom("cancelled") { throw CancellationError() })
        #expect(await failure(of: operation) is CancellationError)
        #expect(operation.isCancelled)
    }

    @Test func `A cancel ends the evaluation`() async {
        let (begun, ended) = (Door(), Door())
        let operation = Work { 1 }
        operation.addCondition(
            .custom("never") {
                begun.open()
                await blockedUntilCancelled()
                ended.open()
            })
        OperationQueue().addOperation(operation)
        await begun.pass()
        operation.cancel()
        await ended.pass()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test func `A dependency that succeeded is a condition and a dependency`() async throws {
        let (first, failing) = (Work { 1 }, Work<Int> { throw Problem() })
        let (second, third) = (Work { 2 }, Work { 3 })
        second.addCondition(.dependencySucceeded(first))
        third.addCondition(.dependencySucceeded(failing))
        #expect(second.dependencies == [first])
        let queue = OperationQueue()
        for operation in [second, third, first, failing] { queue.addOperation(operation) }
        #expect(try await second.value == 2)
        #expect(await requestError(of: third)?.underlying is Problem)
    }

    @Test func `Not turns a condition round`() async throws {
        let cancelled = Work { 1 }
        cancelled.cancel()
        let (first, second) = (Work { 1 }, Work { 2 })
        first.addCondition(.not(.dependencySucceeded(cancelled)))
        first.addCondition(.not(condition("a", holds: false)))
        second.addCondition(.not(condition("b")))
        OperationQueue().addOperation(cancelled)
        #expect(try await run(first) == 1)
        #expect(await unmet(second)?.reason == "the condition \"not b\" does not hold")
    }

    @Test func `Without a network an operation that needs one fails`() async {
        let operation = Work { 1 }
        operation.addCondition(.reachable(on: NetworkPath(.unreachable)))
        #expect(await unmet(operation)?.reason == "the condition \"reachable\" does not hold")
    }

    @Test func `With a time limit an operation waits for a network`() async throws {
        let path = NetworkPath(.unreachable)
        let operation = Work { 1 }
        operation.addCondition(.reachable(on: path), within: .seconds(600))
        let queue = RequestQueue()
        queue.addOperation(operation)
        #expect(!operation.isExecuting)
        path.update(.reachable(.wifi))
        #expect(try await operation.value == 1)
    }

    @Test func `A member of a group and a link of a chain wait for their conditions`() async throws {
        let (member, link) = (Work { 1 }, Work { 2 })
        member.addCondition(condition("member"))
        link.addCondition(condition("link", holds: false))
        try await run([member].serialGroup())
        let error = await failure(of: link.then { _ in Work { 3 } })
        #expect(error.map { RequestError.Code.conditionFailed ~= $0 } == true)
        #expect(evaluated.elements == ["member", "link"])
    }

    @Test func `A condition that is added too late has no effect`() async throws {
        let operation = Work { 1 }
        operation.addCondition(condition("a"))
        _ = try await run(operation)
        operation.addCondition(condition("b", holds: false))
        #expect(operation.result != nil && evaluated.elements == ["a"])
    }

    @Test func `The conditions of a finished operation are freed`() async throws {
        let isFreed = Door()
        let operation = Work { 1 }
        do {
            let token = Token(isFreed)
            operation.addCondition(.custom("token") { withExtendedLifetime(token) {} })
        }
        _ = try await run(operation)
        await isFreed.pass()
    }
}
