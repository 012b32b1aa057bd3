extension Task where Success == Void, Failure == Never {
    /// Starts a Task that inherits nothing. If the system allows it (Linux; macOS 26, iOS 26), the Task runs on the
    /// calling thread up to its first suspension. So an operation that its queue starts changes threads only when it
    /// waits.
    static func startHere(priority: TaskPriority?, _ body: @escaping @Sendable () async -> Void) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediateDetached(priority: priority) { await body() }
        } else {
            startElsewhere(priority: priority, body)
        }
    }

    /// Starts a Task that inherits nothing, on a thread other than the calling one.
    static func startElsewhere(priority: TaskPriority?, _ body: @escaping @Sendable () async -> Void) {
        Task.detached(priority: priority) { await body() }
    }
}
