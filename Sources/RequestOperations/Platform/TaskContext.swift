/// The task-local values of the place where an operation was made, kept until it runs.
///
/// Swift can copy them only by starting a Task there. That Task suspends until it gets the body to run.
final class TaskContext: Sendable {
    typealias Body = @Sendable () async -> Void

    private let body = Answer<Body?>()

    /// Keeps the task-local values of the current Task. `nil` outside any Task.
    static func current() -> TaskContext? {
        // Outside a Task there is no base priority. Asking for the Task itself takes several times as long.
        Task.basePriority == nil ? nil : TaskContext()
    }

    private init() {
        let wait: @Sendable () async -> Void = { [body] in
            // The answer is never an error.
            guard let run = try? await body.value else { return }
            await run()
        }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            // It suspends before this returns. Otherwise another thread would have to begin it.
            Task.immediate { await wait() }
        } else {
            Task { await wait() }
        }
    }

    deinit {
        // If the operation was never started, its Task ends here.
        body.resume(with: .success(nil))
    }

    /// Runs a body in the context. Called once.
    ///
    /// - Parameter priority: The priority of the work. `nil` means the priority of the place where the context was
    ///   made.
    /// - Parameter run: The body.
    func run(priority: TaskPriority?, _ run: @escaping Body) {
        guard let priority else {
            body.resume(with: .success(run))
            return
        }
        // We do not await the second Task, because it would then take on the priority of the first.
        body.resume(with: .success { Task(priority: priority) { await run() } })
    }
}

extension QualityOfService {
    /// The priority of a Task that does the work of an operation with this quality of service. `nil` means the Task's
    /// own.
    var taskPriority: TaskPriority? {
        switch self {
        case .userInteractive, .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: nil
        }
    }
}

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

/// The Task that does the work of an operation.
// A closure, because the layout of `UnsafeCurrentTask` is known only at run time. A type that holds one is slow to
// copy.
struct RunningTask: Sendable {
    let cancel: @Sendable () -> Void

    /// The current Task. Any thread may tell it to stop, as long as it has not ended.
    static func current() -> RunningTask {
        withUnsafeCurrentTask { task in
            // We are in a Task, so there is a current one. Any thread may call `cancel()` of an `UnsafeCurrentTask`.
            nonisolated(unsafe) let task = task!
            return RunningTask { task.cancel() }
        }
    }
}
