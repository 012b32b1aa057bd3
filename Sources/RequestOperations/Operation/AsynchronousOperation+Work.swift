/// The Tasks in which an operation does its work, one after the other.
extension AsynchronousOperation {
    /// Keeps the value of the work for the result.
    func keep(_ value: Success) {
        let place = UnsafeMutablePointer<Success>.allocate(capacity: 1)
        place.initialize(to: value)
        // An operation that has finished without it drops it.
        let dropped = state.withLock { state in
            guard state.lifecycle.ending == nil else { return Optional(place) }
            defer { success = place }
            return success
        }
        dropped?.deinitialize(count: 1)
        dropped?.deallocate()
    }

    /// The value that was kept; `nil` if the operation has finished without one.
    var kept: Success? { state.withLock { _ in success?.pointee } }

    /// Goes on with another part when that is due; the Task that runs ends.
    private func goOn(with next: WorkPart, on queue: OperationQueue?) {
        state.withLock { $0.lifecycle.disown() }
        let context = context == nil ? nil : TaskContext.current()
        // Whoever says that it is due must not have to do it.
        next.whenDue { self.start(next, on: queue, in: context, or: Task.startElsewhere) }
    }

    /// Starts a Task for a part of the work; `nil` is the first.
    func start(
        _ part: WorkPart?, on queue: OperationQueue?, in context: TaskContext?,
        or start: (TaskPriority?, @escaping TaskContext.Body) -> Void
    ) {
        let priority = qualityOfService.taskPriority
        let body: TaskContext.Body = { await self.execute(part, on: queue) }
        if let context { context.run(priority: priority, body) } else { start(priority, body) }
    }

    @inline(__always)
    private func execute(_ part: WorkPart?, on queue: OperationQueue?) async {
        let task = RunningTask.current()
        if state.withLock({ $0.lifecycle.adopt(task) }) { task.cancel() }
        do {
            let isBound = OperationQueue.ofCurrentOperation === queue && !(queue is RequestQueue)
            let next = isBound ? try await run(part) : try await run(part, on: queue)
            if let next { goOn(with: next, on: queue) } else { finish(.succeeded) }
        } catch {
            if error is CancellationError { noteOwnCancellation() }
            finish(.failed(error))
        }
        if !state.withLock({ $0.lifecycle.mayLeave }) { await leave() }
    }

    /// Keeps the Task until whoever tells it to stop has done so.
    @inline(never)
    private func leave() async {
        await withCheckedContinuation { continuation in
            if state.withLock({ $0.lifecycle.leave { continuation.resume() } }) { continuation.resume() }
        }
    }

    @inline(__always)
    private func run(_ part: WorkPart?) async throws -> WorkPart? {
        if let part { try await part.run() } else { try await work() }
    }

    /// Runs a part where something else is bound: what was at the place where the operation was made is over by now.
    @inline(__always)
    private func run(_ part: WorkPart?, on queue: OperationQueue?) async throws -> WorkPart? {
        try await OperationQueue.$ofCurrentOperation.withValue(queue) {
            try await RequestQueue.$placeHolder.withValue(queue is RequestQueue ? lender : nil) {
                try await run(part)
            }
        }
    }

    /// The work said that it was cancelled, so the operation was.
    private func noteOwnCancellation() {
        let (isNew, wasAsked) = state.withLock { ($0.lifecycle.noteOwnCancellation(), $0.wasAskedForReadiness) }
        if isNew { tellFoundationOfCancel(wasAsked: wasAsked) }
    }
}
