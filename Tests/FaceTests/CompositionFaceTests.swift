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
