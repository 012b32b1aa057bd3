/// What follows a failed attempt: the wait before the next one, or the request's final error.
extension RequestRunner {
    /// Begins the wait that a decision asks for. First asks the host's circuit, `Retry-After` and budget.
    ///
    /// - Throws: The request's final error, if no attempt follows.
    func beginWait(_ decision: RetryDecision, after failure: AttemptFailure) throws -> RetryWait {
        try advance { !$0.isStopped }
        emit(.decided(decision))
        switch decision {
        case .stop:
            let reason = configuration.retryPolicy.reasonNotToRetry(failure) ?? .decision
            throw ending(failure.error, in: failure.stage, notRetried: reason)
        case .fail(let error):
            let reason = configuration.retryPolicy.reasonNotToRetry(failure) ?? .decision
            throw ending(error, in: failure.stage, notRetried: reason, isOfAttempt: false)
        case .retry(let delay, let observers, let restartsBackoff, let restartsCount, let request):
            requestState.withLock { state in
                if let request { state.original.replace(with: request) }
                if restartsBackoff { state.failures.restartBackoff() }
                if restartsCount { state.failures.restartCount(after: failure) }
            }
            let plan = try plan(delay, after: failure)
            let wait = RetryWait(
                knownEnd: knownEnd(after: failure), observers: observers, on: configuration.requestClock)
            try beginWait(
                wait, plan.delay, or: plan.observers(of: observers), after: failure, because: plan.reason)
            return wait
        }
    }

    private func beginWait(
        _ wait: RetryWait, _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure,
        because reason: WaitReason
    ) throws {
        try advance { $0.enterWait(wait, after: failure) }
        emit(.waits(delay), because: reason)
        wait.begin(
            delay, or: observers, after: failure, in: configuration.hosts, random: configuration.randomSource)
    }

    /// Replaces the delay and the observers of the wait before the next attempt, if that is under way.
    func replaceWait(by delay: Duration, or observers: [any EarlyRetryObserver]) {
        guard case .waiting(let wait, let failure) = requestState.withLock({ $0.phase }), case .attempt = wait.purpose
        else { return }
        let isReplaced = wait.replace(
            delay, or: observers, after: failure, in: configuration.hosts, random: configuration.randomSource)
        if isReplaced { emit(.waits(delay), because: .backoff) }
    }

    /// What follows a wait.
    enum AfterWait {
        /// A second wait, for room in the budget.
        case waits(RetryWait)
        /// The next attempt. Its wake covers both waits.
        case attempt(after: Wake)
    }

    /// Called when the wait after a failed attempt is over. Draws the retry on the budget, which may require a second
    /// wait.
    ///
    /// Every retry is drawn here, once. A retry that the recovery of its host released needs no room. A retry that
    /// `retryNow()` woke does not wait for room.
    ///
    /// - Throws: The request's final error, if there is no room.
    func goOn(after wake: Wake) throws -> AfterWait {
        emit(.woke(wake.reason))
        guard case .waiting(let wait, let failure) = requestState.withLock({ $0.phase }) else {
            throw CancellationError()
        }
        if case .budget(let first) = wait.purpose {
            if wake.release != nil { takeBackDraw() }
            return .attempt(after: wake.following(first))
        }
        let room = try draw(after: wake, failure)
        guard room > .zero else { return .attempt(after: wake) }
        let second = RetryWait(
            for: .budget(after: wake), knownEnd: knownEnd(after: failure), on: configuration.requestClock)
        try beginWait(second, room, or: wait.tabledObservers, after: failure, because: .budget)
        return .waits(second)
    }

    /// Draws a retry on the budget.
    ///
    /// - Returns: How long the retry must still wait for room. Zero if it goes at once.
    /// - Throws: The request's final error, if there is no room.
    private func draw(after wake: Wake, _ failure: AttemptFailure) throws -> Duration {
        // The draw for an attempt that was not sent.
        takeBackDraw()
        guard wake.release == nil, let budget = budget(after: failure) else { return .zero }
        let (hosts, origin) = (configuration.hosts, Origin(failure.request.url))
        let cost = budget.cost(after: failure.error, status: failure.head?.status)
        guard wake.reason != .retryNow else {
            // Only tokens that come back with time can be taken before they are there.
            guard !budget.countsSuccesses else { return .zero }
            hosts.visit(origin) { $0.spend(cost, of: budget, at: $1) }
            keep(RetryDraw(cost, from: budget, of: origin, in: hosts))
            return .zero
        }
        let drawn = hosts.draw(cost, from: budget, of: origin, within: timeLeft(by: configuration.retryPolicy))
        guard let (wait, draw) = drawn else { throw ending(Self.exhausted(failure), after: failure) }
        keep(draw)
        return wait
    }

