import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct RunningTaskTests {
    @Test func `A task is there until it was told to stop even if the operation has finished`() async {
        let taskEnded = Door()
        // The Task of a step keeps the task-local values of the place where the operation was made.
        let operation = EndsWhileItIsStopped.$trace.withValue(EndsWhileItIsStopped.Trace(taskEnded)) {
            EndsWhileItIsStopped(taskEnded)
        }
        OperationQueue().addOperation(operation)
        await operation.runs.pass()
        // It blocks the thread.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                operation.cancel()
                continuation.resume()
            }
        }
        #expect(operation.hadFinished && operation.hadTask)
        await operation.taskEnded.pass()
    }

    @Test func `A handler of a cancel that blocks does not keep the operation from finishing`() async {
        let operation = BlocksWhoCancels()
        OperationQueue().addOperation(operation)
        await operation.runs.pass()
        let isCancelled = Door()
        // It blocks the thread.
        Thread.detachNewThread {
            operation.cancel()
            isCancelled.open()
        }
        await eventually { operation.isFinished }
        #expect(operation.isCancelled)
        operation.mayGoOn.signal()
        await isCancelled.pass()
    }
}

/// An operation whose work holds whoever cancels it.
private final class BlocksWhoCancels: AsynchronousOperation<Int>, @unchecked Sendable {
    let runs = Door()
    let mayGoOn = DispatchSemaphore(value: 0)

    override func run() async throws -> Int {
        await withTaskCancellationHandler {
            runs.open()
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        } onCancel: {
            mayGoOn.wait()
        }
        return 0
    }
}

/// An operation whose work returns after it was cancelled and before its Task is told so.
private final class EndsWhileItIsStopped: AsynchronousOperation<Int>, @unchecked Sendable {
    /// What the Task keeps for as long as it is there.
    final class Trace: Sendable {
        let ended: Door

        init(_ ended: Door) {
            self.ended = ended
        }

        deinit {
            ended.open()
        }
    }

    @TaskLocal static var trace: Trace?

    let runs = Door()
    let taskEnded: Door
    private(set) var hadFinished = false
    private(set) var hadTask = false
    private let mayReturn = Door()
    private let finished = DispatchSemaphore(value: 0)

    init(_ taskEnded: Door) {
        self.taskEnded = taskEnded
    }

    override func step(after wait: (any StepWait)?) async throws -> Step<Int> {
        guard wait != nil else {
            let wait = RetryWait(on: .continuous)
            wait.end(with: .retryNow)
            return .waits(wait)
        }
        runs.open()
        await mayReturn.pass()
        return .finished(1)
    }

    override func runWasStopped() {
        subscribeToFinish { [finished] in finished.signal() }
        mayReturn.open()
        hadFinished = finished.wait(timeout: .now() + .seconds(600)) == .success
        // Some time for the Task to end, were it to.
        let gone = DispatchSemaphore(value: 0)
        Task { [taskEnded] in
            await taskEnded.pass()
            gone.signal()
        }
        hadTask = gone.wait(timeout: .now() + .milliseconds(200)) == .timedOut
    }
}
