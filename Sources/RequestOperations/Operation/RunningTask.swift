/// The Task that does the work of an operation.
// (A closure, since the layout of `UnsafeCurrentTask` is known only when the program runs: whatever holds one is dear to copy.)
struct RunningTask: Sendable {
    let cancel: @Sendable () -> Void
}

extension RunningTask {
    /// The current Task, told to stop from anywhere, for as long as it has not ended.
    static func current() -> RunningTask {
        withUnsafeCurrentTask { task in
            // A Task asks; of an `UnsafeCurrentTask`, `cancel()` may be called from any place.
            nonisolated(unsafe) let task = task!
            return RunningTask { task.cancel() }
        }
    }
}
