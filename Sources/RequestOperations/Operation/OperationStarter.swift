/// What starts operations: an operation that runs others as its members, or a queue of this package.
///
/// An operation waits in a queue until it may run and there is a place for it (``OperationLifecycle/Queued``). Then the queue
/// gives it to Foundation's queue, which starts it. An operation that runs others calls ``StartableOperation/start(by:)``.
protocol OperationStarter: AnyObject, Sendable {
    /// Starts an operation that may run now, or must finish. It does so on another thread, or when there is a place.
    func admit(_ operation: any StartableOperation)

    /// The starter has started the operation itself. Gives the operation a place, and returns the queue in which it
    /// runs.
    func willRun(_ operation: any StartableOperation) -> OperationQueue?

    /// An operation that the starter has started has finished. Takes back the place. The finish has not been announced yet.
    func finished(_ place: (any AnyObject & Sendable)?, wasExecuting: Bool)

    /// An operation has finished before this starter started it, because something else did.
    func leave(_ operation: Operation)
}

extension OperationStarter {
    func willRun(_ operation: any StartableOperation) -> OperationQueue? { nil }
    func finished(_ place: (any AnyObject & Sendable)?, wasExecuting: Bool) {}
    func leave(_ operation: Operation) {}
}

/// An operation of ours with any type of value, as its starter sees it.
protocol StartableOperation: FinishAnnouncing, Sendable {
    var state: Locked<OperationLifecycle> { get }
    /// Whether it takes a place of its starter. A chain takes none, because its parts take them.
    var takesPlace: Bool { get }
    /// The host of its first attempt, to which its place passes. `nil` if it makes none.
    var origin: Origin? { get }

    /// Notifies a dependent operation when this one finishes, or at once if it has finished.
    func add(_ dependent: Locked<OperationLifecycle>)
    /// Starts the operation as soon as it is ready, unless something else starts it first.
    func startWhenReady(by starter: any OperationStarter)
    /// Ends the operation with an error before its start.
    func refuse(with error: any Error)
    func start(by starter: (any OperationStarter)?)
    /// Lets the owner start the operation if it may run.
    func startIfReady()
    /// Begins the check of the preconditions if it is due.
    func checkPreconditions()
    /// The dependencies have finished, or only the check of the preconditions is left. Starts the operation if it may
    /// run.
    func proceed()
    /// The operation is ready. Its time begins to count.
    func becameReady()
}

extension StartableOperation {
    /// Reserves the operation for a caller that is about to add it to a queue. Returns `false` if something starts it
    /// already, as far as is known.
    func claim() -> Bool { state.withLock { $0.claim() } }
}

// MARK: In a queue

extension OperationLifecycle {
    /// A queue of this package that has the operation.
    ///
    /// ```
    /// join ──▶ joining ── finishJoining ──▶ waits ──▶ entering ──▶ entered
    ///                                        ▲ │         ▲
    ///                                        │ ▼         │
    ///                                    awaitsPlace ────┘
    /// ```
    ///
    /// Only the operation itself knows when it is ready. So it says when it must enter Foundation's queue, and it says so
    /// once.
    struct Queued {
        enum Stage {
            /// The queue is taking it in.
            case joining(barrierIsOver: Bool)
            /// It waits for its dependencies, or for a barrier.
            case waits(behindBarrier: Bool)
            /// It waits for a place of the queue.
            case awaitsPlace
            /// It is entering Foundation's queue.
            case entering
            case entered
        }

        let starter: any OperationStarter
        /// The operation itself, for as long as the queue also keeps it.
        fileprivate(set) var operation: (any StartableOperation)?
        fileprivate(set) var stage = Stage.joining(barrierIsOver: false)

        /// Whether it is not yet in Foundation's queue.
        var isBefore: Bool {
            switch stage {
            case .joining, .waits, .awaitsPlace: true
            case .entering, .entered: false
            }
        }
    }

    /// Whether a queue has the operation but has not let it into Foundation's queue yet.
    var awaitsEntry: Bool { queued?.isBefore ?? false }

    /// Whether only Foundation's queue may start the operation now. A queue cannot take in an operation that already
    /// runs.
    private var isEntering: Bool {
        if case .entering = queued?.stage { true } else { false }
    }

    /// Joins the queue that the operation was added to. Returns `false` if it must not be added.
    mutating func join(_ starter: any OperationStarter, as operation: any StartableOperation) -> Bool {
        guard queued == nil, awaitsStart else { return false }
        queued = Queued(starter: starter, operation: operation)
        return true
    }

    enum Joined {
        case enters
        case waits
        /// The operation has already finished.
        case isOver
    }

