/// How a request's attempts get their places in its queue, and their slots of its configuration's limiter.
///
/// The queue's place comes first: an attempt has one before its request is processed. It gives it back while it waits for
/// anything else before it is sent, and then lines up again at the request's old place.
extension RequestRunner {
    /// The request is about to be started in a queue.
    ///
    /// - Parameters:
    ///   - turn: How it stands there.
    ///   - slot: The place of its first attempt, if it has one already.
    func join(_ turn: QueueTurn, with slot: RequestLimiter.Slot?) {
        progress.withLock { progress in
            progress.turn = turn
            progress.held.queueSlot = slot
        }
    }

    /// The limiter of the configuration, unless that is the queue's.
    var ownLimiter: RequestLimiter? {
        guard let limiter = configuration.limiter else { return nil }
        return progress.withLock { $0.turn?.limiter } === limiter ? nil : limiter
    }

    /// Tells the limiters of the queue and of the configuration what a host answered, each once.
    func limitersHear(of head: ResponseHead) {
        let queue = progress.withLock { $0.turn?.limiter }
        queue?.heard(head.status, from: head.url)
        if let limiter = configuration.limiter, limiter !== queue { limiter.heard(head.status, from: head.url) }
    }

    /// Takes a place of the queue, if there is a queue and the attempt has none of it.
    ///
    /// - Parameter origin: The host whose line it stands in; that of the original request, if `nil`.
    func takePlaceInQueue(in attempt: Int, for origin: Origin? = nil) async throws {
        guard let line = progress.withLock({ $0.lineInQueue }) else { return }
        let origin = origin ?? Origin(original.url)
        let (slot, _) = try await waitForSlot(in: attempt) {
            try await line.limiter.slot(for: origin, at: line.place, as: line.standing)
        }
        if let slot { try hold(inQueue: slot) }
    }

    /// Gives the place of the queue back, which was not used.
    func giveUpPlaceInQueue() {
        progress.withLock { $0.takeQueueSlot() }?.release(isUnused: true)
    }

    private func hold(inQueue slot: RequestLimiter.Slot) throws {
        do {
            try advance { $0.hold(inQueue: slot) }
        } catch {
            slot.release(isUnused: true)
            throw error
        }
    }

    /// Lets an attempt in: waits until its host is not to be left alone any longer, and for its slots.
    ///
    /// A response may ask to leave the host alone while the attempt stands in the line. So it asks again when it has a
    /// slot. If need be it gives the slot back, waits, and stands in the line again at its old place.
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
            if isToLeaveAlone(task, after: admission.wake) {
                giveUpPlaceInQueue()
                let wake = try await leaveAlone(task)
                admission.note(wake)
                waited += wake.waited
                guard !admission.isStale(after: waited, freshness: freshness) else {
                    admission.processAgain()
                    try await takePlaceInQueue(in: attempt)
                    return nil
                }
            }
            let (slot, time) = try await slots(for: task, &admission)
            waited += time
            guard !isToLeaveAlone(task, after: admission.wake) else {
                slot?.release(isUnused: true)
                continue
            }
            guard !admission.isStale(after: waited, freshness: freshness) else {
                slot?.release(isUnused: true)
                admission.processAgain()
                return nil
            }
            let queueSlot = progress.withLock { $0.held.queueSlot }
            return Admission.Ticket(
                attempt: attempt, task: task, held: HeldByAttempt(queueSlot: queueSlot, slot: slot))
        }
    }

    /// Has an attempt hold a place of the queue for its host, and takes a slot of the limiter.
    ///
    /// - Returns: The slot, and how long all of that took.
    private func slots(
        for task: TransportTask, _ admission: inout Admission
    ) async throws -> (RequestLimiter.Slot?, waited: Duration) {
        let origin = Origin(task.request.url)
        let waited = try await placeInQueue(for: origin, in: admission.attempt)
        guard let limiter = ownLimiter else { return (nil, waited) }
        let former = admission.place
        let place = (former ?? limiter.newPlace()).with(progress.withLock { $0.priority })
        admission.place = place
        let (slot, time) = try await waitForSlot(in: admission.attempt) {
            if let slot = limiter.slotAtOnce(for: origin, at: place) { return slot }
            giveUpPlaceInQueue()
            guard let queue = progress.withLock({ $0.lineInQueue }) else {
                return try await limiter.slot(for: origin, at: place, mayBeRejected: former == nil)
            }
            let line = JointWait.Line(limiter: limiter, place: place)
            let wait = JointWait(for: origin, of: queue, and: line, mayBeRejected: former == nil)
            try await wait.outcome()
            let slot = RequestLimiter.Slot(of: limiter, for: origin, at: place)
            try hold(inQueue: RequestLimiter.Slot(of: queue.limiter, for: origin, at: queue.place))
            return slot
        }
        return (slot, waited + time)
    }

    /// Has an attempt hold a place of the queue for its host.
    ///
    /// The place that it has is exchanged as for a redirect, if it is for another host. In a queue that is suspended what would
    /// be the first attempt gives its place back, and waits.
    private func placeInQueue(for origin: Origin, in attempt: Int) async throws -> Duration {
        guard let turn = progress.withLock({ $0.turn }) else { return .zero }
        let began = now
        if progress.withLock({ !$0.wasSent }), turn.limiter.isSuspended { giveUpPlaceInQueue() }
        guard let slot = progress.withLock({ $0.held.queueSlot }) else {
            try await takePlaceInQueue(in: attempt, for: origin)
            return now - began
        }
        guard !slot.isFor(origin) else { return .zero }
        try await exchange([slot], for: origin, in: attempt)
        return now - began
    }

    /// Exchanges the places that slots have at a host for those at another one.
    func exchange(_ slots: [RequestLimiter.Slot], for origin: Origin, in attempt: Int) async throws {
        _ = try await waitForSlot(in: attempt) {
            try await slots.exchangeHosts(for: origin)
            return nil
        }
    }

    /// Waits for a slot, and tells of that.
    ///
    /// - Returns: What the body returns, and how long it took.
    private func waitForSlot(
        in attempt: Int, _ body: () async throws -> RequestLimiter.Slot?
    ) async throws -> (RequestLimiter.Slot?, waited: Duration) {
        try advance { $0.enter(.slot, in: attempt) }
        let began = now
        emit(.waitsForSlot)
        let slot = try await body()
        do {
            // The slot may have been given in the moment of the cancel.
            try advance { $0.enter(.slot, in: attempt) }
            try Task.checkCancellation()
        } catch {
            slot?.release(isUnused: true)
            throw error
        }
        let waited = now - began
        emit(.gotSlot(waited: waited))
        return (slot, waited)
    }
}
