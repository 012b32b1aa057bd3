/// The wait of one attempt for a place in its queue and a slot of its limiter. It gets both, or it holds neither.
///
/// It stands in one line at a time, at its old position. It begins in the line of the limiter, which had no slot. When
/// the limiter admits it, it asks the queue. If the queue has nothing free, it passes its slot on to the next waiter,
/// and stands in the line of the queue. This goes on, from one line to the other, until it has both.
final class JointWait: SlotWaiter {
    private enum Side {
        case queue
        case limiter

        var other: Side { self == .queue ? .limiter : .queue }
    }

    /// One of the two limiters, and how the attempt stands in its line.
    struct Line: Sendable {
        let limiter: RequestLimiter
        let place: RequestLimiter.Place
        var standing = SlotTable.Standing.later
    }

    private struct State {
        /// The side in whose line it stands or is about to stand.
        var side = Side.limiter
        /// Whether a full line rejects it. That is so in the line of the limiter, until it has stood there once.
        var mayBeRejected: Bool
        var isCancelled = false
    }

    let answer = Answer<Void>()
    private let origin: Origin
    private let queue: Line
    private let limiter: Line
    private let state: Locked<State>

    init(for origin: Origin, of queue: Line, and limiter: Line, mayBeRejected: Bool) {
        self.origin = origin
        self.queue = queue
        self.limiter = limiter
        state = Locked(State(mayBeRejected: mayBeRejected))
    }

    /// Begins the wait, and awaits its end.
    ///
    /// If the Task is cancelled too late, it returns with both. So check for a cancel afterwards.
    ///
    /// - Throws: `CancellationError`, or ``RequestError/Code/slotRejected`` if the limiter's line is full.
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
        // If the wait is in no line now, it is in the middle of a step. The end of that step sees the cancel.
        if leave(side) { answer.resume(with: .failure(CancellationError())) }
    }

    // MARK: Steps

    /// The steps of all waits, one at a time. Two at once could each hold what the other needs. A step can admit
    /// another wait, so steps are not nested either. All waits of the process share this line. So no step may run code
    /// of the user.
    ///
    /// The last step that was added runs first. An attempt that finds no other slot moves to the other line, so the
    /// line of the slot that it passes on becomes shorter. That goes on until an attempt keeps the slot or the slot is
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
        guard !isCancelled else { return end(.failure(CancellationError()), givingBack: held) }
        switch enter(next) {
        case .admitted where held != nil:
            answer.resume(with: .success(()))
        case .admitted:
            advance(holding: next)
        case .rejected:
            end(
                .failure(RequestError(.slotRejected, stage: .slot, reason: "the limiter's line is full")),
                givingBack: held)
        case .waits:
            giveBack(held)
            // The cancel may have come before the wait stood in the line.
            if state.withLock({ $0.isCancelled }), leave(next) { answer.resume(with: .failure(CancellationError())) }
        }
    }

    private func end(_ result: Result<Void, any Error>, givingBack held: Side?) {
        giveBack(held)
        answer.resume(with: result)
    }

    private func giveBack(_ held: Side?) {
        if let held { line(held).limiter.giveBackAtOnce(origin) }
    }

    private func enter(_ side: Side) -> SlotTable.Entry {
        let mayBeRejected = state.withLock { state in
            guard side == .limiter else { return false }
            defer { state.mayBeRejected = false }
            return state.mayBeRejected
        }
        let line = line(side)
        return line.limiter.enter(origin, at: line.place, self, as: line.standing, mayBeRejected: mayBeRejected)
    }

    private func leave(_ side: Side) -> Bool {
        line(side).limiter.leave(line(side).place)
    }

    private func line(_ side: Side) -> Line {
        side == .queue ? queue : limiter
    }
}
