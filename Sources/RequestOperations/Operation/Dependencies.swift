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
