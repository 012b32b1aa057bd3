/// The limiters that an attempt has to pass: that of its configuration and that of its queue.
struct AttemptLimiters: Sendable {
    private let first: RequestLimiter
    private let second: RequestLimiter?

    /// The places that an attempt has taken in the lines of the first and the second.
    struct Places: Sendable {
        var first: RequestLimiter.Place?
        var second: RequestLimiter.Place?
        /// Whether nobody has waited at the first yet, so that a full line rejects whoever comes.
        var isFirstNew = false
    }

    /// Makes them of those that there are; `nil` if there is none. One that comes twice counts once. That of the queue is the
    /// first, if there is one.
    init?(ofQueue: RequestLimiter?, ofConfiguration: RequestLimiter?) {
        guard let first = ofQueue ?? ofConfiguration else { return nil }
        self.first = first
        second = ofConfiguration === first ? nil : ofConfiguration
    }

    /// Waits for a slot of each; what it gives back is the right to both.
    ///
    /// Like ``RequestLimiter/slot(for:priority:place:)`` of one: check for a cancel afterwards.
    func slot(
        for origin: Origin, priority: Operation.QueuePriority, places: inout Places
    ) async throws -> RequestLimiter.Slot {
        guard let second else {
            let isNew = places.isFirstNew
            places.isFirstNew = false
            return try await first.slot(for: origin, priority: priority, place: &places.first, isNew: isNew)
        }
        let wait = JointWait(for: origin, of: first, second, priority: priority, places: places)
        places = wait.places
        try await wait.outcome()
        let slotOfSecond = RequestLimiter.Slot(of: second, for: origin, at: places.second)
        return RequestLimiter.Slot(of: first, for: origin, at: places.first, with: slotOfSecond)
    }

    /// Takes a slot of each if there is one of each now; otherwise none is held.
    func slotAtOnce(for origin: Origin, priority: Operation.QueuePriority) -> RequestLimiter.Slot? {
        guard let second else { return first.slotAtOnce(for: origin, priority: priority) }
        guard let slotOfSecond = second.slotAtOnce(for: origin, priority: priority) else { return nil }
        guard let both = first.slotAtOnce(for: origin, with: slotOfSecond, priority: priority) else {
            slotOfSecond.release(isUnused: true)
            return nil
        }
        return both
    }
}
