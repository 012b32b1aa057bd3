/// The steps of the work. Each runs in a Task of its own, one after the other.
extension AsynchronousOperation {
    /// Starts a Task for the next step.
    ///
    /// - Parameters:
    ///   - wait: The wait before the step. It is over. `nil` for the first step.
    ///   - queue: The queue that runs the operation.
    ///   - context: The task-local values of the step. `nil` if there are none.
    ///   - start: Starts a Task without such values.
    func startStep(
        after wait: RetryWait?, on queue: OperationQueue?, in context: TaskContext?,
        or start: (TaskPriority?, @escaping TaskContext.Body) -> Void
    ) {
        let priority = qualityOfService.taskPriority
        let body: TaskContext.Body = { await self.runStep(after: wait, on: queue) }
        if let context { context.run(priority: priority, body) } else { start(priority, body) }
    }

    private func runStep(after wait: RetryWait?, on queue: OperationQueue?) async {
        let task = RunningTask.current()
        if state.withLock({ $0.lifecycle.adopt(task) }) { task.cancel() }
        do {
            let wake = try await wait?.wake
            switch try await bound(to: queue, { try await self.step(after: wake) }) {
            case .finished(let value): finish(.success(value))
            case .waits(let wait): goOn(after: wait, on: queue)
            }
        } catch {
            if error is CancellationError { noteOwnCancellation() }
            finish(.failure(error))
        }
        if !state.withLock({ $0.lifecycle.mayLeave }) { await leave() }
    }

    /// Starts the next step when a wait is over. The Task that runs now ends.
    private func goOn(after wait: RetryWait, on queue: OperationQueue?) {
        state.withLock { $0.lifecycle.disown() }
        let context = context == nil ? nil : TaskContext.current()
        // The thread that ends the wait must not have to run the step.
        wait.whenOver { self.startStep(after: wait, on: queue, in: context, or: Task.startElsewhere) }
    }

    /// Keeps the Task while another thread tells it to stop.
    private func leave() async {
        await withCheckedContinuation { continuation in
            if state.withLock({ $0.lifecycle.leave { continuation.resume() } }) { continuation.resume() }
        }
    }

    /// The work threw a `CancellationError`, so the operation counts as cancelled.
    private func noteOwnCancellation() {
        let (isNew, wasAsked) = state.withLock { ($0.lifecycle.noteOwnCancellation(), $0.wasAskedForReadiness) }
        if isNew { tellFoundationOfCancel(wasAsked: wasAsked) }
    }
}

/// What one step of an operation's work led to.
///
/// Each step runs in a Task of its own. Between two steps there is no Task, because a suspended one costs several KiB.
enum Step<Value: Sendable>: Sendable {
    case finished(Value)
    /// The next step begins when this wait is over.
    case waits(RetryWait)
}

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

/// Starts operations without adding them to a queue: those that another operation runs as its members.
final class MemberStarter: Sendable {
    /// The queue on which the members are started.
    let queue = DispatchQueue(label: "RequestOperations.MemberStarter")
    /// The queue in which the running operation has a place. The members use that place too. Otherwise an operation
    /// that a member adds to that queue would wait for the running operation, and the running operation for it.
    let operationQueue: OperationQueue?
    /// The holder that may have lent the running operation a place of that queue.
    let placeHolder: (any PlaceHolder)?

    init(for operationQueue: OperationQueue?, lentBy placeHolder: (any PlaceHolder)? = nil) {
        self.operationQueue = operationQueue
        self.placeHolder = placeHolder
    }

    /// The starter for what the operation of the current Task runs.
    static var ofCurrentOperation: MemberStarter {
        MemberStarter(for: OperationQueue.ofCurrentOperation, lentBy: RequestQueue.placeHolder)
    }
}
