/// An operation queue for requests. It starts a request only when there is a place for it, and one that waits for its next
/// attempt holds no place.
///
/// ```swift
/// let queue = RequestQueue()
/// queue.maxConcurrentOperationCount = 8
/// queue.addOperation(URLRequestOperation(url))
/// ```
///
/// It is an `OperationQueue`. Three things differ:
///
/// - ``maxConcurrentOperationCount`` bounds *attempts*. It is the total of the ``limiter``, whose ``RequestLimiter/perHost`` bounds
///   those to each host. What has no place yet costs no Task and no thread.
/// - Operations that are not ready are kept out of Foundation's queue, which on Linux asks all of them again whenever it
///   starts another. What an operation costs does not depend on how many others wait.
/// - ``add(_:)`` waits while the queue holds more than ``maximumPending`` operations. A producer of a million requests needs no
///   gate of its own.
///
/// ## Order
///
/// Ready operations stand in lines by the host of their original request. The next one is that with the highest priority, then
/// the one that was added first, among the hosts that have a place. Priorities are strict, as Foundation's are.
///
/// A request in backoff gives its place back. For its next attempt it lines up at its old position, so it comes before those that
/// were added later. At a ``maxConcurrentOperationCount`` of 1 requests are sent one at a time, in the order of their adding.
/// A request that waits for its next attempt is overtaken meanwhile: an order in which all must *succeed* needs dependencies.
///
/// A request has its place while it is processed and sent, and until its body has arrived; not while it decodes. If
/// ``URLRequestOperation/process(_:)`` or a redirect leads to another host, it exchanges the place of its host and keeps its place
/// of the total. Of a limiter in its configuration the request takes a slot after that. Must it wait there, it gives the queue's
/// place back, and gets both together.
///
/// What a stage adds to the queue in which its request has a place runs on that place. So at a width of 1 an adapter may fetch
/// a token through the queue of its request.
///
/// ## Other operations
///
/// Whatever else is in the queue counts while it executes: an ``AsynchronousOperation`` of another kind, a block, a foreign
/// `Operation`. (A ``RequestChain`` does not, the requests that it runs do.) It has no host. Where the queue has a bound, it lines
/// up when its dependencies have finished. One with a readiness of its own holds its place while it waits for that. Without a
/// bound such operations go straight to Foundation, and a bound that is set later does not count them; what is added while the
/// queue is suspended counts for the bound that it has when it is resumed.
///
/// Dependencies can be added and removed, and operations cancelled, while they are held back. Of a foreign operation in a
/// bounded queue nobody hears such things: a dependency that is added is waited for, one that is removed is waited for all the
/// same, and one that is cancelled by itself finishes only when its turn comes.
///
/// The `qualityOfService` of the queue becomes that of an operation of ours that has none when it enters Foundation's queue;
/// `underlyingQueue` is where operations are started and blocks and foreign operations run, while the work of ours is done by
/// Tasks; `name` is Foundation's.
///
/// Foundation lets nobody override `operations` and `operationCount` on Linux. They show what has entered its queue;
/// ``allOperations`` and ``allOperationCount`` show everything.
///
/// A subclass may override what Foundation lets it, and calls `super`.
// Unchecked as Foundation's own queue is: all state of this class is in `held`, and `ownProgress` is set once, by `init`.
open class RequestQueue: OperationQueue, @unchecked Sendable {
    /// Admits the attempts of the queue's requests, and what else executes in the queue. Its total is the
    /// ``maxConcurrentOperationCount``; its bound for each host and its rate are yours to set. It hears of the responses, as that
    /// of a configuration does. Without bounds by default.
    public final let limiter: RequestLimiter

    final let held = Locked(HeldOperations())
    /// Counts what is held back, and what is watched in Foundation's queue, for who waits until that is nothing.
    final let heldGroup = DispatchGroup()
    final let ownProgress = QueueProgress()

    /// Makes a queue without bounds.
    public override init() {
        limiter = RequestLimiter()
        super.init()
    }

