/// What an attempt holds until it ends.
struct HeldByAttempt: Sendable {
    /// The place of its queue.
    var queueSlot: RequestLimiter.Slot?
    /// The slot of its configuration's limiter.
    var slot: RequestLimiter.Slot?
    var permit: Held<CircuitPermit>?

    /// Its slots, that of the queue first.
    var slots: [RequestLimiter.Slot] { [queueSlot, slot].compactMap { $0 } }

    /// Gives all of it back, and whatever should still come.
    ///
    /// - Parameter outcome: What the attempt says of its host.
    func giveBack(_ outcome: @autoclosure () -> CircuitState.Outcome) {
        if let permit { permit.close()?.settle(outcome()) }
        slots.release()
    }

    /// Gives all of it back before anything was sent.
    func giveBackUnused() {
        permit?.close()?.settle(.cancelled)
        slots.release(isUnused: true)
    }
}
