/// How a request's attempts get their slots.
extension RequestRunner {
    /// Lets an attempt in: waits until its host is not to be left alone any longer, and for a slot.
    ///
    /// A response may ask to leave the host alone while the attempt stands in the line. So it asks the table again when it
    /// has a slot. If need be it gives the slot back, waits, and stands in the line again at its old place.
    ///
    /// - Parameters:
    ///   - task: What it is to send, completed from the configuration.
    ///   - admission: The attempt on its way.
    /// - Returns: `nil` if that took so long that the request is to be processed again. It keeps its place in the line.
    func admit(_ task: TransportTask, _ admission: inout Admission) async throws -> Admission.Ticket? {
        let (attempt, freshness) = (admission.attempt, configuration.freshness)
        try advance { $0.note(task) }
        var waited = Duration.zero
        while true {
            if let table = tableThatAsksToWait(task, after: admission.wake) {
                let wake = try await leaveAlone(task, by: table)
                admission.note(wake)
                waited += wake.waited
                guard !admission.isStale(after: waited, freshness: freshness) else {
                    admission.processAgain()
                    return nil
                }
            }
            guard let limiters = admission.limiters else {
                return Admission.Ticket(attempt: attempt, task: task, slot: nil)
            }
            let (slot, time) = try await self.slot(of: limiters, for: task, in: attempt, at: &admission.places)
            guard tableThatAsksToWait(task, after: admission.wake) == nil else {
                slot.release(isUnused: true)
                waited += time
                continue
            }
            guard !admission.isStale(after: waited + time, freshness: freshness) else {
                slot.release(isUnused: true)
                admission.processAgain()
                return nil
            }
            return Admission.Ticket(attempt: attempt, task: task, slot: slot)
        }
    }

    /// The limiters that every attempt has to pass.
    var limiters: AttemptLimiters? {
        AttemptLimiters(ofQueue: progress.withLock { $0.limiterOfQueue }, ofConfiguration: configuration.limiter)
    }

    /// Has the attempts that begin from now on hold the places of a queue. The place of the first in the line is taken now,
    /// since threads may begin requests in another order than the queue has them.
    func join(_ limiter: RequestLimiter, priority: Operation.QueuePriority) {
        let place = limiter.newPlace(priority)
        progress.withLock { progress in
            progress.limiterOfQueue = limiter
            progress.firstPlaceInQueue = place
        }
    }

    func slot(
        of limiters: AttemptLimiters, for task: TransportTask, in attempt: Int,
        at places: inout AttemptLimiters.Places
    ) async throws -> (RequestLimiter.Slot, waited: Duration) {
        let stopwatch = try beginWaitForSlot(in: attempt)
        let slot = try await limiters.slot(
            for: Origin(task.request.url), priority: progress.withLock { $0.priority }, places: &places)
        return (slot, try endWait(for: slot, in: attempt, stopwatch))
    }

    /// Exchanges the place that a slot has at its host for one at the host of a redirect. After an error, releasing the
    /// slot gives all of it back.
    func exchange(_ slot: RequestLimiter.Slot, for task: TransportTask, in attempt: Int) async throws {
        let stopwatch = try beginWaitForSlot(in: attempt)
        try await slot.exchange(for: Origin(task.request.url), priority: progress.withLock { $0.priority })
        _ = try endWait(for: slot, in: attempt, stopwatch)
    }

    private func beginWaitForSlot(in attempt: Int) throws -> Stopwatch {
        try advance { $0.enter(.slot, in: attempt) }
        let stopwatch = Stopwatch(configuration.clock)
        emit(.waitsForSlot)
        return stopwatch
    }

    /// How long a slot was waited for.
    private func endWait(
        for slot: RequestLimiter.Slot, in attempt: Int, _ stopwatch: Stopwatch
    ) throws -> Duration {
        do {
            // The slot may have been given in the moment of the cancel.
            try advance { $0.enter(.slot, in: attempt) }
            try Task.checkCancellation()
        } catch {
            slot.release(isUnused: true)
            throw error
        }
        let waited = stopwatch.elapsed
        emit(.gotSlot(waited: waited))
        return waited
    }
}