    /// Makes a queue whose requests are admitted by a limiter, such as one with a rate.
    ///
    /// ```swift
    /// let queue = RequestQueue(limiter: RequestLimiter(total: 64, rate: .perSecond(10), adaptsToTooManyRequests: true))
    /// ```
    ///
    /// - Parameter limiter: The limiter of this queue and of no other. Its total is the ``maxConcurrentOperationCount``. Its
    ///   ``RequestLimiter/maximumWaiting`` counts for nothing: a queue rejects nobody.
    public init(limiter: RequestLimiter) {
        self.limiter = limiter
        super.init()
    }

    deinit {
        // What is ours keeps its queue, but blocks and foreign operations do not, in a queue that is suspended for ever. Dispatch
        // traps when a group is freed that somebody has entered.
        for _ in held.withLock({ $0.operations }) { heldGroup.leave() }
    }

    // MARK: What Foundation's queue has

    /// How many attempts are in flight at most, together with what else executes;
    /// `OperationQueue.defaultMaxConcurrentOperationCount`, the default, is no bound. 0 admits nothing until it is raised.
    /// Raising it admits those who can run at once; lowering it interrupts none.
    open override var maxConcurrentOperationCount: Int {
        get { limiter.total ?? OperationQueue.defaultMaxConcurrentOperationCount }
        set {
            let isBound = newValue != OperationQueue.defaultMaxConcurrentOperationCount
            // As Foundation's own.
            precondition(newValue >= 0 || !isBound, "A queue cannot run \(newValue) operations at a time.")
            limiter.setTotal(isBound ? newValue : nil)
        }
    }

    /// Whether nothing is started, and no first attempt is sent. Requests that have been sent go on, with all their attempts.
    open override var isSuspended: Bool {
        get { held.withLock { $0.isSuspended } }
        set {
            held.withLock { $0.suspend(newValue) }
            // Of two that set it at once, the last that comes here may be the first above.
            var applied: Bool
            repeat {
                applied = held.withLock { $0.isSuspended }
                super.isSuspended = applied
                limiter.isSuspended = applied
            } while held.withLock { $0.isSuspended } != applied
            admitProducers()
        }
    }

    /// The progress of the queue. Once you have set its `totalUnitCount`, every operation that has executed counts one unit
    /// when it finishes, asynchronous ones too, which Foundation leaves out; a foreign one if it was added after that and not
    /// cancelled.
    open override var progress: Progress { ownProgress }

    /// Adds an operation, which is started when it is ready. One that is in a queue, runs or has finished is a programmer's
    /// error.
    open override func addOperation(_ operation: Operation) {
        take(in: operation)
    }