    /// The queue has recorded the operation.
    mutating func finishJoining(behindBarrier: Bool) -> Joined {
        guard case .joining(let barrierIsOver) = queued?.stage else { return .isOver }
        queued?.stage = .waits(behindBarrier: behindBarrier && !barrierIsOver)
        return enter() == nil ? .waits : .enters
    }

    /// The barrier in front of the operation has ended. Returns the queue that the operation enters now, if it does.
    mutating func passBarrier() -> (any OperationStarter)? {
        switch queued?.stage {
        case .joining: queued?.stage = .joining(barrierIsOver: true)
        case .waits: queued?.stage = .waits(behindBarrier: false)
        case .awaitsPlace, .entering, .entered, nil: break
        }
        return enter()
    }

    /// Called when the operation may have become ready, or was resolved. Returns the queue that it enters now, if it does.
    mutating func enter() -> (any OperationStarter)? {
        guard let queued, awaitsStart else { return nil }
        switch queued.stage {
        case .waits(let behindBarrier) where isResolved || dependencies.isSatisfied && !behindBarrier: break
        case .awaitsPlace where isResolved: break
        case .joining, .waits, .awaitsPlace, .entering, .entered: return nil
        }
        self.queued?.stage = .entering
        return queued.starter
    }

    /// The operation was about to enter but must wait for a place first. Returns whether it waits.
    mutating func awaitPlace() -> Bool {
        guard isEntering, !isResolved else { return false }
        queued?.stage = .awaitsPlace
        return true
    }

    /// The operation is the next to get a place. Returns whether it takes the place and enters.
    mutating func take(_ place: any AnyObject & Sendable) -> Bool {
        guard case .awaitsPlace = queued?.stage, awaitsStart else { return false }
        // A dependency may have been added since.
        queued?.stage = .waits(behindBarrier: false)
        guard enter() != nil else { return false }
        self.place = place
        return true
    }

    /// The operation is now in Foundation's queue.
    mutating func hasEntered() {
        guard isEntering else { return }
        queued?.stage = .entered
        queued?.operation = nil
    }
}

// MARK: Run by an owner

extension OperationLifecycle {
    /// An operation that starts this one as its member. A queue may have it as well, and come to it later.
    enum Owner {
        case nobody
        /// A caller is about to add it to a queue, or to start it.
        case claimed
        /// Starts it once it is ready.
        case waits(any OperationStarter)
        case started(queueCame: Bool)
    }

    /// Refers to an operation without keeping it.
    final class Outsider {
        fileprivate weak var operation: (any StartableOperation)?

        fileprivate init(_ operation: any StartableOperation) {
            self.operation = operation
        }
    }

    /// Whether another operation has started this one as its member, rather than a queue.
    var isStartedAsMember: Bool {
        if case .started = owner { true } else { false }
    }

    private var isAheadOfQueue: Bool {
        if case .started(queueCame: false) = owner { true } else { false }
    }

    /// Whether a queue may still start the operation. If so, it must learn that the operation is ready.
    var mayBeStartedByQueue: Bool { isPending || isAheadOfQueue }

    /// Whether a queue that has not started the operation may have it. On Linux Foundation's queue would keep a pointer
    /// to the operation if it heard of the finish. It notices the finish itself when it starts the operation.
    var awaitsQueue: Bool { isAheadOfQueue && wasAskedForReadiness && !awaitsEntry }

    mutating func claim() -> Bool {
        guard awaitsStart, queued == nil, case .nobody = owner, !wasAskedForReadiness else { return false }
        owner = .claimed
        return true
    }

    mutating func startWhenReady(_ operation: any StartableOperation, by starter: any OperationStarter) {
        guard awaitsStart else { return }
        owner = .waits(starter)
        refer(to: operation)
    }

    /// Takes the owner out if it must start the operation now.
    mutating func takeOwner() -> (any OperationStarter)? {
        guard case .waits(let starter) = owner, isResolved || dependencies.isSatisfied, !isEntering else { return nil }
        owner = .claimed
        return starter
    }

    /// Records who starts the operation. Returns `false` if that must wait.
    mutating func noteStart(by starter: (any OperationStarter)?) -> Bool {
        if let starter {
            if isEntering {
                owner = .waits(starter)
                return false
            }
            if awaitsStart { owner = .started(queueCame: false) }
        } else if isStartedAsMember {
            owner = .started(queueCame: true)
        }
        return true
    }

    /// The operation has finished. An owner that waited to start it keeps it, so it must not keep the owner.
    mutating func leaveOwner() {
        if case .waits = owner { owner = .nobody }
        outsider = nil
    }

    fileprivate mutating func refer(to operation: any StartableOperation) {
        if outsider == nil { outsider = Outsider(operation) }
    }
}

// MARK: Seen by Foundation

