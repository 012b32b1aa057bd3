/// The state of one operation. It is outside the generic class, so that it is compiled once.
struct OperationState {
    // First come the fields that other operations use when one depends on the other.
    var dependencies = DependencyTable()
    private var dependents = Dependents()
    var lifecycle = OperationLifecycle()
    /// The only dependency that Foundation knows of. It finishes when the table is satisfied. Without it, a queue would
    /// ask the operation whether it is ready whenever it starts another one. An operation that no queue of Foundation's
    /// has seen needs no gate.
    private var gate: Operation?
    /// The operation itself, if no queue of ours holds it. It is told when its dependencies have finished.
    private var outsider: Outsider?
    /// Starts the operation once it is ready.
    private var starter: MemberStarter?
    var membership = QueueMembership()
    var readiness = Readiness.unknown
    /// What is checked before the operation is ready. `nil` if nothing is.
    var preconditions: Preconditions?
    /// Who has started the operation.
    private enum Starter {
        case nobodyOrQueue
        /// Another operation, as its member. A queue may have it as well, and come to it later.
        case owner(queueCame: Bool)
    }

    private var startedBy = Starter.nobodyOrQueue
    /// Whether a caller is about to add the operation to a queue.
    private var isClaimed = false
    private(set) var completionBlock: (@Sendable () -> Void)?

    var standing: QueueMembership.Standing {
        QueueMembership.Standing(
            awaitsStart: lifecycle.awaitsStart, isSettled: lifecycle.isSettled,
            isSatisfied: dependencies.isSatisfied)
    }

    /// Starts the operation. While a queue takes the operation in, a starter has to wait.
    mutating func start(by starter: MemberStarter?) -> OperationLifecycle.StartAction {
        guard let starter else {
            if case .owner = startedBy { startedBy = .owner(queueCame: true) }
            return lifecycle.start()
        }
        guard !membership.isEntering else {
            self.starter = starter
            return .ignore
        }
        if lifecycle.awaitsStart { startedBy = .owner(queueCame: false) }
        return lifecycle.start()
    }

    /// Whether `isReady` has been read, as a queue of Foundation's does when it takes the operation in.
    var wasAskedForReadiness: Bool {
        if case .unknown = readiness { false } else { true }
    }

    /// Whether a queue may still start the operation. If so, it must learn that the operation is ready.
    var mayBeStartedByQueue: Bool { lifecycle.isPending || isAheadOfQueue }

    /// Whether another operation has started this one as its member, rather than a queue.
    var isStartedAsMember: Bool {
        if case .owner = startedBy { true } else { false }
    }

    private var isAheadOfQueue: Bool {
        if case .owner(queueCame: false) = startedBy { true } else { false }
    }

    /// Whether a queue that has not started the operation may have it. On Linux Foundation's queue would keep a pointer
    /// to the operation if it heard of the finish. It notices the finish itself when it starts the operation.
    private var awaitsQueue: Bool { isAheadOfQueue && wasAskedForReadiness && !membership.isHeld }

    mutating func startWhenReady(_ operation: any QueueMember, by starter: MemberStarter) {
        self.starter = starter
        noteOutsider(operation)
    }

    /// Takes the starter out if it must start the operation now.
    mutating func takeStarter() -> MemberStarter? {
        guard lifecycle.isSettled || dependencies.isSatisfied, !membership.isEntering else { return nil }
        defer { starter = nil }
        return starter
    }

    /// Adds a dependency. Returns whether it is new, and the gate that keeps the operation from being ready.
    mutating func addDependency(
        _ dependency: Operation, ifFails rule: FailedDependencyRule = .run, of operation: any QueueMember
    ) -> (isNew: Bool, gate: Operation?) {
        guard lifecycle.isPending else { return (false, nil) }
        let isNew = dependencies.add(dependency)
        var gate = rule == .run ? nil : add(of: operation) { $0.rules[ObjectIdentifier(dependency)] = rule }
        if isNew, isSeenByFoundation { gate = gate ?? makeGate(of: operation) }
        return (isNew, gate)
    }

    // MARK: Preconditions

    /// Adds something that is checked before the operation is ready, unless the check has begun.
    ///
    /// - Returns: The gate that keeps the operation from being ready.
    mutating func add(of operation: any QueueMember, _ change: (inout Preconditions) -> Void) -> Operation? {
        var all = preconditions ?? Preconditions()
        guard lifecycle.isPending, all.isCollecting else { return nil }
        change(&all)
        preconditions = all
        dependencies.hold()
        return isSeenByFoundation ? makeGate(of: operation) : nil
    }

