/// An operation of ours, whatever its value.
protocol FinishAnnouncing: Operation {
    func subscribeToFinish(_ observer: @escaping @Sendable () -> Void)

    func announceFinish(toDependent dependent: Locked<OperationState>)

    /// Takes the dependencies, and what else it holds of operations, out of one that nobody else can reach any more.
    func takeDependencies() -> [Operation]
}

extension AsynchronousOperation: FinishAnnouncing {}
