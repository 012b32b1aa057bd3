/// How a chain, a group or a batch runs an operation of any kind.
extension Operation {
    /// Runs the operation, and returns when it has finished. Cancels it when the Task is cancelled.
    func runAsMember(by starter: MemberStarter) async {
        if let ours = self as? any ChainLink { return await ours.runAsLink(by: starter) }
        guard !isFinished else { return }
        await runToEnd {
            // A queue of its own, because a full one would make members wait for each other.
            OperationQueue().addOperation(self)
        }
    }

    /// Starts the operation, and returns when it has finished. Cancels it when the Task is cancelled.
    ///
    /// The operation is started even if the Task was already cancelled. It then finishes without running, so that nothing
    /// waits for it forever.
    ///
    /// - Parameters:
    ///   - queue: Where it is cancelled. `nil` means the thread that cancels the Task.
    ///   - start: Starts the operation.
    func runToEnd(cancellingOn queue: DispatchQueue? = nil, _ start: () -> Void) async {
        let finish = Answer<Void>()
        if Task.isCancelled { cancel() }
        start()
        announceFinish { finish.resume(with: .success(())) }
        await withTaskCancellationHandler {
            // The result is never an error.
            _ = try? await finish.value
        } onCancel: {
            if let queue { queue.async { self.cancel() } } else { cancel() }
        }
    }

    /// Ends a member that does not run any more. It finishes as cancelled, so that nothing waits for it forever.
    func discard() {
        cancel()
        if let ours = self as? any ChainLink {
            ours.startWhenReady(by: MemberStarter(for: nil))
        } else if !isExecuting, !isFinished {
            OperationQueue().addOperation(self)
        }
    }

    /// Ends a member, unless something else has it and may run it.
    func discardUnlessTaken() {
        guard let ours = self as? any ChainLink, ours.claim() else { return }
        discard()
    }

    /// Why a finished member of a group failed. One that was left out did not fail.
    var failureOfMember: (any Error)? {
        guard let failure = failureOfFinished, !(RequestError.Code.skipped ~= failure) else { return nil }
        return failure
    }
}

extension Sequence where Element: Operation {
    /// Reserves new members, so that `value(of:)` of a queue does not add them there.
    func claimAll() {
        for operation in self { _ = (operation as? any ChainLink)?.claim() }
    }
}
