/// An operation queue for requests.
///
/// It starts a request only when there is a place for it. A request that waits for its next attempt holds no place.
///
/// ```swift
/// let queue = RequestQueue()
/// queue.maxConcurrentOperationCount = 8
/// queue.addOperation(URLRequestOperation(url))
/// ```
///
/// It is an `OperationQueue`, with three differences:
///
/// - ``maxConcurrentOperationCount`` limits *attempts*. It is the total of the ``limiter``, whose
///   ``RequestLimiter/perHost`` limits the attempts to each host. An operation without a place costs no Task and no
///   thread.
/// - Operations that are not ready are kept out of Foundation's queue. On Linux, that queue checks all of its
///   operations again whenever it starts one. So the cost of an operation does not depend on how many others wait.
/// - ``add(_:)`` waits while the queue holds ``maximumPending`` operations or more. So a producer of a million requests
///   needs no throttle of its own.
///
/// ## Order
///
/// Ready operations wait for a place, host by host. Among the hosts that have a free
/// place, the operation with the highest priority is next. If priorities are equal, the one that was added first is
/// next. Priorities are strict, as in Foundation.
///
/// A request in backoff releases its place. For its next attempt it returns to its old position, ahead of
/// requests that were added later. With a ``maxConcurrentOperationCount`` of 1, requests are sent one at a time, in the
/// order in which they were added. Others may overtake a request while it waits for its next attempt. If all requests
/// must *succeed* in order, use dependencies.
///
/// A request holds its place while it is processed and sent, until its body has arrived. It does not hold it while it
/// decodes. If ``URLRequestOperation/process(_:)`` leads to another host, the request exchanges its place for one of
/// that host. If its configuration has a limiter too, the request then takes a slot of that limiter. If it has to wait
/// for the slot, it releases the queue's place, and gets both together later. A redirect to another host keeps both.
///
/// An operation that a stage adds to the queue in which its request holds a place runs on that place. So an adapter can
/// fetch a token through the queue of its request, even at a width of 1.
///
/// ## Other operations
///
/// Other operations take a place while they execute: an ``AsynchronousOperation`` of another kind, a block, a foreign
/// `Operation`. (A ``RequestChain`` takes none, but the requests that it runs do.) They have no host. If the queue has
/// a limit, such an operation waits for a place when its dependencies have finished. An operation that overrides its
/// readiness holds its place while it waits to become ready. Without a limit, such operations go straight to
/// Foundation, and a limit that is set later does not count them. Operations that are added to a suspended queue count
/// for the limit that it has when it is resumed.
///
/// You can add and remove dependencies, and cancel operations, while they are held back. A queue with a limit does not
/// notice such changes to a foreign operation. It waits for a dependency that is added later, and also for one that is
/// removed. A foreign operation that you cancel by itself finishes only when its turn comes.
///
/// An operation of ours without a `qualityOfService` gets that of the queue when it enters Foundation's queue.
/// `underlyingQueue` starts the operations and runs blocks and foreign operations; the work of our operations runs in
/// Tasks. `name` is Foundation's.
///
/// On Linux, Foundation does not let a subclass override `operations` and `operationCount`. They show only what has
/// entered its queue. ``allOperations`` and ``allOperationCount`` show everything.
///
/// A subclass may override what Foundation allows, and must call `super`.
// Unchecked like Foundation's own queue. All state of this class is in `waiting`, and `ownProgress` is set once, by
// `init`.
open class RequestQueue: OperationQueue, @unchecked Sendable {
    /// The limiter that admits the attempts of the queue's requests, and the other operations that execute in the
    /// queue.
    ///
    /// Its total is the ``maxConcurrentOperationCount``. You can set its limit for each host and its rate. It sees the
    /// responses, as the limiter of a configuration does. Without limits by default.
    public final let limiter: RequestLimiter

    final let waiting = Locked(WaitingOperations())
    /// Counts the waiting operations, and the watched ones in Foundation's queue. A caller can wait until the count is
    /// zero.
    final let waitingGroup = DispatchGroup()
    final let ownProgress = QueueProgress()

    /// Makes a queue without limits.
    public override init() {
        limiter = RequestLimiter()
        super.init()
    }

