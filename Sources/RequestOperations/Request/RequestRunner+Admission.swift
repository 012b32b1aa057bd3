/// How an attempt gets all that it needs before it is sent: a place of its queue, a slot of its configuration's limiter,
/// and leave from its host.
///
/// The place in the queue comes first: an attempt has one before its request is processed. It releases the place while
/// it waits for anything else before it is sent. Then it returns to the request's old position in the queue.
extension RequestRunner {
    // MARK: A network

    /// Waits before a first attempt for a network. Only the deadline limits that wait.
    ///
    /// - Throws: `CancellationError`.
    func awaitConnectivity(in attempt: Int) async throws {
        let path = configuration.networkPath
        while !path.isConnected {
            takeOutPlace(in: attempt)?.release(isUnused: true)
            let observer = ReachabilityObserver(path: path, countsWhatIs: true)
            let wake = try await wait(
                .seconds(Int64.max), or: [observer], in: attempt, as: .waitsForConnectivity, because: nil)
            // The deadline has its own alarm. This endless wait ends by itself only if the clock cannot sleep.
            guard case .observer = wake.reason else { return }
        }
    }

    /// Waits in an attempt that was not sent yet.
    ///
    /// - Parameters:
    ///   - delay: How long to wait.
    ///   - observers: End the wait early.
    ///   - attempt: The number of the attempt.
    ///   - step: How the wait is reported.
    ///   - reason: Why it waits, for a step that says so.
    private func wait(
        _ delay: Duration, or observers: [any EarlyRetryObserver] = [], in attempt: Int, as step: RequestEvent.Step,
        because reason: WaitReason?
    ) async throws -> Wake {
        let wait = RetryWait(on: configuration.requestClock)
        try advance { $0.enter(wait, in: attempt) }
        emit(step, because: reason, in: attempt)
        wait.begin(delay, or: observers, in: configuration.hosts, random: configuration.randomSource)
        let wake = try await wait.wake
        requestState.withLock { $0.noteWait(of: wake.waited, in: attempt) }
        emit(.woke(wake.reason), in: attempt)
        return wake
    }

    // MARK: Admission

    /// Admits a task. Waits until its host need no longer be left alone, and for its slots.
    ///
    /// While the attempt waits for a slot, a response may ask all requests to leave the host alone. So the attempt checks
    /// again when it has a slot. If it must wait, it releases the slot, waits, and returns to its old position.
    ///
    /// - Parameters:
    ///   - task: The task to send, completed from the configuration.
    ///   - attempt: The number of the attempt.
    /// - Returns: `nil` if the wait was so long that the request must be processed again. The attempt then keeps its
    ///   position. This happens once for each attempt, because a transfer may take longer than the freshness.
    func admit(_ task: TransportTask, in attempt: Int) async throws -> AdmittedTask? {
        let origin = Origin(task.request.url)
        var (mayBeStale, isInQueue, needsPlace) = (false, false, false)
        try advance { state in
            let goesOn = state.note(task, in: attempt)
            mayBeStale = state.mayBeProcessedAgain(attempt)
            isInQueue = state.turn != nil
            needsPlace = isInQueue && state.queuePlace(of: attempt) == nil
            return goesOn
        }
        var waited = Duration.zero
        let longest = mayBeStale ? configuration.freshness : .seconds(Int64.max)
        // The attempt could wait in vain for a limiter or a queue. So it asks the host first.
        var asksFirst = needsPlace || configuration.limiter != nil
        while true {
            if asksFirst, isToLeaveAlone(origin, in: attempt) {
                takeOutPlace(in: attempt)?.release(isUnused: true)
                waited += try await leaveAlone(origin, in: attempt)
                // Meanwhile another response may have asked for more time.
                continue
            }
            if isInQueue { waited += try await takePlace(for: origin, in: attempt) }
            if waited <= longest, let limiter = ownLimiter {
                waited += try await takeSlot(of: limiter, for: origin, in: attempt)
            }
            if waited <= longest, let isAwaited = try askHost(origin, in: attempt) {
                return AdmittedTask(attempt: attempt, task: task, isAwaited: isAwaited)
            }
            let slot = requestState.withLock { state in state.changeRights(of: attempt) { $0.slot.take() } ?? nil }
            slot?.release(isUnused: true)
            if waited > longest, !isToLeaveAlone(origin, in: attempt) { return nil }
            asksFirst = true
        }
    }

