/// The wait of one attempt for a place in its queue and a slot of its limiter. It gets both, or it holds neither.
///
/// It waits for one of them at a time, at its old position. It begins with the limiter, which had no slot. When
/// the limiter admits it, it asks the queue. If the queue has nothing free, it passes its slot on to the next waiter,
/// and waits for the queue. This goes on, from one to the other, until it has both.
final class JointWait: SlotWaiter {
    private enum Side {
        case queue
        case limiter

        var other: Side { self == .queue ? .limiter : .queue }
    }

    /// One of the two limiters, and how the attempt waits for it.
    struct Position: Sendable {
        let limiter: RequestLimiter
        let place: RequestLimiter.Place
        var standing = SlotTable.Standing.later
    }

    private struct State {
        /// The side that it waits for or is about to wait for.
        var side = Side.limiter
        /// Whether a full limiter rejects it. That is so until it has waited for the limiter once.
        var mayBeRejected: Bool
        var isCancelled = false
    }

    let answer = Answer<Void>()
    private let origin: Origin
    private let queue: Position
    private let limiter: Position
    private let state: Locked<State>

    init(for origin: Origin, of queue: Position, and limiter: Position, mayBeRejected: Bool) {
        self.origin = origin
        self.queue = queue
        self.limiter = limiter
        state = Locked(State(mayBeRejected: mayBeRejected))
    }

    /// Begins the wait, and awaits its end.
    ///
    /// If the Task is cancelled too late, it returns with both. So check for a cancel afterwards.
    ///
    /// - Throws: `CancellationError`, or ``RequestError/Code/slotRejected`` if too many attempts wait for the limiter.
    func outcome() async throws {
        begin()
        try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            cancel()
        }
    }

    func begin() {
        advance(holding: nil)
    }

    func wasAdmitted() {
        advance(holding: state.withLock { $0.side })
    }

    func cancel() {
        let side = state.withLock { state in
            state.isCancelled = true
            return state.side
        }
        // If it waits for neither side now, it is in the middle of a step. The end of that step sees the cancel.
        if leave(side) { answer.resume(with: .failure(CancellationError())) }
    }

    // MARK: Steps

    /// The steps of all waits, one at a time. Two at once could each hold what the other needs. A step can admit
    /// another wait, so steps are not nested either. All waits of the process share this list. So no step may run code
    /// of the user.
    ///
    /// The last step that was added runs first. An attempt that finds no other slot waits for the other one, so
    /// fewer wait for the slot that it passes on. That goes on until an attempt keeps the slot or the slot is
    /// free. Only then does an earlier step run. So the steps come to an end. If the first step ran first, three waits
    /// could pass two slots around forever.
    private struct Steps {
        var pending: [(wait: JointWait, holding: Side?)] = []
        var isRunning = false

        mutating func add(_ wait: JointWait, holding side: Side?) -> Bool {
            pending.append((wait, side))
            defer { isRunning = true }
            return !isRunning
        }

        /// Takes the next step. The caller that gets `nil` has run the last one.
        mutating func next() -> (wait: JointWait, holding: Side?)? {
            isRunning = !pending.isEmpty
            return pending.popLast()
        }
    }

    private static let steps = Locked(Steps())

    private func advance(holding side: Side?) {
        guard Self.steps.withLock({ $0.add(self, holding: side) }) else { return }
        while let step = Self.steps.withLock({ $0.next() }) { step.wait.step(holding: step.holding) }
    }

    /// Looks for the missing slot. No other wait takes a step meanwhile.
    private func step(holding held: Side?) {
        let (isCancelled, next) = state.withLock { state in
            state.side = held?.other ?? state.side
            return (state.isCancelled, state.side)
        }
        guard !isCancelled else { return end(.failure(CancellationError()), releasing: held) }
        switch enter(next) {
        case .admitted where held != nil:
            answer.resume(with: .success(()))
        case .admitted:
            advance(holding: next)
        case .rejected:
            end(
                .failure(RequestError(.slotRejected, stage: .slot, reason: "too many attempts wait for the limiter")),
                releasing: held)
        case .waits:
            release(held)
            // The cancel may have come before it waited for that side.
            if state.withLock({ $0.isCancelled }), leave(next) { answer.resume(with: .failure(CancellationError())) }
        }
    }

    private func end(_ result: Result<Void, any Error>, releasing held: Side?) {
        release(held)
        answer.resume(with: result)
    }

    private func release(_ held: Side?) {
        if let held { position(held).limiter.releaseUnused(origin) }
    }

    private func enter(_ side: Side) -> SlotTable.Entry {
        let mayBeRejected = state.withLock { state in
            guard side == .limiter else { return false }
            defer { state.mayBeRejected = false }
            return state.mayBeRejected
        }
        let position = position(side)
        return position.limiter.enter(
            origin, at: position.place, self, as: position.standing, mayBeRejected: mayBeRejected)
    }

    private func leave(_ side: Side) -> Bool {
        position(side).limiter.leave(position(side).place)
    }

    private func position(_ side: Side) -> Position {
        side == .queue ? queue : limiter
    }
}

/// Where an operation that a `RequestQueue` started waits, and the place that it holds.
///
/// It lends the place to operations that its stages add to that queue. Without this, a request that an adapter sends
/// through its own queue would wait for the place of its own request. That request waits for the adapter, so both would
/// wait forever.
final class QueuePlace: Sendable {
    let limiter: RequestLimiter
    /// All attempts of the operation stand here.
    let position: RequestLimiter.Place
    /// The place on which the operation runs, if it is that of another operation.
    let lender: QueuePlace?
    private let current: Locked<RequestLimiter.Slot?>

    init(of limiter: RequestLimiter, at position: RequestLimiter.Place, holding slot: RequestLimiter.Slot? = nil) {
        (self.limiter, self.position, lender) = (limiter, position, nil)
        current = Locked(slot)
    }

    init(lentBy place: QueuePlace) {
        (limiter, position, lender) = (place.limiter, place.position, place.lender ?? place)
        current = Locked(nil)
    }

    /// The slot that the operation or its running attempt took last.
    var slot: RequestLimiter.Slot? { current.withLock { $0 } }

    /// Whether the operation runs on a place that has not been released.
    var isHeld: Bool { (lender ?? self).slot?.isHeld ?? false }

    /// The place, if the operation can lend it to others in the queue with this limiter.
    func lent(in limiter: RequestLimiter) -> QueuePlace? { self.limiter === limiter && isHeld ? self : nil }

    /// Forgets a slot that is released, since a request that waits may keep it for long.
    func forget(_ slot: RequestLimiter.Slot) {
        current.withLock { if $0 === slot { $0 = nil } }
    }

    /// Records the slot that an attempt has taken.
    func keep(_ slot: RequestLimiter.Slot) {
        var former: RequestLimiter.Slot? = slot
        // Freed outside the lock.
        current.withLock { swap(&$0, &former) }
    }
}
