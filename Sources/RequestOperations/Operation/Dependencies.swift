extension Operation {
    /// Why a finished operation failed. An operation that is not ours fails only by a cancel.
    var failureOfFinished: (any Error)? {
        if let ours = self as? any FinishAnnouncing { return ours.failure }
        return isCancelled ? CancellationError() : nil
    }

    /// Calls a closure once when this operation has finished. If it has finished, calls it at once.
    ///
    /// - Parameters:
    ///   - wantsResult: Whether the operation must go on for the observer when nothing awaits it any more.
    ///   - observer: The closure.
    func announceFinish(wantsResult: Bool = true, to observer: @escaping @Sendable () -> Void) {
        if let operation = self as? any FinishAnnouncing {
            operation.subscribeToFinish(wantsResult: wantsResult, observer)
        } else {
            ForeignOperations.watch(self) { $0.observers.append(observer) }
        }
    }

    /// Tells a dependent operation when this one has finished. If it has finished, tells it at once.
    func announceFinish(to dependent: Locked<OperationState>) {
        if let operation = self as? any FinishAnnouncing {
            operation.announceFinish(toDependent: dependent)
        } else {
            ForeignOperations.watch(self) { $0.isCrowded = $0.dependents.add(dependent) }
        }
    }
}

extension [Operation] {
    /// Calls a closure once when all of these have finished. If they have, calls it at once.
    func announceFinish(wantsResult: Bool = true, to observer: @escaping @Sendable () -> Void) {
        let unfinished = Locked(count + 1)
        let countOne: @Sendable () -> Void = {
            let isLast = unfinished.withLock { unfinished in
                unfinished -= 1
                return unfinished == 0
            }
            if isLast { observer() }
        }
        for operation in self { operation.announceFinish(wantsResult: wantsResult, to: countOne) }
        countOne()
    }
}

/// Watches operations that are not ours. A dependent operation of Foundation's does that, which works without key-value
/// observing. There is one watcher for all listeners of an operation.
private enum ForeignOperations {
    struct Listeners {
        var dependents = Dependents()
        /// Whether the dependents must be sifted.
        var isCrowded = false
        var observers: [@Sendable () -> Void] = []
    }

    /// The listeners of each watched operation. Its watcher holds it, so no other operation has the same identifier
    /// meanwhile.
    private static let listeners = Locked<[ObjectIdentifier: Listeners]>([:])

    /// Adds listeners to an operation.
    static func watch(_ operation: Operation, _ add: (inout Listeners) -> Void) {
        let id = ObjectIdentifier(operation)
        let (isWatched, crowd) = listeners.withLock { listeners in
            let isWatched = listeners[id] != nil
            add(&listeners[id, default: Listeners()])
            return (isWatched, listeners[id]?.takeCrowd())
        }
        if let crowd { sift(crowd, of: id) }
        guard !isWatched else { return }
        let watcher = BlockOperation { tellListeners(of: operation) }
        watcher.addDependency(operation)
        // Each watcher has its own queue, which it keeps alive. A shared queue would ask every watcher whenever one is
        // due.
        let queue = OperationQueue()
        queue.underlyingQueue = .global()
        queue.addOperation(watcher)
        guard operation.isFinished else { return }
        // A queue misses a finish that comes while it takes a watcher in. It starts and frees a cancelled watcher.
        // Foundation must first forget the watcher, because it does not keep it but may be about to notify it.
        watcher.removeDependency(operation)
        watcher.cancel()
        DispatchQueue.global().async { tellListeners(of: operation) }
    }

    /// Tells the listeners. The caller keeps the operation, so no other operation has the same identifier meanwhile.
    private static func tellListeners(of operation: Operation) {
        let id = ObjectIdentifier(operation)
        guard let all = listeners.withLock({ $0.removeValue(forKey: id) }) else { return }
        all.dependents.tell(of: id)
        for observer in all.observers { observer() }
    }

    private static func sift(_ crowd: Dependents, of id: ObjectIdentifier) {
        let sifted = crowd.sifted(of: id)
        let areKept = listeners.withLock { $0[id]?.dependents.putBack(sifted) != nil }
        if !areKept { sifted.tell(of: id) }
    }
}

extension ForeignOperations.Listeners {
    /// Takes the dependents out if they must be sifted.
    fileprivate mutating func takeCrowd() -> Dependents? {
        guard isCrowded else { return nil }
        defer { (dependents, isCrowded) = (Dependents(), false) }
        return dependents
    }
}

