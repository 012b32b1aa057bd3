/// The Task that does the work of an operation.
// A closure, because the layout of `UnsafeCurrentTask` is known only at run time. A type that holds one is slow to
// copy.
struct RunningTask: Sendable {
    let cancel: @Sendable () -> Void
}

extension RunningTask {
    /// The current Task. Any thread may tell it to stop, as long as it has not ended.
    static func current() -> RunningTask {
        withUnsafeCurrentTask { task in
            // We are in a Task, so there is a current one. Any thread may call `cancel()` of an `UnsafeCurrentTask`.
            nonisolated(unsafe) let task = task!
            return RunningTask { task.cancel() }
        }
    }
}
