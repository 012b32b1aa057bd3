/// How a chain, a group or a batch runs an operation of any kind.
extension Operation {
    /// Runs the operation, and returns when it has finished. Cancels it when the Task is cancelled.
    func runAsMember(by starter: MemberStarter) async {
        if let ours = self as? any StartableOperation { return await ours.runAsLink(by: starter) }
        guard !isFinished else { return }
        await runToEnd {
            // A queue of its own, because a full one would make members wait for each other.
            OperationQueue().addOperation(self)
        }
    }

    /// Starts the operation, and returns when it has finished. Cancels it when the Task is cancelled.
    ///
    /// The operation is started even if the Task was already cancelled. It then finishes without running, so that nothing
    /// waits for it forever.
    ///
    /// - Parameters:
    ///   - queue: Where it is cancelled. `nil` means the thread that cancels the Task.
    ///   - start: Starts the operation.
    func runToEnd(cancellingOn queue: DispatchQueue? = nil, _ start: () -> Void) async {
        let finish = Answer<Void>()
        if Task.isCancelled { cancel() }
        start()
        announceFinish { finish.resume(with: .success(())) }
        await withTaskCancellationHandler {
            // The result is never an error.
            _ = try? await finish.value
        } onCancel: {
            if let queue { queue.async { self.cancel() } } else { cancel() }
        }
    }

    /// Ends a member that does not run any more. It finishes as cancelled, so that nothing waits for it forever.
    func discard() {
        cancel()
        if let ours = self as? any StartableOperation {
            ours.startWhenReady(by: MemberStarter(for: nil))
        } else if !isExecuting, !isFinished {
            OperationQueue().addOperation(self)
        }
    }
}

extension AsynchronousOperation {
    /// The result of a finished operation.
    var finalResult: Result<Success, any Error> { result ?? .failure(CancellationError()) }
}

extension RequestBatch: ProgressReporting {}
extension RequestGroup: ProgressReporting {}
extension StepChain: ProgressReporting {}
extension RequestChain: ProgressReporting {}

extension Sequence where Element: Operation {
    /// Reserves new members, so that `value(of:)` of a queue does not add them there.
    func claimAll() {
        for operation in self { _ = (operation as? any StartableOperation)?.claim() }
    }
}

/// Runs the members of a batch or a group, a few at a time, until there are no more or one of them stops the others.
///
/// - Parameters:
///   - width: The most members that run at once.
///   - next: Takes the next member, when it can begin. Returns `nil` if none may begin any more.
///   - run: Runs a member to its end. Returns whether it stops the others.
func runMembers<Member: Sendable>(
    atMost width: Int, next: () async -> Member?, _ run: @escaping @Sendable (Member) async -> Bool
) async {
    await withTaskGroup(of: Bool.self) { group in
        var running = 0
        while true {
            if running == width {
                running -= 1
                if await group.next() == true {
                    group.cancelAll()
                    break
                }
            }
            guard !Task.isCancelled, let member = await next() else { break }
            running += 1
            group.addTask { await run(member) }
        }
        while let stopsOthers = await group.next() {
            if stopsOthers { group.cancelAll() }
        }
    }
}

/// Starts operations without adding them to a queue: those that another operation runs as its members.
final class MemberStarter: OperationStarter {
    /// The queue on which the members are started.
    let queue = DispatchQueue(label: "RequestOperations.MemberStarter")
    /// The queue in which the running operation has a place. The members use that place too. Otherwise an operation
    /// that a member adds to that queue would wait for the running operation, and the running operation for it.
    private let operationQueue: OperationQueue?
    /// The place of the running operation, which may be lent.
    private let place: QueuePlace?

    init(for operationQueue: OperationQueue?, on place: QueuePlace? = nil) {
        self.operationQueue = operationQueue
        self.place = place
    }

    /// The starter for what the operation of the current Task runs.
    static var ofCurrentOperation: MemberStarter {
        MemberStarter(for: .ofCurrentOperation, on: RequestQueue.placeOfStage)
    }

    func admit(_ operation: any StartableOperation) {
        queue.async { operation.start(by: self) }
    }

    func willRun(_ operation: any StartableOperation) -> OperationQueue? {
        if let limiter = (operationQueue as? RequestQueue)?.limiter {
            let given =
                place?.lent(in: limiter).map { QueuePlace(lentBy: $0) }
                ?? QueuePlace(of: limiter, at: limiter.newPlace())
            // A queue that also has the member may have given it a place.
            operation.state.withLock { $0.place = $0.place ?? given }
        }
        return operationQueue
    }
}

extension StartableOperation {
    /// Starts the link when it is ready, and returns when it has finished. Cancels the link when the Task is cancelled.
    func runAsLink(by starter: MemberStarter) async {
        // We cancel a chain asynchronously. So nested chains that all run are not cancelled by deep recursion.
        await runToEnd(cancellingOn: self is any Chain ? starter.queue : nil) { startWhenReady(by: starter) }
    }
}

extension RetryingOperation {
    /// Makes an operation that runs another operation for each attempt, and has its value.
    ///
    /// - Parameters:
    ///   - name: What errors and descriptions call the work. `work` by default.
    ///   - resource: Names the host of the work for the limiter, the budget and the breaker. None by default.
    ///   - isIdempotent: Whether the work may be attempted again after an attempt failed half-way. `true` by default.
    ///   - configuration: How often and when the work is attempted. ``RequestConfiguration/default`` if not given.
    ///   - makeOperation: Makes a fresh operation, which must not be in a queue. Called once for each attempt.
    public convenience init(
        named name: String = "work", resource: URL? = nil, isIdempotent: Bool = true,
        configuration: RequestConfiguration = .default,
        operation makeOperation: @escaping @Sendable () throws -> AsynchronousOperation<Value>
    ) {
        self.init(named: name, resource: resource, isIdempotent: isIdempotent, configuration: configuration) { _ in
            let operation = try makeOperation()
            await operation.runAsMember(by: .ofCurrentOperation)
            return try operation.finalResult.get()
        }
    }
}

extension RetryingOperation where Value == Void {
    // Disfavoured, because a closure that makes one of ours could mean either function.

    /// Makes an operation that runs an operation of any class for each attempt, such as a `BlockOperation`.
    ///
    /// - Parameters:
    ///   - name: What errors and descriptions call the work. `work` by default.
    ///   - resource: Names the host of the work for the limiter, the budget and the breaker. None by default.
    ///   - isIdempotent: Whether the work may be attempted again after an attempt failed half-way. `true` by default.
    ///   - configuration: How often and when the work is attempted. ``RequestConfiguration/default`` if not given.
    ///   - makeOperation: Makes a fresh operation, which must not be in a queue. Called once for each attempt.
    ///   - error: Why a finished operation failed. By default, only a cancelled operation has failed, and it cancels this
    ///     operation.
    @_disfavoredOverload
    public convenience init<Work: Operation>(
        named name: String = "work", resource: URL? = nil, isIdempotent: Bool = true,
        configuration: RequestConfiguration = .default, operation makeOperation: @escaping @Sendable () throws -> Work,
        error: @escaping @Sendable (Work) -> (any Error)? = { $0.isCancelled ? CancellationError() : nil }
    ) {
        self.init(named: name, resource: resource, isIdempotent: isIdempotent, configuration: configuration) { _ in
            let operation = try makeOperation()
            await operation.runAsMember(by: .ofCurrentOperation)
            if let error = error(operation) { throw error }
        }
    }
}