/// Frees operations and the dependencies that only they hold, one after another. Recursion would overflow the stack for
/// a chain of about ten thousand.
func releaseChain(of operations: consuming [Operation]) {
    // We move the array. A copy would make every operation look as if it were still in use.
    var pending = consume operations
    while var operation = pending.popLast() {
        guard isKnownUniquelyReferenced(&operation), let ours = operation as? any FinishAnnouncing else { continue }
        pending.append(contentsOf: ours.takeDependencies())
    }
}

/// What the failure of a dependency means for the operation that depends on it.
///
/// A dependency has failed if it was cancelled, or if it is an ``AsynchronousOperation`` whose result is a failure. This
/// is decided when all dependencies have finished, before the operation is ready.
public enum FailedDependencyRule: Sendable, Hashable {
    /// The operation runs, as Foundation's operations do.
    case run

    /// The operation fails without running, with ``RequestError/Code/dependencyFailed``.
    case cancel

    /// The operation is left out. It ends without running, with ``RequestError/Code/skipped``.
    ///
    /// A ``RequestGroup`` does not count it as failed. There is no value, so for an operation that depends on it the
    /// dependency has failed all the same. One with the rule ``run`` goes on.
    case skip
}

extension AsynchronousOperation {
    /// Makes this operation wait until another has finished, and says what follows if that one fails.
    ///
    /// ```swift
    /// upload.addDependency(login, ifFails: .cancel)
    /// ```
    ///
    /// The error of the dependency is ``RequestError/underlying`` of this operation's error. Of several that have failed,
    /// it is that of the one that was added first. `isCancelled` stays `false`, because it means a `CancellationError`.
    ///
    /// Add the dependency before you add this operation to a queue. Later it counts as ``FailedDependencyRule/run`` if
    /// the others have been checked already.
    ///
    /// - Parameters:
    ///   - operation: The dependency, an operation of any class in any queue. For one that was added before, this sets
    ///     the rule.
    ///   - rule: What its failure means.
    public final func addDependency(_ operation: Operation, ifFails rule: FailedDependencyRule) {
        depend(on: operation, ifFails: rule)
    }
}

extension FailedDependencyRule {
    /// The error of an operation with this rule, after a dependency failed. `nil` if it runs.
    func error(after failure: any Error) -> RequestError? {
        switch self {
        case .run: nil
        case .cancel: RequestError(.dependencyFailed, stage: .start, underlying: failure)
        case .skip: RequestError(.skipped, stage: .start, underlying: failure)
        }
    }
}

/// The dependencies of one operation, and which of them are unfinished. A pure value.
///
/// We do not use Foundation's table. On Linux an operation hangs when an unfinished dependency is removed from it, and
/// the table is never cleared.
struct DependencyTable {
    private struct Entry {
        let operation: Operation
        let position: UInt64
        var isFinished = false
    }

    /// All dependencies in the order in which they were added, while they are few. An array takes a fraction of a
    /// dictionary's memory.
    private var few: [Operation] = []
    /// Which of the few have finished, as one bit for each position.
    private var finishedOfFew: UInt32 = 0
    /// The hold counts as one of them.
    private var unfinishedCount = 0
    /// Whether something must be checked when all dependencies have finished.
    private var isHeld = false
    /// All dependencies, once there have been more than a few.
    private var many: [ObjectIdentifier: Entry] = [:]
    private var lastPosition: UInt64 = 0

    private static var mostOfFew: Int { 16 }

    /// Whether all dependencies have finished and nothing holds the operation.
    var isSatisfied: Bool { unfinishedCount == 0 }

    /// Whether all dependencies have finished, and only the hold is left.
    var isOnlyHeld: Bool { isHeld && unfinishedCount == 1 }

    var isEmpty: Bool { few.isEmpty && many.isEmpty }

    /// The dependencies in the order in which they were added.
    var operations: [Operation] {
        many.isEmpty ? few : many.values.sorted { $0.position < $1.position }.map(\.operation)
    }

    /// Adds a dependency as unfinished. Returns whether it is new.
    mutating func add(_ operation: Operation) -> Bool {
        let id = ObjectIdentifier(operation)
        guard place(of: id) == nil, many[id] == nil else { return false }
        unfinishedCount += 1
        if many.isEmpty, few.count < Self.mostOfFew {
            few.append(operation)
        } else {
            moveToMany()
            insert(operation)
        }
        return true
    }

    /// Holds the operation until ``release()``.
    mutating func hold() {
        guard !isHeld else { return }
        isHeld = true
        unfinishedCount += 1
    }

