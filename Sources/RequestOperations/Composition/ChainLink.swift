/// A link of a chain with any type of value.
protocol ChainLink: FinishAnnouncing, Sendable {
    func startWhenReady(by starter: LinkStarter)
}

extension AsynchronousOperation: ChainLink {}

extension ChainLink {
    /// Starts the link when it is ready, and returns when it has finished. Cancels the link when the Task is cancelled.
    ///
    /// The link is started even if the Task was already cancelled. It then finishes without running, so that nothing
    /// waits for it forever.
    func runAsLink(by starter: LinkStarter) async {
        let finish = Answer<Void>()
        if Task.isCancelled { cancel() }
        startWhenReady(by: starter)
        subscribeToFinish { finish.resume(with: .success(())) }
        await withTaskCancellationHandler {
            // The result is never an error.
            _ = try? await finish.value
        } onCancel: {
            // We cancel a chain asynchronously. So nested chains that all run are not cancelled by deep recursion.
            if self is any Chain { starter.queue.async { self.cancel() } } else { cancel() }
        }
    }
}
