/// The place that an attempt has in the queue of its request.
extension RequestProgress {
    /// Where the attempt is to line up; `nil` if it has a place, or there is no queue.
    var lineInQueue: JointWait.Line? {
        guard let turn, held.queueSlot == nil else { return nil }
        return JointWait.Line(
            limiter: turn.limiter, place: turn.place.with(priority), standing: wasSent ? .later : .first)
    }

    /// The attempt has a place; whether the request goes on.
    mutating func hold(inQueue slot: RequestLimiter.Slot) -> Bool {
        guard enter(.slot) else { return false }
        held.queueSlot = slot
        return true
    }

    /// Gives up the place, to be given back outside of the lock.
    mutating func takeQueueSlot() -> RequestLimiter.Slot? {
        defer { held.queueSlot = nil }
        return held.queueSlot
    }

    /// Gives up all that the attempt holds, to be given back outside of the lock.
    mutating func takeHeld() -> HeldByAttempt {
        defer { held = HeldByAttempt() }
        return held
    }
}
