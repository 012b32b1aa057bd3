extension Task where Success == Void, Failure == Never {
    /// Starts a Task that inherits nothing, on the calling thread up to its first suspension where the system can do that
    /// (Linux; macOS 26, iOS 26): an operation that is started by its queue then changes threads only when it waits.
    static func startHere(priority: TaskPriority?, _ body: @escaping @Sendable () async -> Void) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediateDetached(priority: priority) { await body() }
        } else {
            startElsewhere(priority: priority, body)
        }
    }

    /// Starts a Task that inherits nothing, on another thread than the calling one.
    static func startElsewhere(priority: TaskPriority?, _ body: @escaping @Sendable () async -> Void) {
        Task.detached(priority: priority) { await body() }
    }
}