    /// The limiter of the configuration, unless that is the queue's.
    var ownLimiter: RequestLimiter? {
        guard let limiter = configuration.limiter else { return nil }
        return requestState.withLock { $0.turn?.limiter } === limiter ? nil : limiter
    }

    /// Takes a place in the queue for a host, if there is a queue and the attempt has no place. Returns how long that took.
    ///
    /// If the request was processed for another host than its original one, its place is exchanged. In a suspended
    /// queue, a request that has sent nothing yet releases its place and waits.
    ///
    /// - Parameter origin: The host for which it waits. `nil` means the host of the original request, or that of the place
    ///   that the attempt has.
    @discardableResult
    func takePlace(for origin: Origin? = nil, in attempt: Int) async throws -> Duration {
        let (turn, place, wasSent) = requestState.withLock {
            ($0.turn, $0.queuePlace(of: attempt), $0.firstSent != nil)
        }
        guard let turn else { return .zero }
        if let place {
            guard let origin else { return .zero }
            if place.limiter.isSuspended, !wasSent {
                takeOutPlace(in: attempt)?.release(isUnused: true)
            } else if place.origin == origin {
                return .zero
            } else if let exchanged = takeOutPlace(in: attempt)?.exchanged(for: origin) {
                try keep(place: exchanged, in: attempt)
                return .zero
            }
        }
        let origin = origin ?? Origin(original.url)
        return try await waitForSlot(in: attempt) {
            let position = position(of: turn)
            let place = try await position.limiter.slot(for: origin, at: position.place, as: position.standing)
            try keep(place: place, in: attempt)
        }
    }

    /// Where an attempt waits for its queue.
    private func position(of turn: QueuePlace) -> JointWait.Position {
        let (priority, wasSent) = requestState.withLock { ($0.priority, $0.firstSent != nil) }
        return JointWait.Position(
            limiter: turn.limiter, place: turn.position.with(priority), standing: wasSent ? .later : .first)
    }

    /// Takes a slot of the configuration's limiter. If none is free, the attempt releases its place in the queue and
    /// waits for both. Returns how long that took.
    private func takeSlot(of limiter: RequestLimiter, for origin: Origin, in attempt: Int) async throws -> Duration {
        var (turn, former): (QueuePlace?, RequestLimiter.Place?)
        let place = requestState.withLock { state in
            (turn, former) = (state.turn, state.place(of: attempt))
            let place = (former ?? limiter.newPlace()).with(state.priority)
            state.keep(place, of: attempt)
            return place
        }
        return try await waitForSlot(in: attempt) { [turn, former] in
            if let slot = limiter.slotAtOnce(for: origin) { return try keep(slot: slot, in: attempt) }
            takeOutPlace(in: attempt)?.release(isUnused: true)
            guard let turn else {
                let slot = try await limiter.slot(for: origin, at: place, mayBeRejected: former == nil)
                return try keep(slot: slot, in: attempt)
            }
            let (queue, own) = (position(of: turn), JointWait.Position(limiter: limiter, place: place))
            try await JointWait(for: origin, of: queue, and: own, mayBeRejected: former == nil).outcome()
            try keep(
                place: RequestLimiter.Slot(of: queue.limiter, for: origin),
                slot: RequestLimiter.Slot(of: limiter, for: origin), in: attempt)
        }
    }

    /// Waits for a slot and reports that. Returns how long it took.
    private func waitForSlot(in attempt: Int, _ takeSlot: () async throws -> Void) async throws -> Duration {
        try advance { $0.enter(.slot, in: attempt) }
        let began = now
        emit(.waitsForSlot, in: attempt)
        try await takeSlot()
        let waited = now - began
        // The slot may have been granted at the moment of the cancel.
        try advance { $0.noteSlot(after: waited, in: attempt) }
        try Task.checkCancellation()
        emit(.gotSlot(waited: waited), in: attempt)
        return waited
    }

    // MARK: What the attempt holds

    /// Keeps a place of the queue, a slot of the configuration's limiter, or both, for an attempt.
    ///
    /// - Throws: `CancellationError` if the attempt has released everything. They are then free again.
    private func keep(
        place: RequestLimiter.Slot? = nil, slot: RequestLimiter.Slot? = nil, in attempt: Int
    ) throws {
        let (kept, turn): (Void?, QueuePlace?) = requestState.withLock { state in
            let kept: Void? = state.changeRights(of: attempt) { rights in
                if let place { rights.place = place }
                if let slot { rights.slot = slot }
            }
            return (kept, state.turn)
        }
        guard kept != nil else {
            [place, slot].compactMap { $0 }.release(isUnused: true)
            throw CancellationError()
        }
        if let place { turn?.keep(place) }
    }

