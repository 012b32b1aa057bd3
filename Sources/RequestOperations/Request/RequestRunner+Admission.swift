/// How a request's attempts get places in its queue, and slots of its configuration's limiter.
///
/// The place in the queue comes first: an attempt has one before its request is processed. It gives the place back
/// while it waits for anything else before it is sent. Then it lines up again at the request's old position.
extension RequestRunner {
    /// The limiter of the configuration, unless that is the queue's.
    var ownLimiter: RequestLimiter? {
        guard let limiter = configuration.limiter else { return nil }
        return requestState.withLock { $0.turn?.limiter } === limiter ? nil : limiter
    }

    /// Tells the limiters of the queue and of the configuration which status a host sent. Each is told once.
    func limitersHear(of head: ResponseHead, in queue: RequestLimiter?) {
        queue?.heard(head.status, from: head.url)
        if let limiter = configuration.limiter, limiter !== queue { limiter.heard(head.status, from: head.url) }
    }

    /// Takes a place in the queue, if there is a queue and the attempt has no place. Returns how long that took.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt.
    ///   - origin: The host in whose line it stands. That of the original request by default.
    @discardableResult
    func takePlaceInQueue(in attempt: Int, for origin: Origin? = nil) async throws -> Duration {
        guard let line = lineInQueue(of: attempt) else { return .zero }
        let rights = try rights(of: attempt)
        let origin = origin ?? Origin(original.url)
        return try await waitForSlot(in: attempt) {
            let place = try await line.limiter.slot(for: origin, at: line.place, as: line.standing)
            try rights.hold(place: place)
        }
    }

    /// Gives back the unused place in the queue.
    func giveUpPlaceInQueue(in attempt: Int) {
        requestState.withLock { $0.rights(of: attempt) }?.giveUpPlace()
    }

    /// Where an attempt must line up. `nil` if it has a place or there is no queue.
    private func lineInQueue(of attempt: Int) -> JointWait.Line? {
        let (turn, priority, wasSent, rights) = requestState.withLock {
            ($0.turn, $0.priority, $0.firstSent != nil, $0.rights(of: attempt))
        }
        guard let turn, rights?.place == nil else { return nil }
        return JointWait.Line(
            limiter: turn.limiter, place: turn.position.with(priority), standing: wasSent ? .later : .first)
    }

    private func rights(of attempt: Int) throws -> AttemptRights {
        guard let rights = requestState.withLock({ $0.rights(of: attempt) }) else { throw CancellationError() }
        return rights
    }

    /// Admits a task. Waits until its host need no longer be left alone, and for its slots.
    ///
    /// While the attempt is in the line, a response may ask all requests to leave the host alone. So the attempt checks
    /// again when it has a slot. If it must wait, it gives the slot back, waits, and returns to its old position in the
    /// line.
    ///
    /// - Parameters:
    ///   - task: The task to send, completed from the configuration.
    ///   - attempt: The number of the attempt.
    /// - Returns: `nil` if the wait was so long that the request must be processed again. The attempt then keeps its
    ///   position. This happens once for each attempt, because a transfer may take longer than the freshness.
    func admit(_ task: TransportTask, in attempt: Int) async throws -> AdmittedTask? {
        try advance { $0.note(task, in: attempt) }
        let rights = try rights(of: attempt)
        // Other work than a request is not processed.
        let (mayBeStale, hasTurn) = requestState.withLock {
            (!$0.work.isOther && $0.wasProcessedOnce(attempt), $0.turn != nil)
        }
        var waited = Duration.zero
        // In the line of a limiter or of a queue it could wait in vain. So it asks before.
        let linesUp = configuration.limiter != nil || hasTurn && rights.place == nil
        var isLeftAlone = linesUp && isToLeaveAlone(task, in: attempt)
        while true {
            if isLeftAlone {
                rights.giveUpPlace()
                waited += try await leaveAlone(task, in: attempt)
                if mayBeStale, waited > configuration.freshness {
                    try await takePlaceInQueue(in: attempt)
                    return nil
                }
            }
            waited += try await takeSlots(for: task, rights, in: attempt)
            if mayBeStale, waited > configuration.freshness, !isToLeaveAlone(task, in: attempt) {
                rights.giveUpSlot()
                return nil
            }
            if let isAwaited = try askHost(task, rights, in: attempt) {
                return AdmittedTask(attempt: attempt, task: task, rights: rights, isAwaited: isAwaited)
            }
            rights.giveUpSlot()
            isLeftAlone = true
        }
    }

    /// Takes a place in the queue for the task's host, and a slot of the configuration's limiter. Returns how long that
    /// took.
    private func takeSlots(for task: TransportTask, _ rights: AttemptRights, in attempt: Int) async throws -> Duration {
        let origin = Origin(task.request.url)
        let waited = try await takePlace(for: origin, rights, in: attempt)
        guard let limiter = ownLimiter else { return waited }
        let (former, priority) = requestState.withLock { ($0.place(of: attempt), $0.priority) }
        let place = (former ?? limiter.newPlace()).with(priority)
        requestState.withLock { $0.keep(place, of: attempt) }
        return try await waited
            + waitForSlot(in: attempt) {
                if let slot = limiter.slotAtOnce(for: origin) { return try rights.hold(slot: slot) }
                rights.giveUpPlace()
                guard let queue = lineInQueue(of: attempt) else {
                    let slot = try await limiter.slot(for: origin, at: place, mayBeRejected: former == nil)
                    return try rights.hold(slot: slot)
                }
                let line = JointWait.Line(limiter: limiter, place: place)
                try await JointWait(for: origin, of: queue, and: line, mayBeRejected: former == nil).outcome()
                try rights.hold(
                    place: RequestLimiter.Slot(of: queue.limiter, for: origin),
                    slot: RequestLimiter.Slot(of: limiter, for: origin))
            }
    }

    /// Takes a place in the queue for a host. Returns how long that took.
    ///
    /// If the request was processed for another host than its original one, its place is exchanged. In a suspended
    /// queue, a request that has sent nothing yet gives its place back and waits.
    private func takePlace(for origin: Origin, _ rights: AttemptRights, in attempt: Int) async throws -> Duration {
        if let place = rights.place {
            if place.limiter.isSuspended, requestState.withLock({ $0.firstSent == nil }) {
                rights.giveUpPlace()
            } else if place.origin == origin {
                return .zero
            } else {
                try rights.exchangePlace(for: origin)
            }
        }
        return try await takePlaceInQueue(in: attempt, for: origin)
    }

    /// Waits for a slot and reports that. Returns how long it took.
    private func waitForSlot(in attempt: Int, _ takeSlot: () async throws -> Void) async throws -> Duration {
        try advance { $0.enter(.slot, in: attempt) }
        let began = now
        emit(.waitsForSlot)
        try await takeSlot()
        // The slot may have been granted at the moment of the cancel.
        try advance { $0.enter(.slot, in: attempt) }
        try Task.checkCancellation()
        let waited = now - began
        emit(.gotSlot(waited: waited))
        return waited
    }
}
