/// The one serial queue on which session tasks are made, resumed and cancelled.
///
/// On Linux each of these calls blocks on the I/O queue that all sessions of the process share. So none of them may run
/// on the cooperative pool. A `cancel()` in a cancellation handler can also deadlock. On one queue the calls keep their
/// order: a task that is cancelled before it is made is never made.
enum SessionTaskLine {
    private static let queue = DispatchQueue(label: "RequestOperations.URLSessionTransport", qos: .userInitiated)

    static func async(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Cancels a task and returns when the cancel has taken effect. Must be called on the queue.
    static func cancel(_ task: URLSessionTask) {
        task.cancel()
        #if canImport(FoundationNetworking)
            // `cancel()` only enqueues its work on the task's own queue. Reading the priority waits for that queue.
            _ = task.priority
        #endif
    }
}