/// Foundation knows at most one dependency of an operation, the gate. It finishes when nothing keeps the operation from
/// running. Without it, a queue of Foundation's would ask each operation whether it is ready whenever it starts another
/// one. An operation that no such queue has seen needs no gate.
extension OperationLifecycle {
    /// The answer that readers of `isReady` last got.
    ///
    /// A queue of Foundation's can miss an announcement that comes while it takes an operation in. It reads "not ready"
    /// and stores that answer later. It then reads again, but does nothing about the new answer until it is told to. So a
    /// read of "ready" causes another announcement, if the operation had to wait and is not started yet. The number of
    /// these announcements is bounded.
    enum Readiness {
        case unknown
        case notReady
        case ready(announcementsLeft: UInt8)
    }

    /// The answer for a reader of `isReady`, and what follows.
    struct Reading {
        let isReady: Bool
        /// Whether the answer differs from the last one.
        var isTurn = false
        var isToBeAnnounced = false
        /// The gate that Foundation must know of.
        var gate: Operation?
        var check: Preconditions.Check?
    }

    /// Whether `isReady` has been read, as a queue of Foundation's does when it takes the operation in.
    var wasAskedForReadiness: Bool {
        if case .unknown = readiness { false } else { true }
    }

    /// Records a read of `isReady`.
    ///
    /// - Parameters:
    ///   - foundationAgrees: Whether Foundation's own table is satisfied. It still has the barriers of a queue.
    ///   - isAnnounced: Whether the read comes from one of the announcements that were asked for here.
    ///   - operation: The operation.
    mutating func read(
        foundationAgrees: Bool, isAnnounced: @autoclosure () -> Bool,
        of operation: @autoclosure () -> any StartableOperation
    ) -> Reading {
        var reading = Reading(isReady: isResolved || foundationAgrees && dependencies.isSatisfied)
        switch (readiness, reading.isReady) {
        case (.unknown, true):
            readiness = .ready(announcementsLeft: 0)
            reading.isTurn = true
        case (.notReady, true):
            // If no queue of Foundation's has the operation, none can miss anything.
            readiness = .ready(announcementsLeft: awaitsEntry ? 0 : 8)
            (reading.isTurn, reading.isToBeAnnounced) = (true, !awaitsEntry)
        case (.ready(let left), true):
            guard left > 0, mayBeStartedByQueue, !isAnnounced() else { break }
            readiness = .ready(announcementsLeft: left - 1)
            reading.isToBeAnnounced = true
        case (.ready, false):
            readiness = .notReady
            reading.isTurn = true
        case (.unknown, false), (.notReady, false):
            readiness = .notReady
        }
        if isPending, !dependencies.isSatisfied, !awaitsEntry { reading.gate = makeGate(of: operation()) }
        reading.check = beginCheck()
        return reading
    }

    /// Makes the gate if a queue of Foundation's may have the operation. Returns `nil` if there is one. Such a queue asks
    /// whether an operation is ready when it takes it in. On Apple platforms it observes instead, and should be told
    /// nothing while it asks.
    mutating func makeGateIfSeen(of operation: any StartableOperation) -> Operation? {
        switch readiness {
        case .unknown where !Announcement.precedesChange: return nil
        case .notReady where awaitsEntry && !Announcement.precedesChange: return nil
        // A reader that got "ready" must learn that the operation is no longer ready.
        case .unknown, .notReady, .ready: return makeGate(of: operation)
        }
    }

    private mutating func makeGate(of operation: any StartableOperation) -> Operation? {
        guard gate == nil else { return nil }
        gate = Operation()
        refer(to: operation)
        return gate
    }

    /// What to do when nothing keeps the operation from running any more, or only the check of the preconditions.
    struct Opening {
        fileprivate let gate: Operation?
        fileprivate let operation: any StartableOperation

        /// Lets the operation be ready. If Foundation knows of the gate, it announces that.
        func open() {
            gate?.start()
            operation.proceed()
        }
    }

    /// Changes the dependencies. Returns what to do if the change satisfied them or left only the check.
    mutating func open(by change: (inout Dependencies) -> Bool) -> Opening? {
        guard change(&dependencies) else { return nil }
        // There may be no operation here. Either it is being freed, and Foundation must not learn of its gate. Or no
        // queue has taken it in, and a queue that takes it in later finds the dependencies finished.
        guard let operation = queued?.operation ?? outsider?.operation else { return nil }
        // The gate stays closed until the preconditions have been checked. A queue of Foundation's could miss that a second
        // gate opens.
        guard dependencies.isSatisfied else { return Opening(gate: nil, operation: operation) }
        defer { gate = nil }
        return Opening(gate: gate, operation: operation)
    }
}
