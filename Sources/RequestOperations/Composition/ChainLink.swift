/// A link of a chain with any type of value.
protocol ChainLink: FinishAnnouncing, Sendable {
    func startWhenReady(by starter: LinkStarter)
}

extension AsynchronousOperation: ChainLink {}

extension ChainLink {
    /// Starts the link when it is ready, and returns when it has finished. Cancels the link when the Task is cancelled.
    func runAsLink(by starter: LinkStarter) async {
        // We cancel a chain asynchronously. So nested chains that all run are not cancelled by deep recursion.
        await runToEnd(cancellingOn: self is any Chain ? starter.queue : nil) { startWhenReady(by: starter) }
    }
}