    /// Adds operations, in order.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - wait: Whether to block the thread until they have finished.
    @available(*, noasync, message: "Use addBarrierBlock or a dependent Operation instead")
    open override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        for operation in operations { take(in: operation) }
        guard wait else { return }
        for operation in operations { operation.waitUntilFinished() }
    }

    /// Adds a block, as an operation with the quality of service of the queue.
    open override func addOperation(_ block: @escaping @Sendable () -> Void) {
        let operation = QueueBlock(countingFor: ownProgress, block)
        if qualityOfService != .default { operation.qualityOfService = qualityOfService }
        addOperation(operation)
    }

    /// Adds a block that runs when all operations that are in the queue have finished, held back or not, and before any that
    /// is added later. Cancelling all operations cancels it, if it does not run yet.
    open override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        let barrier = QueueBarrier(barrier) { [self] barrier in
            enter(foreign: barrier)
        } whenOver: { [self] barrier in
            passed(barrier)
        }
        heldGroup.enter()
        let place = limiter.newPlace()
        // From here on whatever is added waits for the barrier.
        let predecessors = held.withLock { $0.add(barrier, at: place) }
        if let predecessors { barrier.wait(for: predecessors + entered) }
    }

    private func passed(_ barrier: QueueBarrier) {
        let (followers, next) = held.withLock { $0.end(barrier) }
        // What is in Foundation's queue now was cancelled behind the barrier: all else has finished, or begins now.
        next?.wait(for: followers + entered)
        for operation in followers {
            if let ours = operation as? any QueueMember { ours.passBarrier() } else { advance(operation) }
        }
    }

    /// What is in Foundation's queue and has not finished.
    private var entered: [Operation] { super.operations.filter { !$0.isFinished } }

    /// Cancels all operations, held back or not: those that are finish at once.
    open override func cancelAllOperations() {
        // The last first: the end of one that is cancelled must not let those go that wait for it.
        for (operation, enters) in held.withLock({ $0.cancelAll() }).reversed() {
            operation.cancel()
            if enters { hand(over: operation) }
        }
        super.cancelAllOperations()
    }

    /// Blocks the thread until all operations have finished, held back or not, those included that are added meanwhile.
    @available(*, noasync, message: "Use addBarrierBlock or a dependent Operation instead")
    open override func waitUntilAllOperationsAreFinished() {
        var isOver: Bool
        repeat {
            let added = held.withLock { $0.addedCount }
            heldGroup.wait()
            super.waitUntilAllOperationsAreFinished()
            // Who watches what has finished.
            heldGroup.wait()
            // What ran may have added others, which were held until it had left Foundation's queue, and are there by now.
            isOver = held.withLock { $0.isEmpty && $0.addedCount == added } && super.operationCount == 0
        } while !isOver
    }

    // MARK: What is in the queue

    /// All operations that have not finished: those in Foundation's queue, and then those that are held back, each in the order
    /// in which they came there. Takes time in proportion to their number.
    public final var allOperations: [Operation] {
        // What enters between the two readings is in both.
        let held = held.withLock { $0.operations }
        let entered = entered
        let known = Set(entered.map(ObjectIdentifier.init))
        return (entered + held.filter { !known.contains(ObjectIdentifier($0)) }).filter { !($0 is QueueBarrier) }
    }

    /// How many operations have not finished. Takes time in proportion to their number.
    public final var allOperationCount: Int { allOperations.count }

    // MARK: Producers

    /// How many operations are held back at most before ``add(_:)`` waits: those that have no place yet, or wait for others. 1,000
    /// by default; less than 1 counts as 1. `addOperation` takes no notice of it.
    public final var maximumPending: Int {
        get { held.withLock { $0.maximumPending } }
        set {
            held.withLock { $0.maximumPending = newValue }
            admitProducers()
        }
    }

    /// Adds an operation as soon as fewer than ``maximumPending`` are held back. While the queue is suspended it waits.
    ///
    /// ```swift
    /// while let line = readLine() {
    ///     try await queue.add(URLRequestOperation(request(of: line)))
    /// }
    /// ```
    ///
    /// Those who wait are let in in the order in which they came. An operation that is added by a stage of a request of this
    /// queue does not wait: the place of that request is there for it. Let no operation that is held back depend on one that is
    /// still to be added: a full queue would wait for it without end.
    ///
    /// - Throws: `CancellationError` if the Task is cancelled before that. Nothing is added then.
    public final func add(_ operation: Operation) async throws {
        try Task.checkCancellation()
        guard lender == nil else { return addOperation(operation) }
        let turn = Answer<Void>()
        if let ticket = held.withLock({ $0.enter(turn) }) {
            try await withTaskCancellationHandler {
                try await turn.value
            } onCancel: {
                held.withLock { $0.leave(ticket) }?.resume(with: .failure(CancellationError()))
            }
        }
        defer {
            held.withLock { $0.leaveProducer() }
            admitProducers()
        }
        // It may have been let in in the moment of the cancel.
        try Task.checkCancellation()
        addOperation(operation)
    }

    private func admitProducers() {
        for producer in held.withLock({ $0.admitProducers() }) { producer.resume(with: .success(())) }
    }
}
