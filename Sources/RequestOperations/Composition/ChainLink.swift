/// A link of a chain with any type of value.
protocol ChainLink: FinishAnnouncing, Sendable {
    func startWhenReady(by starter: MemberStarter)
    /// Reserves the operation for the caller. Returns `false` if something has it already, as far as is known.
    func claim() -> Bool
}

extension AsynchronousOperation: ChainLink {
    func claim() -> Bool { state.withLock { $0.claim() } }
}

extension ChainLink {
    /// Starts the link when it is ready, and returns when it has finished. Cancels the link when the Task is cancelled.
    func runAsLink(by starter: MemberStarter) async {
        // We cancel a chain asynchronously. So nested chains that all run are not cancelled by deep recursion.
        await runToEnd(cancellingOn: self is any Chain ? starter.queue : nil) { startWhenReady(by: starter) }
    }
}
