/// The task-local values of the place where an operation was made, kept for when it runs.
///
/// Swift has no way to copy them but to start a Task there: it waits, suspended, for the body that it is to run.
final class TaskContext: Sendable {
    typealias Body = @Sendable () async -> Void

    private let body = Answer<Body?>()

    /// Keeps the task-local values of the current Task; `nil` outside of any.
    static func current() -> TaskContext? {
        // Outside of a Task there is none; to ask for the Task itself takes several times as long.
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
        // An operation that was never started lets its Task go.
        body.resume(with: .success(nil))
    }

    /// Runs a body in the context; called once.
    ///
    /// - Parameter priority: The priority of the work; `nil` takes that of the place where the context was made.
    func run(priority: TaskPriority?, _ run: @escaping Body) {
        guard let priority else {
            body.resume(with: .success(run))
            return
        }
        // Were the second Task awaited, it would take on the priority of the first.
        body.resume(with: .success { Task(priority: priority) { await run() } })
    }
}

extension QualityOfService {
    /// The priority of a Task that does the work of an operation with this quality; `nil` takes the Task's own.
    var taskPriority: TaskPriority? {
        switch self {
        case .userInteractive, .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: nil
        }
    }
}
