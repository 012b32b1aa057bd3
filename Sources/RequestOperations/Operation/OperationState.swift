/// The state of one operation. Outside the generic class, so that it is compiled once.
struct OperationState {
    // First what others read and write of an operation while it waits for them, and they for it.
    var dependencies = DependencyTable()
    private var dependents = Dependents()
    var lifecycle = OperationLifecycle()
    /// The one dependency that Foundation knows of, which finishes when the table is satisfied: a queue asks every operation
    /// that has none whether it is ready whenever it starts another. An operation that no queue of Foundation's has seen does
    /// without.
    private var gate: Operation?
    /// The operation itself, where it hears of the finish of its dependencies in another way than through a queue of ours,
    /// which holds it.
    private var outsider: Outsider?
    /// What starts the operation once it is ready.
    private var starter: LinkStarter?
    var membership = QueueMembership()
    var readiness = Readiness.unknown
    /// Whether a chain has started the operation, and no queue.
    private var isStartedByChain = false
    private(set) var completionBlock: (@Sendable () -> Void)?

    var standing: QueueMembership.Standing {
        QueueMembership.Standing(
            awaitsStart: lifecycle.awaitsStart, isCancelled: lifecycle.isCancelled,
            isSatisfied: dependencies.isSatisfied)
    }

    /// Starts the operation. A chain is put off while a queue takes the operation in.
    mutating func start(by starter: LinkStarter?) -> OperationLifecycle.StartAction {
        guard let starter else {
            isStartedByChain = false
            return lifecycle.start()
        }
        guard !membership.isEntering else {
            self.starter = starter
            return .ignore
        }
        if lifecycle.awaitsStart { isStartedByChain = true }
        return lifecycle.start()
    }

    /// Whether somebody has asked if the operation is ready, as a queue of Foundation's does when it takes it in.
    var wasAskedForReadiness: Bool {
        if case .unknown = readiness { false } else { true }
    }

    /// Whether a queue may still be going to start the operation, for which it has to learn that it is ready.
    var mayBeStartedByQueue: Bool { lifecycle.isPending || isStartedByChain }

    /// Whether a queue that has not started the operation may have it. On Linux Foundation's would go on pointing to it if it
    /// heard of the finish; it finds that out by itself when it starts the operation.
    private var awaitsQueue: Bool { isStartedByChain && wasAskedForReadiness && !membership.isHeld }

    mutating func startWhenReady(_ operation: any QueueMember, by starter: LinkStarter) {
        self.starter = starter
        noteOutsider(operation)
    }

    /// Takes what is to start the operation, if it is to be started now.
    mutating func takeStarter() -> LinkStarter? {
        guard lifecycle.isCancelled || dependencies.isSatisfied, !membership.isEntering else { return nil }
        defer { starter = nil }
        return starter
    }

    /// Adds a dependency; whether it is new, and the gate that keeps the operation from being ready from now on.
    mutating func addDependency(
        _ dependency: Operation, of operation: any QueueMember
    ) -> (isNew: Bool, gate: Operation?) {
        guard lifecycle.isPending, dependencies.add(dependency) else { return (false, nil) }
        return (true, isSeenByFoundation ? makeGate(of: operation) : nil)
    }

    /// Whether Foundation must know of the gate when it asks whether the operation is ready.
    var needsGateForReader: Bool {
        lifecycle.isPending && !dependencies.isSatisfied && !membership.isHeld
    }

    /// Whether a queue of Foundation's may have the operation. It asks whether an operation is ready when it takes it in. Where
    /// it observes instead, it is better not told anything while it asks.
    private var isSeenByFoundation: Bool {
        if Announcement.precedesChange { return true }
        switch readiness {
        case .unknown: return false
        case .notReady: return !membership.isHeld
        // Whoever was told so has to learn that it is no more.
        case .ready: return true
        }
    }

    /// Makes the gate; `nil` if there is one.
    mutating func makeGate(of operation: any QueueMember) -> Operation? {
        guard gate == nil else { return nil }
        gate = Operation()
        noteOutsider(operation)
        return gate
    }

    /// Holds an operation without keeping it.
    private final class Outsider {
        weak var operation: (any QueueMember)?

        init(_ operation: any QueueMember) {
            self.operation = operation
        }
    }

    private mutating func noteOutsider(_ operation: any QueueMember) {
        if outsider == nil { outsider = Outsider(operation) }
    }

    /// Has one that depends on the operation told of its end, if that is still to come; whether it has come, and whether
    /// those that are to be told are to be sifted.
    mutating func add(_ dependent: Locked<OperationState>) -> (isOver: Bool, isCrowded: Bool) {
        lifecycle.ending == nil ? (false, dependents.add(dependent)) : (true, false)
    }

    /// Puts those back that were taken out to be sifted; whether the operation is still to tell them.
    mutating func putBack(_ sifted: Dependents) -> Bool {
        guard lifecycle.ending == nil else { return false }
        dependents.putBack(sifted)
        return true
    }

    /// How many entries are kept for those that depend on the operation.
    var dependentCount: Int { dependents.count }

    mutating func takeDependents() -> Dependents {
        defer { dependents = Dependents() }
        return dependents
    }

    /// What follows when the table has become satisfied.
    struct Opening {
        fileprivate let gate: Operation?
        fileprivate let operation: any QueueMember

        /// Lets the operation be ready as far as its dependencies go. Foundation, if it knows of them, announces it.
        func open() {
            gate?.start()
            operation.dependenciesFinished()
        }
    }

    /// Changes the table; returns what follows if that satisfied it.
    mutating func openGate(by change: (inout DependencyTable) -> Bool) -> Opening? {
        guard change(&dependencies) else { return nil }
        // Without one it is being freed, so that Foundation must not be told of its gate, or nobody has taken it in: whoever
        // does finds the table satisfied.
        guard let operation = membership.member ?? outsider?.operation else { return nil }
        defer { gate = nil }
        return Opening(gate: gate, operation: operation)
    }

    /// Replaces the completion block, unless the operation has finished; what is to be freed outside of the lock.
    mutating func setCompletionBlock(_ block: (@Sendable () -> Void)?) -> (@Sendable () -> Void)? {
        guard lifecycle.ending == nil else { return block }
        defer { completionBlock = block }
        return completionBlock
    }

    /// What an operation that finished leaves to be done.
    struct Finish {
        let published: OperationLifecycle.Finish
        let dependents: Dependents
        fileprivate var dependencies: [Operation]
        let departure: QueueMembership.Departure?
        let completionBlock: (@Sendable () -> Void)?
        /// Whether Foundation hears of it now.
        let isAnnounced: Bool
        fileprivate let gate: Operation?

        /// Has the queue start an operation that it does not hear the finish of: it may take it to be waiting for its gate.
        func openGate() {
            if !isAnnounced { gate?.start() }
        }

        /// Gives up what the operation depended on, to be released.
        mutating func takeDependencies() -> [Operation] {
            defer { dependencies = [] }
            return dependencies
        }
    }

    /// The work ended, or is not waited for any longer. `nil` if the operation had finished before.
    mutating func finish(_ outcome: OperationLifecycle.Ending) -> Finish? {
        guard let published = lifecycle.finish(outcome) else { return nil }
        defer { completionBlock = nil }
        // Before it leaves the queue that holds it back.
        let (isAnnounced, gate) = (!awaitsQueue, gate)
        return Finish(
            published: published, dependents: takeDependents(), dependencies: takeDependencies(),
            departure: membership.leave(), completionBlock: completionBlock, isAnnounced: isAnnounced, gate: gate)
    }

    /// Takes what is left when the operation is freed; `nil` if it had finished.
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
