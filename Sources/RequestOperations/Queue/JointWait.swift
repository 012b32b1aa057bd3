/// The wait of one attempt for a place of its queue and a slot of its limiter: it gets both, or it holds none.
///
/// It stands in one line at a time, at its old place. It begins in the line of the limiter, which had no slot. When it is admitted
/// there, it asks the other one. If that one has nothing free, it passes what it got on to the next waiter. It then stands in the
/// other line, and so on until it has both.
final class JointWait: SlotWaiter {
    private enum Side {
        case queue
        case limiter

        var other: Side { self == .queue ? .limiter : .queue }
    }

    /// One of the two, and how the attempt stands in its line.
    struct Line: Sendable {
        let limiter: RequestLimiter
        let place: RequestLimiter.Place
        var standing = SlotTable.Standing.later
    }

    private struct State {
        /// In whose line it stands, or is about to.
        var side = Side.limiter
        /// Whether a full line rejects it: in that of the limiter, as long as it has not stood there.
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
    /// Returns with both even if the Task was cancelled, if they were given before that was seen: check afterwards.
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
        // A wait that is in no line now is in the middle of a step. The end of that step sees the cancel.
        if leave(side) { answer.resume(with: .failure(CancellationError())) }
    }

    // MARK: Steps

    /// The steps of all waits, taken one at a time: two at the same time could each hold what the other looks for.
    /// A step can admit another wait, so they are not nested either. All of a process take turns, so no step reaches code of
    /// the user's.
    ///
    /// The last that came is the next. An attempt that does not find the other slot stands in the other line. So the line of the
    /// slot that it gives on only becomes shorter. That goes on until somebody keeps the slot or it is free; only then comes the
    /// step below. So of themselves the steps come to an end. In the order in which they come, three waits could pass two slots
    /// round among themselves for ever. (Of those that others add meanwhile, on their threads, the last is the next as well.)
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

    /// Looks for the slot that is missing; alone among all waits.
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
            // A cancel that came before there was anything to leave.
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
