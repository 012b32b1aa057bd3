/// How operations enter Foundation's queue. An operation enters when it is ready and there is a place for it.
extension RequestQueue: OperationStarter {
    /// The holder of a place of this queue, if the current Task runs one of its stages.
    var lender: (any PlaceHolder)? {
        guard let holder = Self.placeHolder, holder.holdsPlace(of: limiter) else { return nil }
        return holder
    }

    /// Takes an operation in. Returns whether it is behind a barrier.
    private func hold(_ operation: Operation) -> Bool {
        heldGroup.enter()
        let (place, lender) = (limiter.newPlace(), lender)
        // We record the operation before it may enter. So a barrier does not miss one that is between the two steps.
        return held.withLock { $0.insert(operation, at: place, lentBy: lender) }
    }

    func take(in operation: Operation) {
        settle(operation, behindBarrier: join(operation))
    }

    /// Takes operations in together. All are held before the first one gets a place, and the places go by priority.
    func take(in operations: [Operation]) {
        let joined = operations.map { (operation: $0, isBehindBarrier: join($0), priority: $0.queuePriority.rawValue) }
        for next in joined.sorted(by: { $0.priority > $1.priority }) {
            settle(next.operation, behindBarrier: next.isBehindBarrier)
        }
    }

    /// Holds an operation. Returns whether it is behind a barrier.
    private func join(_ operation: Operation) -> Bool {
        (operation as? any StartableOperation)?.join(self)
        return hold(operation)
    }

    /// Lets a held operation enter when it can.
    private func settle(_ operation: Operation, behindBarrier: Bool) {
        guard let ours = operation as? any StartableOperation else {
            if !behindBarrier { advance(operation) }
            return
        }
        switch ours.settle(behindBarrier: behindBarrier) {
        case .enters: admit(ours)
        case .isHeld: break
        case .isOver: leave(operation)
        }
    }

    /// Whether places are counted for operations that execute. A suspended queue counts too, because it may get its
    /// limit before it is resumed.
    private var countsExecuting: Bool { limiter.total != nil || held.withLock { $0.isSuspended } }

    /// Lets an operation of ours enter that is ready. If it needs a place, it waits for one first.
    func admit(_ operation: any StartableOperation) {
        operation.becameReady()
        guard let (_, lender) = held.withLock({ $0.terms(of: operation) }) else { return enter(operation) }
        // The lender may have given its place back since.
        if let lender, lender.holdsPlace(of: limiter) { return enter(operation, lentBy: lender) }
        switch operation.placeDemand {
        case .forAttempts:
            guard operation.standInLine() else { return enter(operation) }
            standInLine(operation, for: (operation as? any AttemptMaking)?.origin)
        case .whileExecuting:
            if countsExecuting, operation.standInLine() { standInLine(operation) } else { enter(operation) }
        case .none: enter(operation)
        }
    }

    private func enter(_ operation: any StartableOperation, lentBy lender: (any PlaceHolder)? = nil) {
        // Foundation applies the quality of service of a queue to its threads. Our operations work in Tasks, so we set
        // it on them.
        let quality = qualityOfService
        if quality != .default, operation.qualityOfService == .default { operation.qualityOfService = quality }
        giveTurn(to: operation, at: held.withLock { $0.terms(of: operation)?.place }, lentBy: lender)
        operation.enter { super.addOperation(operation) }
        leave(operation)
    }

    /// Tells an operation before it starts where its attempts stand, or that it runs on the place of a lender.
    func giveTurn(
        to operation: any StartableOperation, at place: RequestLimiter.Place? = nil, lentBy lender: (any PlaceHolder)?
    ) {
        if let lender, lender.holdsPlace(of: limiter) {
            operation.state.withLock { $0.place = lender }
        } else {
            let attempts = operation as? any AttemptMaking
            attempts?.willRun(by: QueueTurn(limiter: limiter, place: place ?? limiter.newPlace()))
        }
    }

    /// Removes an operation that is no longer held.
    func leave(_ operation: Operation) {
        let (isNews, inLine, producers) = held.withLock { held in
            let (isNews, inLine) = held.remove(operation)
            return (isNews, inLine, held.admitProducers())
        }
        if let inLine { leaveLine(at: inLine) }
        if isNews { heldGroup.leave() }
        for producer in producers { producer.resume(with: .success(())) }
    }

    func finished(_ place: (any AnyObject & Sendable)?, wasExecuting: Bool) {
        (place as? RequestLimiter.Slot)?.release()
        if wasExecuting { ownProgress.countOne() }
    }

    // MARK: Foreign operations

    /// Lets a foreign operation enter. If places are counted, it joins the line when its dependencies have finished.
    func advance(_ operation: Operation) {
        let lender = held.withLock { $0.terms(of: operation)?.lender }
        let isLent = lender?.holdsPlace(of: limiter) == true
        guard countsExecuting, !isLent, !operation.isCancelled else { return enter(foreign: operation) }
        let unfinished = operation.dependencies.filter { !$0.isFinished }
        guard unfinished.isEmpty else {
            return unfinished.announceFinish { [self] in advance(operation) }
        }
        standInLine(operation)
    }

    func enter(foreign operation: Operation, with slot: RequestLimiter.Slot? = nil) {
        guard held.withLock({ $0.beginEntering(operation) }) else { return }
        hand(over: operation, with: slot)
    }

    /// Gives a foreign operation to Foundation's queue. The caller must make sure that nothing else does so.
    func hand(over operation: Operation, with slot: RequestLimiter.Slot? = nil) {
        // Blocks count themselves, and a barrier does not count.
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

    /// Puts an operation in the line of a host, or in the line of operations without a host.
    private func standInLine(_ operation: Operation, for origin: Origin? = nil) {
        let priority = operation.queuePriority
        guard let place = held.withLock({ $0.standInLine(operation, with: priority) }) else { return }
        let waiter = LineWaiter(in: self, for: operation, to: origin, at: place)
        switch limiter.enter(origin, at: place, waiter, as: .first) {
        case .admitted: waiter.wasAdmitted()
        case .waits:
            // The operation may have been cancelled before it was in the line.
            if !held.withLock({ $0.stands(operation, at: place) }) { leaveLine(at: place) }
        case .rejected: preconditionFailure("The line of a queue rejects nobody.")
        }
    }

    /// Takes an operation out of the line. If it was admitted, it may run by now, and its next attempt may wait at the
    /// same position.
    private func leaveLine(at place: RequestLimiter.Place) {
        _ = limiter.leave(place) { $0 is LineWaiter }
    }

    /// Gives a place to an operation in the line.
    private func give(_ slot: RequestLimiter.Slot, to operation: Operation) {
        if let ours = operation as? any StartableOperation {
            guard !ours.take(slot) else { return enter(ours) }
            slot.release(isUnused: true)
            // A condition or a key may have been added while it stood in line.
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

    /// An operation in the line.
    // Unchecked, because the weak reference is set only once, by `init`.
    private final class LineWaiter: SlotWaiter, @unchecked Sendable {
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
            queue.give(RequestLimiter.Slot(of: queue.limiter, for: origin), to: operation)
        }
    }
}
