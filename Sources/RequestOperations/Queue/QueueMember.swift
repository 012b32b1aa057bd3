/// An operation of ours with any type of value, as a queue sees it.
protocol QueueMember: FinishAnnouncing {
    var placeDemand: PlaceDemand { get }

    /// All dependencies of the operation have finished.
    func dependenciesFinished()
    /// The operation is ready and in the line of its queue. Its time begins to count.
    func becameReady()
    /// The operation is about to be started in a queue. This is called in the order of starting.
    ///
    /// It is not called for an operation that runs on the place of another.
    func willRun(by turn: QueueTurn)
    func join(_ queue: RequestQueue)
    func runs(onPlaceOf lender: any PlaceHolder)
    func settle(behindBarrier: Bool) -> QueueMembership.Settlement
    func passBarrier()
    func standInLine() -> Bool
    func take(_ slot: RequestLimiter.Slot) -> Bool
    func enter(_ add: () -> Void)
}

extension AsynchronousOperation: QueueMember {
    func join(_ queue: RequestQueue) {
        let mayJoin = state.withLock { $0.standing.awaitsStart && $0.membership.join(queue, as: self) }
        // Foundation's queue makes the same check.
        precondition(mayJoin, "An operation that is in a queue, runs or has finished cannot be added to a queue.")
    }

    func runs(onPlaceOf lender: any PlaceHolder) {
        state.withLock { $0.membership.runs(onPlaceOf: lender) }
    }

    func settle(behindBarrier: Bool) -> QueueMembership.Settlement {
        let settlement = change { $0.settle(behindBarrier: behindBarrier, $1) }
        if settlement == .isHeld { checkPreconditions() }
        return settlement
    }

    func passBarrier() {
        change { $0.passBarrier($1) }?.admit(self)
        checkPreconditions()
    }

    /// Enters the queue if the operation may do so by now.
    func enterQueueIfReady() {
        change { $0.update($1) }?.admit(self)
    }

    func standInLine() -> Bool {
        let stands = change { $0.standInLine($1) }
        // Another operation may have tried to start this one meanwhile, and that start was put off.
        if stands { startIfReady() }
        return stands
    }

    func take(_ slot: RequestLimiter.Slot) -> Bool {
        change { $0.take(slot, $1) }
    }

    func enter(_ add: () -> Void) {
        add()
        state.withLock { $0.membership.enter() }
        // Another operation may have tried to start this one meanwhile, and that start was put off.
        startIfReady()
    }

    /// A member of a running operation takes its places from the queue of that operation.
    func takePlace(of starter: MemberStarter) {
        guard let limiter = (starter.operationQueue as? RequestQueue)?.limiter else { return }
        if let holder = starter.placeHolder, holder.holdsPlace(of: limiter) {
            runs(onPlaceOf: holder)
        } else {
            willRun(by: QueueTurn(limiter: limiter, place: limiter.newPlace()))
        }
    }

    /// Runs a step with the task-local values of the operation's queue. The values of the place where the operation was
    /// made may name another queue.
    func bound<Output: Sendable>(
        to queue: OperationQueue?, _ body: () async throws -> Output
    ) async throws -> Output {
        if OperationQueue.ofCurrentOperation === queue, !(queue is RequestQueue) { return try await body() }
        return try await OperationQueue.$ofCurrentOperation.withValue(queue) {
            try await RequestQueue.$placeHolder.withValue(queue is RequestQueue ? lender : nil) {
                try await body()
            }
        }
    }

    private func change<Output>(_ change: (inout QueueMembership, QueueMembership.Standing) -> Output) -> Output {
        state.withLock { state in
            let standing = state.standing
            return change(&state.membership, standing)
        }
    }
}
