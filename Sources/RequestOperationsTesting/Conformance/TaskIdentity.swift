import Dispatch
import Foundation

/// Identifies the Task that runs the calling code. Two identities can be compared while their Tasks live.
struct TaskIdentity: Hashable, Sendable {
    private let hash: Int?

    static var current: TaskIdentity {
        withUnsafeCurrentTask { TaskIdentity(hash: $0?.hashValue) }
    }
}

/// A thread on which code may block without taking a thread from other code.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class BlockingThread: TaskExecutor {
    private let queue = DispatchQueue(label: "RequestOperationsTesting.BlockingThread")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs a function whose synchronous parts may block. It runs on its own thread where the system supports task
/// executors.
package func onBlockingThread<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return try await body() }
    return try await withTaskExecutorPreference(BlockingThread()) { try await body() }
}
