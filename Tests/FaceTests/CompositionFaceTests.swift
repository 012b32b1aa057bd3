import RequestOperations
import RequestOperationsTesting
import Testing

/// Groups, batches and other work than requests, as a program of another module uses them.
@Suite(.timeLimit(.minutes(15))) struct CompositionFaceTests {
    private func operation() -> URLRequestOperation<Data> {
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport([.body(Data("x".utf8))])
        return URLRequestOperation(URL(string: "http://example.invalid/")!, configuration: configuration)
    }

    @Test func `A batch takes operations or a sequence of them`() async throws {
        let queue = OperationQueue()
        let batch = RequestBatch((0..<3).map { _ in operation() }, policy: .collectAll, maximumConcurrency: 2)
        queue.addOperation(batch)
        let results: [Result<Data, any Error>] = await batch.results
        #expect(results.count == 3)
        let lazy = RequestBatch(each: (0..<3).lazy.map { _ in ClosureWork { 1 } }, policy: .quorum(2))
        queue.addOperation(lazy)
        #expect(try await lazy.values.count >= 2)
    }

    @Test func `An array of operations makes a group`() async throws {
        let queue = OperationQueue()
        let group = [operation(), operation()].serialGroup(policy: .runAll)
        try group.add([operation()].concurrentGroup())
        queue.addOperation(group)
        try await group.value
        #expect(group.progress.completedUnitCount == 3)
    }

    @Test func `Other work is retried`() async throws {
        let work = RetryingOperation<Int>(configuration: RequestConfiguration()) { number in number }
        OperationQueue().addOperation(work)
        #expect(try await work.value == 1)
        let subclass = Answer(resource: URL(string: "tcp://example.invalid:7")!)
        OperationQueue().addOperation(subclass)
        #expect(try await subclass.value == 42)
    }

    @Test func `What must hold before an operation runs`() async throws {
        let queue = RequestQueue()
        let (first, second, third) = (ClosureWork { 1 }, ClosureWork { 2 }, ClosureWork { 3 })
        second.addDependency(first, ifFails: .cancel)
        third.addDependency(first, ifFails: .skip)
        second.addCondition(.dependencySucceeded(first), within: .seconds(600))
        second.addCondition(.custom("open") {})
        second.addCondition(.not(.reachable(on: NetworkPath(.unreachable))))
        second.addMutualExclusion("CompositionFaceTests")
        for operation in [first, second, third] { queue.addOperation(operation) }
        #expect(try await second.value + third.value == 5)
    }

    @Test func `Asynchronous code uses a queue without objects of its own`() async throws {
        let queue = OperationQueue()
        #expect(try await queue.value(of: ClosureWork { 1 }) == 1)
        let both = try await queue.value(of: all(of: ClosureWork { 1 }, operation()))
        #expect(both.0 == 1 && both.1 == Data("x".utf8))
        var sum = 0
        for try await result in queue.results(of: (0..<9).lazy.map { number in ClosureWork { number } }, atMost: 2) {
            sum += try result.get()
        }
        #expect(sum == 36)
        await queue.finished()
    }

    @Test func `Steps can be skipped or end their chain`() async throws {
        let chain = StepChain<Int>(
            { _ in .run(ClosureWork { 1 }) }, { _ in .skip }, { last in last == 1 ? .stop : .fail(CancellationError()) }
        )
        let outcome: ChainOutcome<Int> = try await OperationQueue().value(of: chain)
        #expect(outcome.isStopped && outcome.value == 1 && outcome.steps.count == 3 && chain.results.count == 3)
    }

    @Test func `An operation has a progress`() async throws {
        let operation = operation()
        let progress: Progress = operation.progress
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        #expect(progress.totalUnitCount > 0)
    }
}

private final class Answer: RetryingOperation<Int>, @unchecked Sendable {
    override func attempt(_ number: Int) async throws -> Int { 42 }
}

private final class ClosureWork: AsynchronousOperation<Int>, @unchecked Sendable {
    private let work: @Sendable () -> Int

    init(_ work: @escaping @Sendable () -> Int) {
        self.work = work
    }

    override func run() async throws -> Int { work() }
}
