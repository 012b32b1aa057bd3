/// An operation of ours, whatever its value.
protocol FinishAnnouncing: Operation {
    /// The error of an operation that has finished with one.
    var failure: (any Error)? { get }

    func subscribeToFinish(_ observer: @escaping @Sendable () -> Void)

    func announceFinish(toDependent dependent: Locked<OperationState>)

    /// Takes the dependencies, and what else it holds of operations, out of one that nobody else can reach any more.
    func takeDependencies() -> [Operation]
}

extension AsynchronousOperation: FinishAnnouncing {
    var failure: (any Error)? {
        guard case .failed(let error)? = state.withLock({ $0.lifecycle.ending }) else { return nil }
        return error
    }
}
