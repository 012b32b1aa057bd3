extension Operation {
    /// Calls a closure once when this operation has finished; at once if it has.
    func announceFinish(to observer: @escaping @Sendable () -> Void) {
        if let operation = self as? any FinishAnnouncing {
            operation.subscribeToFinish(observer)
        } else {
            ForeignOperations.watch(self) { $0.observers.append(observer) }
        }
    }

    /// Tells one that depends on this operation when it has finished; at once if it has.
    func announceFinish(to dependent: Locked<OperationState>) {
        if let operation = self as? any FinishAnnouncing {
            operation.announceFinish(toDependent: dependent)
        } else {
            ForeignOperations.watch(self) { $0.isCrowded = $0.dependents.add(dependent) }
        }
    }
}

extension [Operation] {
    /// Calls a closure once when all of these have finished; at once if they have.
    func announceFinish(to observer: @escaping @Sendable () -> Void) {
        let unfinished = Locked(count + 1)
        let countOne: @Sendable () -> Void = {
            let isLast = unfinished.withLock { unfinished in
                unfinished -= 1
                return unfinished == 0
            }
            if isLast { observer() }
        }
        for operation in self { operation.announceFinish(to: countOne) }
        countOne()
    }
}

/// Operations that are not ours are watched by one of Foundation's that depends on them: the way that works without
/// key-value observing. One for all who want to hear of an operation.
private enum ForeignOperations {
    struct Listeners {
        var dependents = Dependents()
        /// Whether the dependents are to be sifted.
        var isCrowded = false
        var observers: [@Sendable () -> Void] = []
    }

    /// Who hears of each operation that is watched. Its watcher holds it, so no other has its identity meanwhile.
    private static let listeners = Locked<[ObjectIdentifier: Listeners]>([:])

    /// Adds listeners to those of an operation.
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
        // A queue of its own, which what is in it keeps: one for all would ask every watcher whenever one of them is due.
        let queue = OperationQueue()
        queue.underlyingQueue = .global()
        queue.addOperation(watcher)
        guard operation.isFinished else { return }
        // A queue misses a finish that comes while it takes a watcher in. What is cancelled it starts, and lets go: before,
        // Foundation has to forget the watcher, which it does not keep, but may be about to tell.
        watcher.removeDependency(operation)
        watcher.cancel()
        DispatchQueue.global().async { tellListeners(of: operation) }
    }

    /// Tells those who listen. Whoever is to call this keeps the operation, so that no other has its identity meanwhile.
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
    /// Takes the dependents out if they are to be sifted.
    fileprivate mutating func takeCrowd() -> Dependents? {
        guard isCrowded else { return nil }
        defer { (dependents, isCrowded) = (Dependents(), false) }
        return dependents
    }
}

/// Frees operations that are the last to hold others, and so on, one after another: freed by recursion, a chain of some ten
/// thousand would overflow the stack.
func releaseChain(of operations: consuming [Operation]) {
    // Moved, not copied: a second reference would make every operation look as if it were still in use.
    var pending = consume operations
    while var operation = pending.popLast() {
        guard isKnownUniquelyReferenced(&operation), let ours = operation as? any FinishAnnouncing else { continue }
        pending.append(contentsOf: ours.takeDependencies())
    }
}
