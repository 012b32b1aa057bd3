/// An operation of this package, whatever the type of its value.
protocol FinishAnnouncing: Operation {
    func subscribeToFinish(_ observer: @escaping @Sendable () -> Void)

    func announceFinish(toDependent dependent: Locked<OperationState>)

    /// Takes out the dependencies of an operation that nothing else refers to.
    func takeDependencies() -> [Operation]
}

extension AsynchronousOperation: FinishAnnouncing {}