    private func keep(_ draw: RetryDraw) {
        // The request may have ended meanwhile.
        if !requestState.withLock({ $0.note(draw) }) { draw.takeBack() }
    }

    private func takeBackDraw() {
        requestState.withLock { $0.takeUnusedDraw() }?.takeBack()
    }

    /// Asks the host's circuit, `Retry-After` and budget about a retry that was decided.
    ///
    /// - Throws: The request's final error, if there is no time for the wait or no room in the budget.
    func plan(_ delay: Duration, after failure: AttemptFailure) throws -> PlannedWait {
        let (policy, hosts, origin) = (configuration.retryPolicy, configuration.hosts, Origin(failure.request.url))
        let open = policy.circuitBreaker.map { breaker in
            hosts.visit(Origin(failure.lastURL)) { Duration.nanoseconds($0.circuit(breaker).timeLeft(at: $1)) }
        }
        let silence =
            configuration.sharesRetryAfter
            ? hosts.visit(origin) { $0.timeLeftAlone(afterSending: failure.wasSent, at: $1) } : .zero
        let refusal: PlannedWait.Refusal
        do {
            let wait = try PlannedWait(
                delay, after: failure, host: PlannedWait.Host(open: open ?? .zero, silence: silence),
                by: policy, using: configuration.randomSource)
            guard isExhausted(for: failure, within: policy.timeLeft(after: failure) - wait.delay) else { return wait }
            refusal = Self.exhausted(failure)
        } catch {
            refusal = error
        }
        throw ending(refusal, after: failure)
    }

    /// Whether the budget certainly has no room for the retry after a failure.
    private func isExhausted(for failure: AttemptFailure, within left: Duration) -> Bool {
        guard let budget = budget(after: failure) else { return false }
        let cost = budget.cost(after: failure.error, status: failure.head?.status)
        let wait = configuration.hosts.visit(Origin(failure.request.url)) {
            $0.bucket(of: budget, at: $1).wait(for: cost, at: $1)
        }
        return wait > 0 && (budget.mode == .failing || wait >= left.nanoseconds)
    }

    private func ending(_ refusal: PlannedWait.Refusal, after failure: AttemptFailure) -> any Error {
        ending(
            refusal.error, in: failure.stage, notRetried: refusal.error.reason.map { .said($0) }, isOfAttempt: false)
    }

    private static func exhausted(_ failure: AttemptFailure) -> PlannedWait.Refusal {
        PlannedWait.Refusal(
            .retryBudgetExhausted, after: failure,
            reason: "there were too many retries to the host, in proportion to its requests")
    }

    /// The budget for the retry after a failure. A refused attempt was not sent, and a shortage on this side is not the
    /// host's fault. Neither draws on a budget.
    private func budget(after failure: AttemptFailure) -> RetryBudget? {
        failure.wasRefused || failure.codeOfOurs == .outOfLocalResources ? nil : configuration.retryBudget
    }

    /// The time until which a failed request's host must be left alone, as far as it is known now.
    private func knownEnd(after failure: AttemptFailure) -> Duration {
        guard configuration.sharesRetryAfter else { return .zero }
        return .nanoseconds(configuration.hosts.visit(Origin(failure.request.url)) { $0.silenceEnd(at: $1) })
    }

    /// The time within which the next attempt must begin.
    func timeLeft(by policy: RetryPolicy) -> Duration {
        let moment = now
        let (elapsed, sinceSending) = requestState.withLock {
            ($0.elapsed(at: moment), $0.elapsedSinceSending(at: moment))
        }
        return policy.timeLeft(elapsed: sinceSending, untilDeadline: configuration.deadline.map { $0 - elapsed })
    }
}