    /// Ends the hold. Returns whether that satisfied the table.
    mutating func release() -> Bool {
        guard isHeld else { return false }
        isHeld = false
        return countOneFinished()
    }

    /// Removes a dependency. Returns whether that satisfied the table, or left only the hold.
    mutating func remove(_ operation: Operation) -> Bool {
        let id = ObjectIdentifier(operation)
        if let place = place(of: id) {
            let wasFinished = isFinished(place)
            few.remove(at: place)
            let before = finishedOfFew & (1 << UInt32(place) - 1)
            finishedOfFew = before | (finishedOfFew >> UInt32(place + 1)) << UInt32(place)
            return wasFinished ? false : countOneFinished()
        }
        guard let entry = many.removeValue(forKey: id), !entry.isFinished else { return false }
        return countOneFinished()
    }

    /// Records that a dependency finished. Returns whether that satisfied the table, or left only the hold. A dependency
    /// that was removed or recorded before changes nothing.
    mutating func noteFinished(_ operation: ObjectIdentifier) -> Bool {
        guard waits(for: operation) else { return false }
        if let place = place(of: operation) {
            finishedOfFew |= 1 << UInt32(place)
        } else {
            many[operation]?.isFinished = true
        }
        return countOneFinished()
    }

    /// Whether this dependency is in the table and unfinished.
    func waits(for operation: ObjectIdentifier) -> Bool {
        if let place = place(of: operation) { !isFinished(place) } else { many[operation]?.isFinished == false }
    }

    /// Takes all dependencies out of the table.
    mutating func removeAll() -> [Operation] {
        defer { self = DependencyTable() }
        return many.isEmpty ? few : many.values.map(\.operation)
    }

    // MARK: Few and many

    private func place(of operation: ObjectIdentifier) -> Int? {
        few.firstIndex { ObjectIdentifier($0) == operation }
    }

    private func isFinished(_ place: Int) -> Bool {
        finishedOfFew & (1 << UInt32(place)) != 0
    }

    private mutating func countOneFinished() -> Bool {
        unfinishedCount -= 1
        return isSatisfied || isOnlyHeld
    }

    private mutating func moveToMany() {
        for (place, operation) in few.enumerated() { insert(operation, isFinished: isFinished(place)) }
        few = []
        finishedOfFew = 0
    }

    private mutating func insert(_ operation: Operation, isFinished: Bool = false) {
        lastPosition += 1
        many[ObjectIdentifier(operation)] = Entry(operation: operation, position: lastPosition, isFinished: isFinished)
    }
}

/// The operations that depend on one operation. A pure value.
///
/// It holds their states instead of the operations, which it must not keep alive: a weak reference would make every use
/// of an operation slower. States that are no longer of use are removed from time to time. An operation that runs for
/// days may have had millions of dependents.
struct Dependents {
    private var states: [Locked<OperationState>] = []
    /// At more than this many states, we look for those that are no longer of use.
    private var room = Self.leastRoom

    private static var leastRoom: Int { 16 }

    /// How many are kept.
    var count: Int { states.count }

    /// Adds a dependent. Returns whether there are now so many that the caller must take them out, sift them and put
    /// them back.
    mutating func add(_ dependent: Locked<OperationState>) -> Bool {
        states.append(dependent)
        return states.count > room
    }

    /// The dependents that still wait, each once. It takes the lock of each of them, so do not call it under a lock.
    func sifted(of dependency: ObjectIdentifier) -> Dependents {
        var known: Set<ObjectIdentifier> = []
        var sifted = Dependents()
        sifted.states = states.filter { state in
            // A dependent that stopped waiting and waits again is listed more than once.
            known.insert(state.identity).inserted && state.withLock { $0.dependencies.waits(for: dependency) }
        }
        return sifted
    }

    /// Puts back the dependents that were taken out, before those that came meanwhile.
    mutating func putBack(_ former: Dependents) {
        states = former.states + states
        room = max(Self.leastRoom, 2 * states.count)
    }

    /// Tells all dependents, in the order in which they came.
    func tell(of dependency: ObjectIdentifier) {
        for state in states { state.noteFinished(dependency) }
    }
}

extension Locked<OperationState> {
    /// Records that a dependency has finished. If the operation still exists and waits for nothing else, it goes on.
    func noteFinished(_ dependency: ObjectIdentifier) {
        withLock { $0.openGate { $0.noteFinished(dependency) } }?.open()
    }
}
