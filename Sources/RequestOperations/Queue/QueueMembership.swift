/// How an operation of ours stands with the `RequestQueue` that it was added to: a pure value.
///
/// ```
/// none ── join ──▶ joining ── settle ──▶ held ──▶ entering ──▶ entered
///                                         ▲ │         ▲
///                                         │ ▼         │
///                                        inLine ──────┘
/// ```
///
/// The operation is the only one that knows when it is ready, so it says when it is to enter Foundation's queue, and says so
/// once.
struct QueueMembership {
    /// What the operation tells of itself.
    struct Standing {
        /// Whether nobody has started the operation yet.
        let awaitsStart: Bool
        let isCancelled: Bool
        /// Whether its dependencies have finished.
        let isSatisfied: Bool
    }

    private enum HeldPlace {
        case none
        case own(RequestLimiter.Slot)
        /// That of another one, whose stage added it.
        case lent(by: any PlaceHolder)
    }

    private enum State {
        case none
        /// The queue takes it in.
        case joining(barrierIsOver: Bool)
        /// It waits for its dependencies, or for a barrier.
        case held(behindBarrier: Bool)
        /// It waits for a place of the queue.
        case inLine
        /// It is on the way into Foundation's queue, or in it.
        case entering
        case entered
        case over
    }

    private var queue: RequestQueue?
    /// The operation itself, as long as the queue holds it too.
    private(set) var member: (any QueueMember)?
    /// The place that it has.
    private var place = HeldPlace.none
    private var state = State.none

    /// Whether a queue has the operation that has not let it into Foundation's yet.
    var isHeld: Bool {
        switch state {
        case .joining, .held, .inLine: true
        case .none, .entering, .entered, .over: false
        }
    }

    /// Whether nobody but Foundation's queue may start the operation now: a queue cannot take in one that runs.
    var isEntering: Bool {
        if case .entering = state { true } else { false }
    }

    /// The operation was added to a queue; whether it may be.
    mutating func join(_ queue: RequestQueue, as member: (any QueueMember)? = nil) -> Bool {
        guard case .none = state else { return false }
        self.queue = queue
        self.member = member
        state = .joining(barrierIsOver: false)
        return true
    }

    enum Settlement {
        case enters
        case isHeld
        /// It has finished already.
        case isOver
    }

    /// The queue has noted the operation down.
    mutating func settle(behindBarrier: Bool, _ standing: Standing) -> Settlement {
        guard case .joining(let barrierIsOver) = state else { return .isOver }
        state = .held(behindBarrier: behindBarrier && !barrierIsOver)
        return update(standing) == nil ? .isHeld : .enters
    }

    /// The barrier that the operation was added after is over; the queue that it enters now, if it does.
    mutating func passBarrier(_ standing: Standing) -> RequestQueue? {
        switch state {
        case .joining: state = .joining(barrierIsOver: true)
        case .held: state = .held(behindBarrier: false)
        case .none, .inLine, .entering, .entered, .over: break
        }
        return update(standing)
    }

    /// Something changed in how the operation stands; the queue that it enters now, if it does.
    mutating func update(_ standing: Standing) -> RequestQueue? {
        guard standing.awaitsStart else { return nil }
        switch state {
        case .held(let behindBarrier) where standing.isCancelled || standing.isSatisfied && !behindBarrier: break
        case .inLine where standing.isCancelled: break
        case .none, .joining, .held, .inLine, .entering, .entered, .over: return nil
        }
        state = .entering
        return queue
    }

    /// The operation, which was to enter, has to wait for a place first; whether it does.
    mutating func standInLine(_ standing: Standing) -> Bool {
        guard case .entering = state, !standing.isCancelled else { return false }
        state = .inLine
        return true
    }

    /// The operation is the first in the line for a place; whether it takes it and enters.
    mutating func take(_ slot: RequestLimiter.Slot, _ standing: Standing) -> Bool {
        guard case .inLine = state, standing.awaitsStart else { return false }
        // A dependency may have been added meanwhile.
        state = .held(behindBarrier: false)
        guard update(standing) != nil else { return false }
        place = .own(slot)
        return true
    }

