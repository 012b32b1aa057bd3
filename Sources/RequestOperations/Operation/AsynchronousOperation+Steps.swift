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
