/// The wait of one attempt for a slot of each of two limiters: it gets both, or it holds none.
///
/// It stands in one line at a time, that of a limiter that has no slot for it. When it is admitted there it asks the other
/// limiter. If that has none, the slot goes on to whoever comes next, and the wait goes on in the line of the other, at the
/// place that it took in the beginning.
///
/// For an attempt that was redirected, which holds a place of each total, a slot is a place of its new host only.
final class JointWait: SlotWaiter {
    private enum Side {
        case first
        case second

        var other: Side { self == .first ? .second : .first }
    }

    private struct State {
        /// The limiter in whose line it stands, or is about to.
        var side = Side.first
        /// In which lines it has a place that cannot be rejected any more.
        var hasPlaceInFirst: Bool
        var hasPlaceInSecond: Bool
        var isCancelled = false
    }

    let places: AttemptLimiters.Places
    let answer = Answer<Void>()
    private let origin: Origin
    private let first: RequestLimiter
    private let second: RequestLimiter
    private let firstPlace: RequestLimiter.Place
    private let secondPlace: RequestLimiter.Place
    /// Whether it holds a place of the total of each, and needs those of the host only.
    private let holdTotals: Bool
    private let state: Locked<State>

    /// Makes a wait.
    ///
    /// - Parameters:
    ///   - places: The places of an earlier wait, which no full line rejects; where there is none, one is taken at the end of the
    ///     line.
    ///   - holdTotals: Whether a place of the total of each is held, so that those of the host are all that is needed.
    init(
        for origin: Origin, of first: RequestLimiter, _ second: RequestLimiter, priority: Operation.QueuePriority,
        places: AttemptLimiters.Places, holdTotals: Bool = false
    ) {
        self.origin = origin
        self.first = first
        self.second = second
        self.holdTotals = holdTotals
        firstPlace = places.first ?? first.newPlace(priority)
        secondPlace = places.second ?? second.newPlace(priority)
        self.places = AttemptLimiters.Places(first: firstPlace, second: secondPlace)
        state = Locked(
            State(
                hasPlaceInFirst: places.first != nil && !places.isFirstNew, hasPlaceInSecond: places.second != nil))
    }

    /// Begins the wait, and awaits its end.
    ///
    /// Returns with both slots even if the Task was cancelled, if they were given before that was seen: check afterwards.
    ///
    /// - Throws: `CancellationError`, or ``RequestError/Code/slotRejected`` if a line is full.
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
        // Whoever is in no line at this moment is just being taken a step further, and that sees the cancel.
        if leave(side) { answer.resume(with: .failure(CancellationError())) }
    }

    // MARK: Steps

    /// The steps of all waits, taken one at a time: two at the same time could each hold what the other looks for.
    /// A step can admit another wait, so they are not nested either. All of a process take turns, so no step reaches code of
    /// the user's.
    ///
    /// The last that came is the next. An attempt that does not find the other slot stands in the line of the other
    /// limiter. So the line of the slot that it gives on only becomes shorter. That goes on until somebody keeps the slot
    /// or it is free; only then comes the step below. (A slot that is given back admits two at most: one by its place of
    /// the total, and one that holds such a place by the place of its host. Both stood in the line that becomes shorter.)
    /// So of themselves the steps come to an end. In the order in which they come, three waits could pass two slots round
    /// among themselves for ever. (Of those that others add meanwhile, on their threads, the last is the next as well.)
    private struct Steps {
        var pending: [(wait: JointWait, holding: Side?)] = []
        var isRunning = false

        mutating func add(_ wait: JointWait, holding side: Side?) -> Bool {
            pending.append((wait, side))
            defer { isRunning = true }
            return !isRunning
        }

        /// Takes the next; whoever gets none has run the last.
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
        if let held { limiter(held).giveBackAtOnce(origin, keepsTotal: holdTotals) }
    }

    private func enter(_ side: Side) -> SlotTable.Entry {
        let isFirst = side == .first
        let hasPlace = state.withLock { state in
            defer { if isFirst { state.hasPlaceInFirst = true } else { state.hasPlaceInSecond = true } }
            return isFirst ? state.hasPlaceInFirst : state.hasPlaceInSecond
        }
        return limiter(side).enter(
            origin, at: place(side), self, mayBeRejected: !hasPlace && !holdTotals, holdsTotal: holdTotals)
    }

    private func leave(_ side: Side) -> Bool {
        limiter(side).leave(place(side))
    }

    private func limiter(_ side: Side) -> RequestLimiter {
        side == .first ? first : second
    }

    private func place(_ side: Side) -> RequestLimiter.Place {
        side == .first ? firstPlace : secondPlace
    }
}
