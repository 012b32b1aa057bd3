/// What an attempt that was sent holds until it ends.
struct HeldByAttempt: Sendable {
    var slot: Held<RequestLimiter.Slot>?
    var permit: Held<CircuitBreaker.Permit>?

    /// Gives all of it back, and whatever should still come.
    ///
    /// - Parameter outcome: What the attempt says of its host.
    func giveBack(_ outcome: @autoclosure () -> CircuitState.Outcome) {
        if let permit { permit.close()?.settle(outcome()) }
        slot?.close()?.release()
    }

    /// Gives all of it back before anything was sent.
    func giveBackUnused() {
        permit?.close()?.settle(.cancelled)
        slot?.close()?.release(isUnused: true)
    }
}
