extension Operation {
    /// Why a finished operation failed. An operation of another class fails only by a cancel.
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
            ForeignOperations.watch(self, for: observer)
        }
    }

    /// Notifies a dependent operation when this one finishes, or at once if it has finished.
    func announceFinish(to dependent: Locked<OperationLifecycle>) {
        if let operation = self as? any StartableOperation {
            operation.add(dependent)
        } else {
            let id = ObjectIdentifier(self)
            announceFinish { dependent.noteFinished(id) }
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

/// Watches operations of other classes. A dependent operation of Foundation's does that, which works without key-value
/// observing. There is one watcher for all observers of an operation.
private enum ForeignOperations {
    /// The observers of each watched operation. Its watcher holds it, so no other operation has the same identifier
    /// meanwhile.
    private static let observers = Locked<[ObjectIdentifier: [@Sendable () -> Void]]>([:])

    static func watch(_ operation: Operation, for observer: @escaping @Sendable () -> Void) {
        let isFirst = observers.withLock { observers in
            observers[ObjectIdentifier(operation), default: []].append(observer)
            return observers[ObjectIdentifier(operation)]?.count == 1
        }
        guard isFirst else { return }
        let watcher = BlockOperation { notifyObservers(of: operation) }
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
        DispatchQueue.global().async { notifyObservers(of: operation) }
    }

    /// Notifies the observers. The caller keeps the operation, so no other operation has the same identifier meanwhile.
    private static func notifyObservers(of operation: Operation) {
        let all = observers.withLock { $0.removeValue(forKey: ObjectIdentifier(operation)) }
        for observer in all ?? [] { observer() }
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
    /// A ``RequestGroup`` does not count it as failed. It has no value, so it counts as a failed dependency for
    /// operations that depend on it. An operation with the rule ``run`` still runs.
    case skip
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
struct Dependencies {
    private struct Entry {
        /// `nil` after the dependency was removed, until the gaps are closed.
        var operation: Operation?
        var isFinished = false
    }

    /// In the order of adding.
    private var entries: [Entry] = []
    /// Where each dependency is, once there have been more than a few. Until then the array is searched.
    private var places: [ObjectIdentifier: Int] = [:]
    /// The check counts as one of them.
    private var unfinishedCount = 0
    /// Whether something must be checked when all dependencies have finished.
    private var awaitsCheck = false

    private static var mostOfFew: Int { 16 }

    /// Whether all dependencies have finished and no check is due.
    var isSatisfied: Bool { unfinishedCount == 0 }

    /// Whether all dependencies have finished, and only the check is left.
    var awaitsOnlyCheck: Bool { awaitsCheck && unfinishedCount == 1 }

    /// The dependencies in the order in which they were added.
    var operations: [Operation] { entries.compactMap(\.operation) }

    /// Adds a dependency as unfinished. Returns whether it is new.
    mutating func add(_ operation: Operation) -> Bool {
        let id = ObjectIdentifier(operation)
        guard place(of: id) == nil else { return false }
        unfinishedCount += 1
        entries.append(Entry(operation: operation))
        if !places.isEmpty {
            places[id] = entries.count - 1
        } else if entries.count > Self.mostOfFew {
            closeGaps()
        }
        return true
    }

    /// Removes a dependency. Returns whether that satisfied the operation, or left only the check.
    mutating func remove(_ operation: Operation) -> Bool {
        let id = ObjectIdentifier(operation)
        guard let place = place(of: id) else { return false }
        let wasFinished = entries[place].isFinished
        entries[place].operation = nil
        places[id] = nil
        if entries.count > Self.mostOfFew + 2 * places.count || places.isEmpty { closeGaps() }
        return wasFinished ? false : countOneFinished()
    }

    /// Records that a dependency finished. Returns whether that satisfied the operation, or left only the check. A
    /// dependency that was removed or recorded before changes nothing.
    mutating func noteFinished(_ operation: ObjectIdentifier) -> Bool {
        guard let place = place(of: operation), !entries[place].isFinished else { return false }
        entries[place].isFinished = true
        return countOneFinished()
    }

    /// Whether this dependency is in the table and unfinished.
    func waits(for operation: ObjectIdentifier) -> Bool {
        place(of: operation).map { !entries[$0].isFinished } ?? false
    }

    /// Makes the operation wait for the check, until ``passCheck()``.
    mutating func awaitCheck() {
        if !awaitsCheck { unfinishedCount += 1 }
        awaitsCheck = true
    }

    /// Records that the check was passed. Returns whether that satisfied the operation.
    mutating func passCheck() -> Bool {
        guard awaitsCheck else { return false }
        awaitsCheck = false
        return countOneFinished()
    }

    /// Takes all dependencies out.
    mutating func removeAll() -> [Operation] {
        defer { self = Dependencies() }
        return operations
    }

    private func place(of operation: ObjectIdentifier) -> Int? {
        guard places.isEmpty else { return places[operation] }
        return entries.firstIndex { $0.operation.map(ObjectIdentifier.init) == operation }
    }

    private mutating func countOneFinished() -> Bool {
        unfinishedCount -= 1
        return isSatisfied || awaitsOnlyCheck
    }

    private mutating func closeGaps() {
        entries.removeAll { $0.operation == nil }
        places = [:]
        guard entries.count > Self.mostOfFew else { return }
        for (place, entry) in entries.enumerated() { places[ObjectIdentifier(entry.operation!)] = place }
    }
}

/// The operations that depend on one operation. A pure value.
///
/// It holds their states instead of the operations, which it must not keep alive: a weak reference would make every use
/// of an operation slower. States that are no longer of use are removed from time to time. An operation that runs for
/// days may have had millions of dependents.
struct Dependents {
    private var states: [Locked<OperationLifecycle>] = []
    /// At more than this many states, we look for those that are no longer of use.
    private var room = Self.leastRoom

    private static var leastRoom: Int { 16 }

    /// How many callers have taken states out and have not put them back.
    private var siftCount = 0

    /// How many are kept.
    var count: Int { states.count }

    /// Whether there are none, and none are being sifted.
    var isEmpty: Bool { states.isEmpty && siftCount == 0 }

    /// Adds a dependent. Returns whether there are now so many that the caller must take them out, sift them and put
    /// them back.
    mutating func add(_ dependent: Locked<OperationLifecycle>) -> Bool {
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

    /// Takes all out for a caller that sifts them and then puts them back.
    mutating func takeAll() -> Dependents {
        defer {
            states = []
            siftCount += 1
        }
        return self
    }

    /// Puts back the dependents that were taken out, before those that came meanwhile.
    mutating func putBack(_ former: Dependents) {
        states = former.states + states
        siftCount -= 1
        room = max(Self.leastRoom, 2 * states.count)
    }

    /// Notifies all dependents, in the order in which they came.
    func notify(of dependency: ObjectIdentifier) {
        for state in states { state.noteFinished(dependency) }
    }
}

extension Locked<OperationLifecycle> {
    /// Records that a dependency has finished. If the operation still exists and waits for nothing else, it goes on.
    func noteFinished(_ dependency: ObjectIdentifier) {
        withLock { $0.open { $0.noteFinished(dependency) } }?.open()
    }
}
