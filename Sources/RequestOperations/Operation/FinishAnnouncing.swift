/// An operation of this package, whatever the type of its value.
protocol FinishAnnouncing: Operation {
    /// The error of an operation that has finished with one.
    var failure: (any Error)? { get }

    /// Calls an observer once when the operation has finished, or at once if it has.
    func subscribeToFinish(wantsResult: Bool, _ observer: @escaping @Sendable () -> Void)

    func announceFinish(toDependent dependent: Locked<OperationState>)

    /// Takes out the dependencies of an operation that nothing else refers to.
    func takeDependencies() -> [Operation]
}

extension AsynchronousOperation: FinishAnnouncing {
    var failure: (any Error)? {
        guard case .failed(let error)? = state.withLock({ $0.lifecycle.ending }) else { return nil }
        return error
    }
}
