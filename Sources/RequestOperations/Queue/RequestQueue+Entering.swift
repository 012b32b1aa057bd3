/// How operations enter Foundation's queue. An operation enters when it is ready and there is a place for it.
extension RequestQueue: OperationStarter {
    func take(in operation: Operation) {
        finishJoining(operation, behindBarrier: join(operation))
    }

    /// Takes operations in together. All wait before the first one gets a place, and the places go by priority.
    func take(in operations: [Operation]) {
        let joined = operations.map { (operation: $0, isBehindBarrier: join($0), priority: $0.queuePriority.rawValue) }
        for next in joined.sorted(by: { $0.priority > $1.priority }) {
            finishJoining(next.operation, behindBarrier: next.isBehindBarrier)
        }
    }

    /// Records an operation. Returns whether it is behind a barrier.
    private func join(_ operation: Operation) -> Bool {
        if let ours = operation as? any StartableOperation {
            let mayJoin = ours.state.withLock { $0.join(self, as: ours) }
            // Foundation's queue makes the same check.
            precondition(mayJoin, "An operation that is in a queue, runs or has finished cannot be added to a queue.")
        }
        waitingGroup.enter()
        let (position, lender) = (limiter.newPlace(), lender)
        // We record the operation before it may enter. So a barrier does not miss one that is between the two steps.
        return waiting.withLock { $0.insert(operation, at: position, lentBy: lender) }
    }

    /// Lets a waiting operation enter when it can.
    private func finishJoining(_ operation: Operation, behindBarrier: Bool) {
        guard let ours = operation as? any StartableOperation else {
            if !behindBarrier { advance(operation) }
            return
        }
        switch ours.state.withLock({ $0.finishJoining(behindBarrier: behindBarrier) }) {
        case .enters: admit(ours)
        case .waits: ours.checkPreconditions()
        case .isOver: leave(operation)
        }
    }

    /// Whether places are counted for operations that execute. A suspended queue counts too, because it may get its
    /// limit before it is resumed.
    private var countsExecuting: Bool { limiter.total != nil || waiting.withLock { $0.isSuspended } }

    /// Lets an operation of ours enter that is ready. If it needs a place, it waits for one first.
    func admit(_ operation: any StartableOperation) {
        operation.becameReady()
        guard let lender = waiting.withLock({ $0.lender(of: operation) }) else { return enter(operation) }
        // The lender may have released its place since.
        if let lender, lender.isHeld {
            let place = QueuePlace(lentBy: lender)
            operation.state.withLock { $0.place = place }
            return enter(operation)
        }
        // An operation with a host makes attempts, which are counted in any case.
        let origin = operation.origin
        guard operation.takesPlace, origin != nil || countsExecuting,
            operation.state.withLock({ $0.awaitPlace() })
        else {
            return enter(operation)
        }
        // Another operation may have tried to start this one meanwhile, and that start was put off.
        operation.startIfReady()
        awaitPlace(operation, for: origin)
    }

    /// Gives an operation of ours to Foundation's queue.
    ///
    /// - Parameter mayAwaitPlace: Whether it may still wait for a place.
    private func enter(_ operation: any StartableOperation, mayAwaitPlace: Bool = true) {
        // Foundation applies the quality of service of a queue to its threads. Our operations work in Tasks, so we set
        // it on them.
        let quality = qualityOfService
        if quality != .default, operation.qualityOfService == .default { operation.qualityOfService = quality }
        super.addOperation(operation)
        operation.state.withLock { $0.hasEntered() }
        // As above.
        operation.startIfReady()
        leave(operation, mayAwaitPlace: mayAwaitPlace)
    }

    func leave(_ operation: Operation) {
        leave(operation, mayAwaitPlace: true)
    }

    /// Removes an operation that no longer waits.
    private func leave(_ operation: Operation, mayAwaitPlace: Bool) {
        let (isNews, place, producers) = waiting.withLock { table in
            let (isNews, place) = table.remove(operation)
            return (isNews, place, table.admitProducers())
        }
        if mayAwaitPlace, let place { stopWaiting(at: place) }
        if isNews { waitingGroup.leave() }
        for producer in producers { producer.resume(with: .success(())) }
    }

    func finished(_ place: (any AnyObject & Sendable)?, wasExecuting: Bool) {
        // The attempts of a request have released theirs. So nothing was sent over one that it still has.
        if let slot = (place as? QueuePlace)?.slot { slot.release(isUnused: !wasExecuting || slot.origin != nil) }
        if wasExecuting { ownProgress.countOne() }
    }

