/// The one serial queue on which session tasks are made, resumed and cancelled.
///
/// On Linux each of these calls blocks on the I/O queue that all sessions of the process share, so none of them may run on
/// the cooperative pool, and a `cancel()` out of a cancellation handler can deadlock. In one line they also keep their
/// order: a task that is cancelled before it was made is never made.
enum SessionTaskLine {
    private static let queue = DispatchQueue(label: "RequestOperations.URLSessionTransport", qos: .userInitiated)

    static func async(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Cancels a task and returns when that has taken effect. Called on the line.
    static func cancel(_ task: URLSessionTask) {
        task.cancel()
        #if canImport(FoundationNetworking)
            // `cancel()` only enqueues its work on the task's own queue. Reading the priority waits for that queue.
            _ = task.priority
        #endif
    }
}