    /// Makes a queue whose requests a limiter admits, such as one with a rate.
    ///
    /// ```swift
    /// let limiter = RequestLimiter(total: 64, rate: .perSecond(10), adaptsToTooManyRequests: true)
    /// let queue = RequestQueue(limiter: limiter)
    /// ```
    ///
    /// - Parameter limiter: The limiter of this queue. No other queue may use the limiter. Its total is the
    ///   ``maxConcurrentOperationCount``. Its ``RequestLimiter/maximumWaiting`` has no effect, because a queue does not
    ///   reject requests.
    public init(limiter: RequestLimiter) {
        self.limiter = limiter
        super.init()
    }

    deinit {
        // Our operations keep their queue alive. Blocks and foreign operations in a queue that stays suspended do not.
        // Dispatch traps if a group is freed that has been entered and not left.
        for _ in waiting.withLock({ $0.operations }) { waitingGroup.leave() }
    }

    // MARK: Overrides of Foundation's queue

    /// The most attempts that run at the same time, together with the other operations that execute.
    ///
    /// The default, `OperationQueue.defaultMaxConcurrentOperationCount`, means no limit. 0 admits nothing until you
    /// raise it. Raising it admits at once the operations that can run. Lowering it interrupts none.
    open override var maxConcurrentOperationCount: Int {
        get { limiter.total ?? OperationQueue.defaultMaxConcurrentOperationCount }
        set {
            let isBound = newValue != OperationQueue.defaultMaxConcurrentOperationCount
            // Foundation's queue makes the same check.
            precondition(newValue >= 0 || !isBound, "A queue cannot run \(newValue) operations at a time.")
            limiter.setTotal(isBound ? newValue : nil)
        }
    }

    /// Whether the queue starts no operation and sends no first attempt. Requests that have been sent go on, with all
    /// their attempts.
    open override var isSuspended: Bool {
        get { waiting.withLock { $0.isSuspended } }
        set {
            waiting.withLock { $0.suspend(newValue) }
            // If two threads set this at the same time, their order may differ between the two steps. So we repeat
            // until both agree.
            var applied: Bool
            repeat {
                applied = waiting.withLock { $0.isSuspended }
                super.isSuspended = applied
                limiter.isSuspended = applied
            } while waiting.withLock { $0.isSuspended } != applied
            admitProducers()
        }
    }

    /// The progress of the queue.
    ///
    /// Once you have set its `totalUnitCount`, every operation that has executed counts one unit when it finishes. This
    /// includes asynchronous operations, which Foundation leaves out. A foreign operation counts if you add it after
    /// that and do not cancel it.
    open override var progress: Progress { ownProgress }

    /// Adds an operation, which starts when it is ready.
    ///
    /// It is a programming error to add one that is in a queue, runs or has finished.
    open override func addOperation(_ operation: Operation) {
        take(in: operation)
    }