    // MARK: Foreign operations

    /// Lets a foreign operation enter. If places are counted, it waits for a place when its dependencies have finished.
    func advance(_ operation: Operation) {
        let isLent = waiting.withLock { $0.lender(of: operation) ?? nil }?.isHeld == true
        guard countsExecuting, !isLent, !operation.isCancelled else { return enter(foreign: operation) }
        let unfinished = operation.dependencies.filter { !$0.isFinished }
        guard unfinished.isEmpty else {
            return unfinished.announceFinish { [self] in advance(operation) }
        }
        awaitPlace(operation)
    }

    func enter(foreign operation: Operation, with slot: RequestLimiter.Slot? = nil) {
        guard waiting.withLock({ $0.beginEntering(operation) }) else { return }
        hand(over: operation, with: slot)
    }

    /// Gives a foreign operation to Foundation's queue. The caller must make sure that nothing else does so.
    func hand(over operation: Operation, with slot: RequestLimiter.Slot? = nil) {
        // Blocks count themselves, and a barrier does not count.
        let counts = ownProgress.totalUnitCount > 0 && !(operation is QueueBlock || operation is QueueBarrier)
        let isWatched = slot != nil || counts
        if isWatched { waitingGroup.enter() }
        super.addOperation(operation)
        leave(operation)
        guard isWatched else { return }
        operation.announceFinish { [self] in
            slot?.release()
            if counts, !operation.isCancelled { ownProgress.countOne() }
            waitingGroup.leave()
        }
    }

    // MARK: Places

    /// Lets an operation wait for a place for its host. It may have no host.
    private func awaitPlace(_ operation: Operation, for origin: Origin? = nil) {
        let priority = operation.queuePriority
        guard let place = waiting.withLock({ $0.awaitPlace(operation, with: priority) }) else { return }
        let waiter = PlaceWaiter(in: self, for: operation, to: origin, at: place)
        switch limiter.enter(origin, at: place, waiter, as: .first) {
        case .admitted: waiter.wasAdmitted()
        case .waits:
            // The operation may have been cancelled before it waited.
            if !waiting.withLock({ $0.waits(operation, at: place) }) { stopWaiting(at: place) }
        case .rejected: preconditionFailure("A queue rejects nobody.")
        }
    }

    /// Stops the wait of an operation for a place. If it was admitted, it may run by now, and its next attempt may wait at the
    /// same position.
    private func stopWaiting(at place: RequestLimiter.Place) {
        _ = limiter.leave(place) { $0 is PlaceWaiter }
    }

    /// There is room: starts an operation that waited.
    private func start(_ operation: Operation, with slot: RequestLimiter.Slot, from position: RequestLimiter.Place) {
        if let ours = operation as? any StartableOperation {
            let place = QueuePlace(of: limiter, at: position, holding: slot)
            if ours.state.withLock({ $0.take(place) }) { return enter(ours, mayAwaitPlace: false) }
            slot.release(isUnused: true)
            // A condition or a key may have been added while it waited.
            ours.proceed()
        } else if operation.isCancelled || operation.dependencies.allSatisfy(\.isFinished) {
            // Without a limit there is nothing to count, so we do not watch the operation.
            let isCounted = limiter.total != nil
            if !isCounted { slot.release() }
            enter(foreign: operation, with: isCounted ? slot : nil)
        } else {
            slot.release(isUnused: true)
            advance(operation)
        }
    }

    /// An operation that waits for a place.
    // Unchecked, because the weak reference is set only once, by `init`.
    private final class PlaceWaiter: SlotWaiter, @unchecked Sendable {
        /// Weak, so that a queue that stays suspended can be freed together with the blocks in it.
        private weak var queue: RequestQueue?
        private let operation: Operation
        private let origin: Origin?
        private let place: RequestLimiter.Place

        init(in queue: RequestQueue, for operation: Operation, to origin: Origin?, at place: RequestLimiter.Place) {
            self.queue = queue
            self.operation = operation
            self.origin = origin
            self.place = place
        }

        /// Foundation's queue asks each operation that enters whether it is ready, and that may run code of the user.
        var reachesUserCode: Bool { true }

        func wasAdmitted() {
            guard let queue else { return }
            queue.start(operation, with: RequestLimiter.Slot(of: queue.limiter, for: origin), from: place)
        }
    }
}
