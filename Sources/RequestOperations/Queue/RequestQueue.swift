/// An operation queue for requests: one that waits for its next attempt holds no place, and any number may wait for others.
///
/// ```swift
/// let queue = RequestQueue()
/// queue.maxConcurrentOperationCount = 8
/// queue.addOperation(URLRequestOperation(url))
/// ```
///
/// **The order of requests needs dependencies.** At a ``maxConcurrentOperationCount`` of 1 requests are sent one at a time, but
/// one that waits for its next attempt is overtaken by those behind it.
///
/// It is an `OperationQueue`, with two differences:
///
/// - ``maxConcurrentOperationCount`` bounds *attempts*: it is the total of the ``limiter`` that every request of the queue
///   shares. Requests are started as soon as they are ready and line up for their attempts. A request whose configuration
///   has a limiter too takes a slot of each together, and holds none while it waits for the other.
/// - Operations that are not ready are kept out of Foundation's queue, which on Linux asks all of them again whenever it
///   starts another. What an operation costs does not depend on how many others wait.
///
/// Whatever else is in the queue counts while it executes: an ``AsynchronousOperation`` of another kind, a block, a foreign
/// `Operation`. (A ``RequestChain`` does not, the requests that it runs do.) Where the queue has a bound, such an operation
/// enters Foundation's queue when its dependencies have finished and there is a place for it; it lines up for that with the
/// attempts of the requests. One with a readiness of its own holds its place while it waits for that. Without a bound foreign
/// operations go straight to Foundation, and a bound that is set later does not count them; what is added while the queue is
/// suspended counts for the bound that it has when it is resumed.
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
    /// ``maxConcurrentOperationCount``; its bound for each host is yours to set. Without bounds by default.
    public final let limiter: RequestLimiter

    private let held = Locked(HeldOperations())
    /// Counts what is held back, and what is watched in Foundation's queue, for who waits until that is nothing.
    private let heldGroup = DispatchGroup()
    private let ownProgress = QueueProgress()

    /// Makes a queue without bounds.
    public override init() {
        limiter = RequestLimiter()
        super.init()
    }

    /// Makes a queue that measures the head start of a priority on a clock.
    init(clock: any Clock<Duration>) {
        limiter = RequestLimiter(clock: clock)
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

    /// Whether nothing is started. Requests that have been started go on, with all their attempts. Whatever had been given its
    /// place and not been started when the queue was suspended keeps that place.
    open override var isSuspended: Bool {
        get { held.withLock { $0.isSuspended } }
        set {
            held.withLock { $0.suspend(newValue) }
            // Of two that set it at once, the last that comes here may be the first above.
            var applied: Bool
            repeat {
                applied = held.withLock { $0.isSuspended }
                super.isSuspended = applied
            } while held.withLock { $0.isSuspended } != applied
            fillPlaces()
        }
    }

    /// The progress of the queue. Once you have set its `totalUnitCount`, every operation that has executed counts one unit
    /// when it finishes, asynchronous ones too, which Foundation leaves out; a foreign one if it was added after that and not
    /// cancelled.
    open override var progress: Progress { ownProgress }

    /// Adds an operation, which is started when it is ready. One that is in a queue, runs or has finished is a programmer's
    /// error.
    open override func addOperation(_ operation: Operation) {
        add(operation)
    }

    /// Adds operations, in order.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - wait: Whether to block the thread until they have finished.
    @available(*, noasync, message: "Use addBarrierBlock or a dependent Operation instead")
    open override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        for operation in operations { add(operation) }
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
        // From here on whatever is added waits for the barrier.
        let predecessors = held.withLock { $0.add(barrier) }
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
            let lastHeld = held.withLock { $0.lastNumber }
            heldGroup.wait()
            super.waitUntilAllOperationsAreFinished()
            // Who watches what has finished.
            heldGroup.wait()
            // What ran may have added others, which were held until it had left Foundation's queue, and are there by now.
            isOver = held.withLock { $0.isEmpty && $0.lastNumber == lastHeld } && super.operationCount == 0
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

    // MARK: Entering Foundation's queue

    private func add(_ operation: Operation) {
        guard let ours = operation as? any QueueMember else { return add(foreign: operation) }
        ours.join(self)
        heldGroup.enter()
        // Noted down before it may enter, so that a barrier misses none that is between the two.
        let isBehindBarrier = held.withLock { $0.insert(operation) }
        switch ours.settle(behindBarrier: isBehindBarrier) {
        case .enters: admit(ours)
        case .isHeld: break
        case .isOver: leave(operation)
        }
    }

    /// Whether what executes is counted. In a queue that is suspended, too: it may get its bound before it is resumed.
    private var hasLine: Bool { limiter.total != nil || held.withLock { $0.isSuspended } }

    /// An operation of ours is ready: it enters, once it has a place, if it needs one.
    func admit(_ operation: any QueueMember) {
        guard operation.holdsPlace, hasLine, operation.standInLine() else { return enter(operation) }
        standInLine(operation)
    }

    private func standInLine(_ operation: Operation) {
        let place = limiter.newPlace(operation.queuePriority)
        held.withLock { $0.standInLine(operation, at: place) }
        fillPlaces()
    }

    private func enter(_ operation: any QueueMember) {
        // Foundation runs the operations of a queue with its quality of service, but the work of ours is in Tasks.
        let quality = qualityOfService
        if quality != .default, operation.qualityOfService == .default { operation.qualityOfService = quality }
        operation.willRun(in: self)
        operation.enter { super.addOperation(operation) }
        leave(operation)
    }

    /// An operation is not held any more.
    func leave(_ operation: Operation) {
        if held.withLock({ $0.remove(operation) }) { heldGroup.leave() }
    }

    /// An operation of ours has executed and finished.
    func countFinished() {
        ownProgress.countOne()
    }

    // MARK: Foreign operations

    private func add(foreign operation: Operation) {
        heldGroup.enter()
        let isBehindBarrier = held.withLock { $0.insert(operation) }
        if !isBehindBarrier { advance(operation) }
    }

    /// Lets a foreign operation enter, or, where places are counted, stand in line when its dependencies have finished.
    private func advance(_ operation: Operation) {
        guard hasLine, !operation.isCancelled else { return enter(foreign: operation) }
        let unfinished = operation.dependencies.filter { !$0.isFinished }
        guard unfinished.isEmpty else {
            return unfinished.announceFinish { [self] in advance(operation) }
        }
        standInLine(operation)
    }

    private func enter(foreign operation: Operation, with slot: RequestLimiter.Slot? = nil) {
        guard held.withLock({ $0.beginEntering(operation) }) else { return }
        hand(over: operation, with: slot)
    }

    /// Gives a foreign operation to Foundation's queue; for whoever has seen to it that nobody else does.
    private func hand(over operation: Operation, with slot: RequestLimiter.Slot? = nil) {
        // Blocks count for themselves, and a barrier does not.
        let counts = ownProgress.totalUnitCount > 0 && !(operation is QueueBlock || operation is QueueBarrier)
        let isWatched = slot != nil || counts
        if isWatched { heldGroup.enter() }
        super.addOperation(operation)
        leave(operation)
        guard isWatched else { return }
        operation.announceFinish { [self] in
            slot?.release()
            if counts, !operation.isCancelled { ownProgress.countOne() }
            heldGroup.leave()
        }
    }

    // MARK: Places

    /// Offers the places that are free to those in the line.
    private func fillPlaces() {
        while let (place, former) = held.withLock({ $0.beginTaking() }) {
            // Whoever is not found there has just been admitted, and the first in the line gets its slot, or is about to wait
            // there, and then finds out that there is a better place.
            if let former, !limiter.leave(former) { return }
            if case .admitted = limiter.enter(nil, at: place, PlaceTaker(self)) {
                give(RequestLimiter.Slot(of: limiter, for: nil))
            } else {
                guard held.withLock({ $0.isTaking(betterThan: place) }), limiter.leave(place) else { return }
                held.withLock { $0.endTaking() }
            }
        }
    }

    /// Gives a place to the first in the line that can use it.
    private func give(_ slot: RequestLimiter.Slot) {
        while let operation = held.withLock({ $0.nextInLine() }) {
            if let ours = operation as? any QueueMember {
                guard ours.take(slot) else { continue }
                held.withLock { $0.endTaking() }
                return enter(ours)
            }
            guard operation.dependencies.allSatisfy(\.isFinished) || operation.isCancelled else {
                advance(operation)
                continue
            }
            held.withLock { $0.endTaking() }
            // Without a bound there is nothing to count, and so nothing to watch.
            return enter(foreign: operation, with: limiter.total == nil ? nil : slot)
        }
        slot.release()
    }

    /// Stands in the limiter's line for the first in the queue's.
    private final class PlaceTaker: SlotWaiter {
        private let queue: RequestQueue

        init(_ queue: RequestQueue) {
            self.queue = queue
        }

        /// What enters Foundation's queue is asked whether it is ready.
        var reachesUserCode: Bool { true }

        func wasAdmitted() {
            queue.give(RequestLimiter.Slot(of: queue.limiter, for: nil))
            queue.fillPlaces()
        }
    }
}
