/// An operation that takes a place for each attempt.
protocol AttemptMaking: StartableOperation {
    /// The host in whose line the attempts stand.
    var origin: Origin { get }
    /// The operation is about to be started in a queue. This is called in the order of starting.
    ///
    /// It is not called for an operation that runs on the place of another.
    func willRun(by turn: QueueTurn)
    func attemptHoldsPlace(of limiter: RequestLimiter) -> Bool
}

/// The limiter of a request's queue, and the request's position in its line.
struct QueueTurn: Sendable {
    let limiter: RequestLimiter
    /// The position of the operation. All of its attempts stand there.
    let place: RequestLimiter.Place
}

/// How a queue changes the state of an operation that it holds.
extension StartableOperation {
    func join(_ queue: RequestQueue) {
        let mayJoin = state.withLock { $0.join(queue, as: self) }
        // Foundation's queue makes the same check.
        precondition(mayJoin, "An operation that is in a queue, runs or has finished cannot be added to a queue.")
    }

    func settle(behindBarrier: Bool) -> OperationLifecycle.Settlement {
        let settlement = state.withLock { $0.settle(behindBarrier: behindBarrier) }
        if settlement == .isHeld { checkPreconditions() }
        return settlement
    }

    func passBarrier() {
        state.withLock { $0.passBarrier() }?.admit(self)
        checkPreconditions()
    }

    func standInLine() -> Bool {
        let stands = state.withLock { $0.standInLine() }
        // Another operation may have tried to start this one meanwhile, and that start was put off.
        if stands { startIfReady() }
        return stands
    }

    func take(_ slot: RequestLimiter.Slot) -> Bool {
        state.withLock { $0.take(slot) }
    }

    func enter(_ add: () -> Void) {
        add()
        state.withLock { $0.hasEntered() }
        // Another operation may have tried to start this one meanwhile, and that start was put off.
        startIfReady()
    }
}

extension OperationLifecycle {
    /// Returns the place of the queue that it holds, and gives it up. The first attempt of the operation takes the place
    /// over.
    mutating func takeSlot() -> RequestLimiter.Slot? {
        guard let slot = place as? RequestLimiter.Slot else { return nil }
        place = nil
        return slot
    }
}

/// An object that may hold a place of a `RequestQueue`. It lends the place to operations that its stages add to that
/// queue.
///
/// Without this, a request that an adapter sends through its own queue would wait for the place of its own request.
/// That request waits for the adapter, so both would wait forever.
protocol PlaceHolder: AnyObject, Sendable {
    /// Whether it now holds a place of the queue with this limiter.
    func holdsPlace(of limiter: RequestLimiter) -> Bool
    /// The holder that lends a place to what the stages of this one add.
    var lender: any PlaceHolder { get }
}

extension AsynchronousOperation: PlaceHolder {
    func holdsPlace(of limiter: RequestLimiter) -> Bool {
        if let self = self as? any AttemptMaking { return self.attemptHoldsPlace(of: limiter) }
        return state.withLock { state in
            guard let slot = state.place as? RequestLimiter.Slot, let queue = state.hold?.starter as? RequestQueue
            else {
                return false
            }
            return queue.limiter === limiter && slot.isHeld
        }
    }

    var lender: any PlaceHolder { state.withLock { $0.place } as? any PlaceHolder ?? self }
}