    /// Keeps a circuit permit for an attempt. If the attempt has released everything, the permit is released at once.
    func keep(_ permit: CircuitPermit, in attempt: Int) {
        let kept: Void? = requestState.withLock { $0.changeRights(of: attempt) { $0.permit = permit } }
        if kept == nil { permit.finish(.cancelled) }
    }

    /// Takes out the attempt's place of the queue, which the caller releases or exchanges.
    private func takeOutPlace(in attempt: Int) -> RequestLimiter.Slot? {
        let (place, turn) = requestState.withLock { state in
            (state.changeRights(of: attempt) { $0.place.take() } ?? nil, state.turn)
        }
        if let place { turn?.forget(place) }
        return place
    }

    /// Releases all that an attempt holds. A second call does nothing.
    ///
    /// - Parameters:
    ///   - outcome: What the attempt shows about its host. It is asked for only if the attempt holds something.
    ///   - isUnused: Whether nothing was sent.
    func release(_ outcome: @autoclosure () -> CircuitState.Outcome, isUnused: Bool = false, in attempt: Int) {
        requestState.withLock { $0.takeRights(of: attempt) }?.release(outcome(), isUnused: isUnused)
    }

    // MARK: The host

    /// Asks the host whether an attempt may be sent now, and counts the request for the budget. A request to a host of
    /// which nothing is known takes the lock of the table only here.
    ///
    /// - Returns: Whether others wait for the host. `nil` if the host must be left alone.
    /// - Throws: ``RequestError/Code/circuitOpen``. The attempt then holds nothing.
    private func askHost(_ origin: Origin, in attempt: Int) throws(RequestError) -> Bool? {
        let (wake, isFirst) = requestState.withLock { ($0.wake(of: attempt), $0.firstSent == nil) }
        do {
            let admission = try configuration.hosts.admit(
                to: origin, knowing: knownEnd(by: wake), counting: isFirst ? configuration.retryBudget : nil,
                asking: configuration.circuitBreaker)
            if let permit = admission?.permit { keep(permit, in: attempt) }
            return admission?.isAwaited
        } catch {
            requestState.withLock { $0.noteRefusal(in: attempt) }
            release(.cancelled, isUnused: true, in: attempt)
            throw error
        }
    }

    /// Whether an attempt must wait now, because its host must be left alone.
    private func isToLeaveAlone(_ origin: Origin, in attempt: Int) -> Bool {
        guard let knownEnd = knownEnd(by: requestState.withLock { $0.wake(of: attempt) }) else { return false }
        return configuration.hosts.visit(origin) { $0.silenceEnd(at: $1) } > knownEnd
    }

    /// The time until which an attempt knows that its host must be left alone. The decision included what was known
    /// before the last wait. Returns `nil` if it is sent anyway, for example because of `retryNow()`.
    private func knownEnd(by wake: Wake?) -> Int64? {
        guard configuration.sharesRetryAfter, wake?.reason != .retryNow else { return nil }
        return wake?.knownEnd.nanoseconds ?? 0
    }

    /// Waits before an attempt for as long as the host asked other requests to wait. Returns how long that was.
    ///
    /// - Throws: ``RequestError/Code/retryAfterTooLong``, `CancellationError`.
    private func leaveAlone(_ origin: Origin, in attempt: Int) async throws -> Duration {
        let wasSent = requestState.withLock { $0.firstSent != nil }
        let asked = configuration.hosts.visit(origin) { $0.timeLeftAlone(afterSending: wasSent, at: $1) }
        guard asked > .zero else { return .zero }
        let left = timeLeft
        let spread = PlannedWait.spread(asked, within: left, using: configuration.randomSource)
        // If nothing of a request was sent, a `Retry-After` of another request only delays it.
        guard asked <= configuration.retryPolicy.maximumRetryAfter || !wasSent, spread < left else {
            throw RequestError(
                .retryAfterTooLong, stage: .wait,
                reason: "the host asked another request to wait for \(asked) more")
        }
        let wake = try await wait(spread, in: attempt, as: .waits(spread), because: .retryAfter)
        try advance { $0.note(wake, in: attempt) }
        return wake.waited
    }
}
