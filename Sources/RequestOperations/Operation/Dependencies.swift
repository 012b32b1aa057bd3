extension Operation {
    /// Calls a closure once when this operation has finished; at once if it has.
    func announceFinish(to observer: @escaping @Sendable () -> Void) {
        if let operation = self as? any FinishAnnouncing {
            operation.subscribeToFinish(observer)
        } else {
            ForeignOperations.announceFinish(of: self, to: observer)
        }
    }
}

/// An operation of ours, whatever its value.
protocol FinishAnnouncing: Operation {
    func subscribeToFinish(_ observer: @escaping @Sendable () -> Void)

    /// Takes the dependencies, and what else it holds of operations, out of one that nobody else can reach any more.
    func takeDependencies() -> [Operation]
}

extension AsynchronousOperation: FinishAnnouncing {}

/// Operations that are not ours are watched by one of Foundation's that depends on them: the way that works without
/// key-value observing.
private enum ForeignOperations {
    private static let watchers = OperationQueue()

    static func announceFinish(of operation: Operation, to observer: @escaping @Sendable () -> Void) {
        let watcher = BlockOperation(block: observer)
        watcher.addDependency(operation)
        watchers.addOperation(watcher)
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