    /// Begins the check of the preconditions if all dependencies have finished and something is about to start the
    /// operation: a starter, a queue of ours in which no barrier is before it, or a queue of Foundation's, which has
    /// asked whether it is ready.
    mutating func beginCheck() -> Preconditions.Check? {
        guard lifecycle.isPending, dependencies.isOnlyHeld else { return nil }
        let isTaken = wasAskedForReadiness && !membership.isHeld
        guard starter != nil || membership.isHeldForDependencies || isTaken else { return nil }
        return preconditions?.begin(after: dependencies.operations)
    }

    /// Ends the preconditions of an operation that was settled before its start.
    mutating func endPreconditions(after action: OperationLifecycle.CancelAction) -> Preconditions.Remains? {
        guard case .settle = action, lifecycle.isSettled else { return nil }
        return preconditions?.end()
    }

    /// Reserves the operation for a caller that is about to add it to a queue. Returns `false` if something starts it
    /// already, as far as is known.
    mutating func claim() -> Bool {
        guard lifecycle.awaitsStart, membership.isNone, starter == nil, !wasAskedForReadiness, !isClaimed else {
            return false
        }
        isClaimed = true
        return true
    }

    /// Whether Foundation must know of the gate when it asks whether the operation is ready.
    var needsGateForReader: Bool {
        lifecycle.isPending && !dependencies.isSatisfied && !membership.isHeld
    }

    /// Whether a queue of Foundation's may have the operation. Such a queue asks whether an operation is ready when it
    /// takes it in. On Apple platforms it observes instead, and should be told nothing while it asks.
    private var isSeenByFoundation: Bool {
        if Announcement.precedesChange { return true }
        switch readiness {
        case .unknown: return false
        case .notReady: return !membership.isHeld
        // A reader that was told so must learn that the operation is no longer ready.
        case .ready: return true
        }
    }

    /// Makes the gate. Returns `nil` if there is one.
    mutating func makeGate(of operation: any QueueMember) -> Operation? {
        guard gate == nil else { return nil }
        gate = Operation()
        noteOutsider(operation)
        return gate
    }

    /// Refers to an operation without keeping it.
    private final class Outsider {
        weak var operation: (any QueueMember)?

        init(_ operation: any QueueMember) {
            self.operation = operation
        }
    }

    private mutating func noteOutsider(_ operation: any QueueMember) {
        if outsider == nil { outsider = Outsider(operation) }
    }

    /// Adds a dependent, if the operation has not ended. Returns whether it has ended, and whether the dependents must
    /// be sifted.
    mutating func add(_ dependent: Locked<OperationState>) -> (isOver: Bool, isCrowded: Bool) {
        lifecycle.ending == nil ? (false, dependents.add(dependent)) : (true, false)
    }

    /// Puts back sifted dependents. Returns `false` if the operation has ended, so that the caller must tell them.
    mutating func putBack(_ sifted: Dependents) -> Bool {
        guard lifecycle.ending == nil else { return false }
        dependents.putBack(sifted)
        return true
    }

    /// How many dependents are kept.
    var dependentCount: Int { dependents.count }

    mutating func takeDependents() -> Dependents {
        defer { dependents = Dependents() }
        return dependents
    }

    /// What to do when the table has become satisfied, or when only the hold is left.
    struct Opening {
        fileprivate let gate: Operation?
        fileprivate let operation: any QueueMember

        /// Lets the operation be ready. If Foundation knows of the gate, it announces that.
        func open() {
            gate?.start()
            operation.dependenciesFinished()
        }
    }

    /// Changes the table. Returns what to do if the change satisfied it or left only the hold.
    mutating func openGate(by change: (inout DependencyTable) -> Bool) -> Opening? {
        guard change(&dependencies) else { return nil }
        // There may be no operation here. Either it is being freed, and Foundation must not hear of its gate. Or no
        // queue has taken it in, and the one that does finds the table satisfied.
        guard let operation = membership.member ?? outsider?.operation else { return nil }
        // The gate stays closed until the preconditions have been checked. A queue of Foundation's could miss that a second
        // gate opens.
        guard dependencies.isSatisfied else { return Opening(gate: nil, operation: operation) }
        defer { gate = nil }
        return Opening(gate: gate, operation: operation)
    }