    /// Adds operations together. Those with the highest priorities get the first places. Operations of equal priority
    /// keep their order.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - wait: Whether to block the thread until they have finished.
    @available(*, noasync, message: "Use addBarrierBlock or a dependent Operation instead")
    open override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        take(in: operations)
        guard wait else { return }
        for operation in operations { operation.waitUntilFinished() }
    }

    /// Adds a block, as an operation with the quality of service of the queue.
    open override func addOperation(_ block: @escaping @Sendable () -> Void) {
        let operation = QueueBlock(countingFor: ownProgress, block)
        if qualityOfService != .default { operation.qualityOfService = qualityOfService }
        addOperation(operation)
    }

    /// Adds a block that runs when all operations that are in the queue now have finished, and before any that is added
    /// later.
    ///
    /// It waits for operations that are held back too. Cancelling all operations cancels the block, unless it already
    /// runs.
    open override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        let barrier = QueueBarrier(barrier) { [self] barrier in
            enter(foreign: barrier)
        } whenOver: { [self] barrier in
            passed(barrier)
        }
        waitingGroup.enter()
        let place = limiter.newPlace()
        // From here on, every operation that is added waits for the barrier.
        let predecessors = waiting.withLock { $0.add(barrier, at: place) }
        if let predecessors { barrier.wait(for: predecessors + entered) }
    }

    private func passed(_ barrier: QueueBarrier) {
        let (followers, next) = waiting.withLock { $0.end(barrier) }
        // Operations in Foundation's queue now were cancelled behind the barrier. All others have finished or begin
        // now.
        next?.wait(for: followers + entered)
        for operation in followers {
            guard let ours = operation as? any StartableOperation else {
                advance(operation)
                continue
            }
            ours.state.withLock { $0.passBarrier() }?.admit(ours)
            ours.checkPreconditions()
        }
    }

    /// The operations in Foundation's queue that have not finished.
    private var entered: [Operation] { super.operations.filter { !$0.isFinished } }

    /// Cancels all operations, held back or not. Those that are held back finish at once.
    open override func cancelAllOperations() {
        // We cancel the last one first. Otherwise the end of a cancelled operation could start one that waits for it.
        for (operation, enters) in waiting.withLock({ $0.cancelAll() }).reversed() {
            operation.cancel()
            if enters { hand(over: operation) }
        }
        super.cancelAllOperations()
    }

    /// Blocks the thread until all operations have finished, held back or not. This includes operations that are added
    /// meanwhile.
    @available(*, noasync, message: "Use addBarrierBlock or a dependent Operation instead")
    open override func waitUntilAllOperationsAreFinished() {
        var isOver: Bool
        repeat {
            let added = waiting.withLock { $0.addedCount }
            waitingGroup.wait()
            super.waitUntilAllOperationsAreFinished()
            // The code that watches for finished operations must end too.
            waitingGroup.wait()
            // An operation that ran may have added others. They waited until it had left Foundation's queue, and are
            // there by now.
            isOver = waiting.withLock { $0.isEmpty && $0.addedCount == added } && super.operationCount == 0
        } while !isOver
    }

    // MARK: What is in the queue

    /// All operations that have not finished. The time this takes is proportional to their number.
    ///
    /// Those in Foundation's queue come first, then those that are held back, each in their order of arrival.
    public final var allOperations: [Operation] {
        // An operation that enters between the two reads is in both lists.
        let waiting = waiting.withLock { $0.operations }
        let entered = entered
        let known = Set(entered.map(ObjectIdentifier.init))
        return (entered + waiting.filter { !known.contains(ObjectIdentifier($0)) }).filter { !($0 is QueueBarrier) }
    }

    /// How many operations have not finished. The time this takes is proportional to their number.
    public final var allOperationCount: Int { allOperations.count }

    // MARK: Producers

    /// The most operations that are held back before ``add(_:)`` waits. 1,000 by default; less than 1 counts as 1.
    ///
    /// An operation is held back while it has no place yet, or waits for others. `addOperation` ignores this limit.
    public final var maximumPending: Int {
        get { waiting.withLock { $0.maximumPending } }
        set {
            waiting.withLock { $0.maximumPending = newValue }
            admitProducers()
        }
    }

    /// Adds an operation as soon as fewer than ``maximumPending`` are held back. It also waits while the queue is
    /// suspended.
    ///
    /// ```swift
    /// while let line = readLine() {
    ///     try await queue.add(URLRequestOperation(request(of: line)))
    /// }
    /// ```
    ///
    /// Waiting callers are admitted in the order in which they came. An operation that is added by a stage of a request
    /// of this queue does not wait, because it uses the place of that request. A held-back operation must not depend on
    /// an operation that is still to be added. A full queue would then wait for it forever.
    ///
    /// - Throws: `CancellationError` if the Task is cancelled before that. Then nothing is added.
    public final func add(_ operation: Operation) async throws {
        try Task.checkCancellation()
        guard lender == nil else { return addOperation(operation) }
        let turn = Answer<Void>()
        if let ticket = waiting.withLock({ $0.enter(turn) }) {
            try await turn.cancellableValue { waiting.withLock { $0.leave(ticket) } != nil }
        }
        defer {
            waiting.withLock { $0.leaveProducer() }
            admitProducers()
        }
        // The caller may have been admitted at the moment of the cancellation.
        try Task.checkCancellation()
        addOperation(operation)
    }

    private func admitProducers() {
        for producer in waiting.withLock({ $0.admitProducers() }) { producer.resume(with: .success(())) }
    }
}

extension RequestQueue {
    /// The place of the operation whose stage runs on the current Task.
    static var placeOfStage: QueuePlace? { here.place as? QueuePlace }

    /// The same, if it is a place of this queue. What the stage adds here runs on that place.
    final var lender: QueuePlace? { Self.placeOfStage?.lent(in: limiter) }
}

/// The progress of a queue, which counts operations once somebody has set a total. Any thread may add to it.
// Unchecked like its superclass. `counting` makes one step of reading and writing the count.
final class QueueProgress: LockedProgress, @unchecked Sendable {
    // Recursive, because an observer of the count may end another operation.
    private let counting = NSRecursiveLock()

    /// Counts a finished operation, unless the total is zero.
    func countOne() {
        counting.withLock {
            if totalUnitCount != 0 { completedUnitCount += 1 }
        }
    }
}
