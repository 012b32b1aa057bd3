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
        Task { [body] in
            // The answer is never an error.
            guard let run = try? await body.value else { return }
            await run()
        }
    }

    deinit {
        // If the operation was never started, its Task ends here.
        body.resume(with: .success(nil))
    }

    /// Runs a body in the context. Called once.
    ///
    /// - Parameter priority: The priority of the work. `nil` means that of the place where the context was made.
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
