import Foundation
import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct StepTests {
    @TaskLocal private static var tag = "none"

    /// An operation whose work has two steps.
    // Unchecked as its superclass is; the closures are constant.
    private final class InTwoSteps: AsynchronousOperation<String>, @unchecked Sendable {
        private let first: @Sendable (InTwoSteps) async throws -> Void
        private let second: @Sendable (InTwoSteps) async throws -> String

        init(
            first: @escaping @Sendable (InTwoSteps) async throws -> Void = { _ in },
            second: @escaping @Sendable (InTwoSteps) async throws -> String
        ) {
            self.first = first
            self.second = second
        }

        override func step(after wait: (any StepWait)?) async throws -> Step<String> {
            if wait != nil { return .finished(try await second(self)) }
            try await first(self)
            let wait = RetryWait(on: .continuous)
            wait.end(with: .retryNow)
            return .waits(wait)
        }
    }

    @Test func `The value of the last step is the result`() async throws {
        let operation = InTwoSteps { _ in "value" }
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == "value")
    }

    @Test func `The next step has the task local values of the first`() async throws {
        let operation = Self.$tag.withValue("bound") { InTwoSteps { _ in Self.tag } }
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == "bound")
    }

    @Test(arguments: [QualityOfService.userInitiated, .utility, .background])
    func `The next step has the priority of the operation`(quality: QualityOfService) async throws {
        let operation = InTwoSteps { _ in "\(Task.basePriority?.rawValue ?? 0)" }
        operation.qualityOfService = quality
        let door = Door()
        operation.whenFinished { _ in door.open() }
        OperationQueue().addOperation(operation)
        await door.pass()
        #expect(try operation.result?.get() == "\(quality.taskPriority?.rawValue ?? 0)")
    }

    @Test func `The next step knows the queue of the operation`() async throws {
        let queue = OperationQueue()
        let operation = InTwoSteps { _ in OperationQueue.ofCurrentOperation === queue ? "known" : "unknown" }
        queue.addOperation(operation)
        #expect(try await operation.value == "known")
    }

    @Test func `An error of the next step is the failure`() async throws {
        struct Mine: Error {}
        let operation = InTwoSteps { _ in throw Mine() }
        OperationQueue().addOperation(operation)
        await #expect(throws: Mine.self) { try await operation.value }
    }

    @Test func `A cancel in the first step reaches the task of the next`() async throws {
        let wasCancelled = Collector<Bool>()
        let ended = Door()
        let operation = InTwoSteps {
            $0.cancel()
        } second: { _ in
            wasCancelled.append(Task.isCancelled)
            ended.open()
            return ""
        }
        OperationQueue().addOperation(operation)
        await ended.pass()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(wasCancelled.elements == [true] && operation.isCancelled)
    }

    @Test func `A value that comes after the end is dropped`() async throws {
        let (runs, isAbandoned, ended) = (Door(), Door(), Door())
        let operation = InTwoSteps { _ in
            runs.open()
            await isAbandoned.pass()
            ended.open()
            return "late"
        }
        OperationQueue().addOperation(operation)
        await runs.pass()
        operation.cancel()
        operation.whenFinished { _ in isAbandoned.open() }
        await ended.pass()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(throws: CancellationError.self) { try operation.result?.get() }
    }

    @Test func `A request runs all its way where it is called`() async throws {
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data("x".utf8))])
        configuration.retryPolicy.backoff = .constant(.zero)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        #expect(try await operation.run() == Data("x".utf8))
        #expect(operation.attempts.count == 2)
    }
}
