/// How a group runs an operation of any kind.
extension Operation {
    /// Runs the operation, and returns when it has finished. Cancels it when the Task is cancelled.
    func runAsMember(by starter: LinkStarter) async {
        if let ours = self as? any ChainLink { return await ours.runAsLink(by: starter) }
        let finish = Answer<Void>()
        if Task.isCancelled { cancel() }
        // A queue of its own, because a full one would make members wait for each other.
        let queue = OperationQueue()
        queue.addOperation(self)
        announceFinish { finish.resume(with: .success(())) }
        await withTaskCancellationHandler {
            // The result is never an error.
            _ = try? await finish.value
        } onCancel: {
            cancel()
        }
    }

    /// Why a finished operation failed. An operation that is not ours fails only by a cancel.
    var failureOfMember: (any Error)? {
        if let ours = self as? any FinishAnnouncing { return ours.failure }
        return isCancelled ? CancellationError() : nil
    }
}