    /// Foundation's queue has the operation.
    mutating func enter() {
        guard case .entering = state else { return }
        state = .entered
        member = nil
    }

    /// What a queue has to do for an operation that finished.
    struct Departure {
        fileprivate let queue: RequestQueue
        fileprivate let slot: RequestLimiter.Slot?
        /// Whether the operation never entered: somebody else started it.
        fileprivate let wasHeld: Bool

        /// Before anybody hears of the finish: who does finds the place free and the operation counted.
        func giveBack(counting wasExecuting: Bool) {
            slot?.release()
            if wasExecuting { queue.countFinished() }
        }

        func end(for operation: Operation) {
            if wasHeld { queue.leave(operation) }
        }
    }

    /// Gives up the place that it has, for an operation whose first attempt holds it.
    mutating func takeSlot() -> RequestLimiter.Slot? {
        guard case .own(let slot) = place else { return nil }
        place = .none
        return slot
    }

    /// It runs on the place of another one.
    mutating func runs(onPlaceOf lender: any PlaceHolder) {
        place = .lent(by: lender)
    }

    /// The one whose place it runs on.
    var lender: (any PlaceHolder)? {
        if case .lent(let lender) = place { lender } else { nil }
    }

    var holdsPlace: Bool {
        if case .own(let slot) = place { slot.isHeld } else { false }
    }

    /// The limiter of the queue that it is in.
    var limiter: RequestLimiter? { queue?.limiter }

    /// The operation has finished.
    mutating func leave() -> Departure? {
        defer { self = QueueMembership(isOver: true) }
        guard let queue else { return nil }
        let wasHeld =
            switch state {
            case .held, .inLine: true
            case .none, .joining, .entering, .entered, .over: false
            }
        return Departure(queue: queue, slot: takeSlot(), wasHeld: wasHeld)
    }

    init() {}

    private init(isOver: Bool) {
        state = isOver ? .over : .none
    }
}

/// What places an operation takes of its queue.
enum PlaceDemand {
    /// None: what it runs takes them, as with a chain.
    case none
    /// One from its start to its end, where the queue has a bound.
    case whileExecuting
    /// One for each attempt, in the line of this host.
    case forAttempts(to: Origin)
}

/// An operation of ours, whatever its value, as a queue sees it.
protocol QueueMember: FinishAnnouncing {
    var placeDemand: PlaceDemand { get }

    /// The operation is ready as far as its dependencies go.
    func dependenciesFinished()
    /// The operation is ready, and stands in the line of its queue: its time begins.
    func becameReady()
    /// It is about to be started in a queue, in the order of starting.
    ///
    /// Not called for one that runs on the place of another.
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
        // As Foundation's own.
        precondition(mayJoin, "An operation that is in a queue, runs or has finished cannot be added to a queue.")
    }

    func runs(onPlaceOf lender: any PlaceHolder) {
        state.withLock { $0.membership.runs(onPlaceOf: lender) }
    }

    func settle(behindBarrier: Bool) -> QueueMembership.Settlement {
        change { $0.settle(behindBarrier: behindBarrier, $1) }
    }

    func passBarrier() {
        change { $0.passBarrier($1) }?.admit(self)
    }

    /// Enters the queue if it may by now.
    func enterQueueIfReady() {
        change { $0.update($1) }?.admit(self)
    }

    func standInLine() -> Bool {
        let stands = change { $0.standInLine($1) }
        // A chain that wanted to start it meanwhile has been put off.
        if stands { startIfReady() }
        return stands
    }

    func take(_ slot: RequestLimiter.Slot) -> Bool {
        change { $0.take(slot, $1) }
    }

    func enter(_ add: () -> Void) {
        add()
        state.withLock { $0.membership.enter() }
        // A chain that wanted to start it meanwhile has been put off.
        startIfReady()
    }

    private func change<Output>(_ change: (inout QueueMembership, QueueMembership.Standing) -> Output) -> Output {
        state.withLock { state in
            let standing = state.standing
            return change(&state.membership, standing)
        }
    }
}
