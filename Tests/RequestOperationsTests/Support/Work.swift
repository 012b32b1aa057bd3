import RequestOperations
import RequestOperationsTesting
import Testing

/// An operation over a closure.
final class Work<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    private let body: @Sendable () async throws -> Value
    private let queue: DispatchQueue

    init(completionQueue: DispatchQueue = .global(), _ body: @escaping @Sendable () async throws -> Value) {
        self.body = body
        queue = completionQueue
        super.init()
    }

    override var completionQueue: DispatchQueue { queue }

    override func run() async throws -> Value {
        try await body()
    }
}

struct Problem: Error {}

/// Opens a door when nothing holds it any more.
final class Token: Sendable {
    private let isFreed: Door

    init(_ isFreed: Door) {
        self.isFreed = isFreed
    }

    deinit {
        isFreed.open()
    }
}

enum Place {
    @TaskLocal static var name = "nowhere"
}

/// Waits until a condition that nothing announces holds: at most two minutes, as everything else that a machine with two cores
/// tests at the same time may come first.
func eventually(
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) async {
    let end = ContinuousClock.now + .seconds(120)
    var count = 0
    while ContinuousClock.now < end {
        if condition() { return }
        count += 1
        // It may hold for a moment only. But what takes long must not take the processors from the tests beside it.
        if count < 500 { await Task.yield() } else { try? await Task.sleep(for: .microseconds(200)) }
    }
    #expect(condition(), comment, sourceLocation: sourceLocation)
}

/// Adds operations and blocks until they have finished, which Foundation allows outside of asynchronous code only.
func block(on queue: OperationQueue, until operations: [Operation]) {
    queue.addOperations(operations, waitUntilFinished: true)
}

/// Holds its thread, without suspending the Task, until that is cancelled.
func blockUntilCancelled() async {
    let isCancelled = DispatchSemaphore(value: 0)
    // Asynchronous code may not wait for a semaphore; a closure that is none may.
    let block = { isCancelled.wait() }
    await withTaskCancellationHandler {
        block()
    } onCancel: {
        isCancelled.signal()
    }
}

/// Returns when the Task is cancelled.
func blockedUntilCancelled() async {
    let door = Door()
    await withTaskCancellationHandler {
        await door.pass()
    } onCancel: {
        door.open()
    }
}
