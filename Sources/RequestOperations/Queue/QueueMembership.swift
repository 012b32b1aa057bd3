/// The state of an operation of ours in the `RequestQueue` that it was added to. A pure value.
///
/// ```
/// none ── join ──▶ joining ── settle ──▶ held ──▶ entering ──▶ entered
///                                         ▲ │         ▲
///                                         │ ▼         │
///                                        inLine ──────┘
/// ```
///
/// Only the operation itself knows when it is ready. So it says when it must enter Foundation's queue, and it says so
/// once.
struct QueueMembership {
    /// What the operation reports about itself.
    struct Standing {
        /// Whether the operation has not been started yet.
        let awaitsStart: Bool
        /// Whether it was cancelled or refused before.
        let isSettled: Bool
        /// Whether its dependencies have finished.
        let isSatisfied: Bool
    }

    private enum HeldPlace {
        case none
        case own(RequestLimiter.Slot)
        /// The place of another holder, whose stage added the operation.
        case lent(by: any PlaceHolder)
    }

    private enum State {
        case none
        /// The queue is taking it in.
        case joining(barrierIsOver: Bool)
        /// It waits for its dependencies, or for a barrier.
        case held(behindBarrier: Bool)
        /// It waits for a place of the queue.
        case inLine
        /// It is entering Foundation's queue, or is already in it.
        case entering
        case entered
        case over
    }

    private var queue: RequestQueue?
    /// The operation itself, for as long as the queue also holds it.
    private(set) var member: (any QueueMember)?
    /// The place that it holds.
    private var place = HeldPlace.none
    private var state = State.none

    /// Whether a queue has the operation but has not let it into Foundation's queue yet.
    var isHeld: Bool {
        switch state {
        case .joining, .held, .inLine: true
        case .none, .entering, .entered, .over: false
        }
    }

    /// Whether a queue has the operation, and no barrier is before it.
    var isHeldForDependencies: Bool {
        if case .held(behindBarrier: false) = state { true } else { false }
    }

    /// Whether no queue of ours has had the operation.
    var isNone: Bool {
        if case .none = state { true } else { false }
    }

    /// Whether only Foundation's queue may start the operation now. A queue cannot take in an operation that already
    /// runs.
    var isEntering: Bool {
        if case .entering = state { true } else { false }
    }

    /// Joins the queue that the operation was added to. Returns `false` if it must not be added.
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
        /// The operation has already finished.
        case isOver
    }

    /// The queue has recorded the operation.
    mutating func settle(behindBarrier: Bool, _ standing: Standing) -> Settlement {
        guard case .joining(let barrierIsOver) = state else { return .isOver }
        state = .held(behindBarrier: behindBarrier && !barrierIsOver)
        return update(standing) == nil ? .isHeld : .enters
    }

    /// The barrier in front of the operation has ended. Returns the queue that the operation enters now, if it does.
    mutating func passBarrier(_ standing: Standing) -> RequestQueue? {
        switch state {
        case .joining: state = .joining(barrierIsOver: true)
        case .held: state = .held(behindBarrier: false)
        case .none, .inLine, .entering, .entered, .over: break
        }
        return update(standing)
    }

    /// The state of the operation has changed. Returns the queue that the operation enters now, if it does.
    mutating func update(_ standing: Standing) -> RequestQueue? {
        guard standing.awaitsStart else { return nil }
        switch state {
        case .held(let behindBarrier) where standing.isSettled || standing.isSatisfied && !behindBarrier: break
        case .inLine where standing.isSettled: break
        case .none, .joining, .held, .inLine, .entering, .entered, .over: return nil
        }
        state = .entering
        return queue
    }

    /// The operation was about to enter but must wait for a place first. Returns whether it waits.
    mutating func standInLine(_ standing: Standing) -> Bool {
        guard case .entering = state, !standing.isSettled else { return false }
        state = .inLine
        return true
    }

    /// The operation is first in the line for a place. Returns whether it takes the place and enters.
    mutating func take(_ slot: RequestLimiter.Slot, _ standing: Standing) -> Bool {
        guard case .inLine = state, standing.awaitsStart else { return false }
        // A dependency may have been added since.
        state = .held(behindBarrier: false)
        guard update(standing) != nil else { return false }
        place = .own(slot)
        return true
    }

    /// The operation is now in Foundation's queue.
    mutating func enter() {
        guard case .entering = state else { return }
        state = .entered
        member = nil
    }

    /// What a queue must do for an operation that finished.
    struct Departure {
        fileprivate let queue: RequestQueue
        fileprivate let slot: RequestLimiter.Slot?
        /// Whether the operation never entered Foundation's queue, because something else started it.
        fileprivate let wasHeld: Bool

        /// Called before the finish is announced. So a caller that hears of it finds the place free and the operation
        /// counted.
        func giveBack(counting wasExecuting: Bool) {
            slot?.release()
            if wasExecuting { queue.countFinished() }
        }

        func end(for operation: Operation) {
            if wasHeld { queue.leave(operation) }
        }
    }

    /// Returns the place that it holds, and gives it up. The first attempt of the operation takes the place over.
    mutating func takeSlot() -> RequestLimiter.Slot? {
        guard case .own(let slot) = place else { return nil }
        place = .none
        return slot
    }

    /// The operation runs on the place of another holder.
    mutating func runs(onPlaceOf lender: any PlaceHolder) {
        place = .lent(by: lender)
    }

    /// The holder whose place it runs on.
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

/// How many places of its queue an operation takes, and for how long.
enum PlaceDemand {
    /// None. Its parts take the places, as in a chain.
    case none
    /// One from its start to its end, if the queue has a limit.
    case whileExecuting
    /// One for each attempt, in the line of this host.
    case forAttempts(to: Origin)
}

/// The limiter of a request's queue, and the request's position in its line.
struct QueueTurn: Sendable {
    let limiter: RequestLimiter
    /// The position of the operation. All of its attempts stand there.
    let place: RequestLimiter.Place
}