    /// Replaces the completion block, unless the operation has finished. Returns the block that the caller must free
    /// outside the lock.
    mutating func setCompletionBlock(_ block: (@Sendable () -> Void)?) -> (@Sendable () -> Void)? {
        guard lifecycle.ending == nil else { return block }
        defer { completionBlock = block }
        return completionBlock
    }

    /// What remains to be done for an operation that finished.
    struct Finish {
        let published: OperationLifecycle.Finish
        let dependents: Dependents
        fileprivate var dependencies: [Operation]
        let departure: QueueMembership.Departure?
        let completionBlock: (@Sendable () -> Void)?
        /// Whether Foundation is told now.
        let isAnnounced: Bool
        /// What is left of the preconditions: the keys, which are given back.
        let remains: Preconditions.Remains?
        fileprivate let gate: Operation?

        /// Opens the gate if Foundation is not told of the finish. Its queue may think that the operation waits for the
        /// gate, and now starts it.
        func openGate() {
            if !isAnnounced { gate?.start() }
        }

        /// Takes out the dependencies, so that the caller can release them.
        mutating func takeDependencies() -> [Operation] {
            defer { dependencies = [] }
            return dependencies
        }
    }

    /// Records the end, whose outcome was decided.
    mutating func finish(_ ending: OperationLifecycle.Ending) -> Finish {
        let published = lifecycle.finish(ending)
        defer { completionBlock = nil }
        // We read these before the operation leaves the queue that holds it back.
        let (isAnnounced, gate) = (!awaitsQueue, gate)
        return Finish(
            published: published, dependents: takeDependents(), dependencies: takeDependencies(),
            departure: membership.leave(), completionBlock: completionBlock, isAnnounced: isAnnounced,
            remains: preconditions?.end(), gate: gate)
    }

    /// Takes what is left when the operation is freed. Returns `nil` if it had finished.
    mutating func takeRest() -> OperationState? {
        guard lifecycle.ending == nil else { return nil }
        var rest = OperationState()
        swap(&self, &rest)
        return rest
    }

    mutating func takeDependencies() -> [Operation] {
        gate = nil
        return dependencies.removeAll()
    }
}

/// What the readers of `isReady` were last told.
///
/// A queue of Foundation's can miss an announcement that comes while it takes an operation in. It reads "not ready" and
/// stores that answer later. It then reads again, but does nothing about the new answer until it is told to. So a read
/// of "ready" causes another announcement, if the operation had to wait and is not started yet. The number of these
/// announcements is bounded.
enum Readiness {
    case unknown
    case notReady
    case ready(announcementsLeft: UInt8)

    struct Change {
        var isTurn = false
        var isToBeAnnounced = false
    }

    private static let announcements: UInt8 = 8

    /// Records what a reader is told.
    ///
    /// - Parameters:
    ///   - isReady: The answer.
    ///   - isWaiting: Whether, as far as the reader knows, the operation had to wait and is not started yet.
    ///   - isHeld: Whether no queue of Foundation's has the operation, so that none can miss anything.
    mutating func update(to isReady: Bool, isWaiting: Bool, isHeld: Bool) -> Change {
        switch (self, isReady) {
        case (.notReady, true) where isHeld:
            self = .ready(announcementsLeft: 0)
            return Change(isTurn: true)
        case (.unknown, true):
            self = .ready(announcementsLeft: 0)
            return Change(isTurn: true)
        case (.notReady, true):
            self = .ready(announcementsLeft: Self.announcements)
            return Change(isTurn: true, isToBeAnnounced: true)
        case (.ready(let left), true):
            guard isWaiting, left > 0 else { return Change() }
            self = .ready(announcementsLeft: left - 1)
            return Change(isToBeAnnounced: true)
        case (.ready, false):
            self = .notReady
            return Change(isTurn: true)
        case (.unknown, false), (.notReady, false):
            self = .notReady
            return Change()
        }
    }
}

extension Readiness {
    /// Announces readiness a second time. A read of `isReady` on this queue comes from that announcement, and not from
    /// another reader.
    static let queue = {
        let queue = DispatchQueue(label: "RequestOperations.readiness")
        queue.setSpecific(key: key, value: true)
        return queue
    }()

    private static let key = DispatchSpecificKey<Bool>()

    /// Whether the current code runs on that queue.
    static var isBeingAnnounced: Bool { DispatchQueue.getSpecific(key: key) == true }
}
