/// What follows a failed attempt: the wait before the next one, or the request's final error.
extension RequestRunner {
    /// Begins the wait that a decision asks for. First asks the host's circuit, `Retry-After` and budget.
    ///
    /// - Throws: The request's final error, if no attempt follows.
    func beginWait(_ decision: RetryDecision, after failure: AttemptFailure) throws -> RetryWait {
        try advance { !$0.isStopped }
        emit(.decided(decision))
        guard case .retry(let delay, let observers, let restartsBackoff, let restartsCount, let request) = decision
        else {
            let ownError: (any Error)? = if case .fail(let error) = decision { error } else { nil }
            throw ending(
                ownError ?? failure.error, in: failure.stage,
                notRetried: configuration.retryPolicy.reasonNotToRetry(failure) ?? .decision,
                isOfAttempt: ownError == nil)
        }
        requestState.withLock { state in
            if let request { state.original.replace(with: request) }
            if restartsBackoff { state.failures.restartBackoff() }
            if restartsCount { state.failures.restartCount(after: failure) }
        }
        let plan = try plan(delay, after: failure)
        let wait = RetryWait(knownEnd: knownEnd(after: failure), observers: observers, on: configuration.requestClock)
        try begin(wait, plan.delay, or: plan.observers(of: observers), after: failure, because: plan.reason)
        return wait
    }

    private func begin(
        _ wait: RetryWait, _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure,
        because reason: WaitReason
    ) throws {
        try advance { $0.enterWait(wait, after: failure, because: reason) }
        emit(.waits(delay), because: reason)
        wait.begin(
            delay, or: observers, after: failure, in: configuration.hosts, random: configuration.randomSource)
    }

    /// Asks the host's circuit, `Retry-After` and budget about a retry that was decided.
    ///
    /// - Throws: The request's final error, if there is no time for the wait or no room in the budget.
    func plan(_ delay: Duration, after failure: AttemptFailure) throws -> PlannedWait {
        let (hosts, charge) = (configuration.hosts, charge(for: failure))
        let open = configuration.circuitBreaker.map { breaker in
            hosts.visit(Origin(failure.lastURL)) { $0.circuit(breaker).timeLeft(at: $1) }
        }
        let host = hosts.visit(Origin(failure.request.url)) { host, now in
            PlannedWait.Host(
                open: .nanoseconds(open ?? 0),
                silence: configuration.sharesRetryAfter
                    ? host.timeLeftAlone(afterSending: failure.wasSent, at: now) : .zero,
                shortage: charge.map { host.shortage(of: $0.cost, in: $0.budget, at: now) } ?? 0)
        }
        do {
            return try PlannedWait(
                delay, after: failure, host: host, by: configuration.retryPolicy, using: configuration.randomSource)
        } catch {
            throw ending(refusal: error, after: failure)
        }
    }

    /// Replaces the delay and the observers of the wait before the next attempt, if that is under way.
    func replaceWait(by delay: Duration, or observers: [any EarlyRetryObserver]) {
        guard case .waiting(let wait, let failure) = requestState.withLock({ $0.phase }), case .attempt = wait.purpose
        else { return }
        let isReplaced = wait.replace(
            delay, or: observers, after: failure, in: configuration.hosts, random: configuration.randomSource)
        if isReplaced { emit(.waits(delay), because: .backoff) }
    }

    /// Called when the wait after a failed attempt is over. Draws the retry on the budget, which may require a second
    /// wait.
    ///
    /// Every retry is drawn here, once. A retry that the recovery of its host released needs no room. A retry that
    /// `retryNow()` woke does not wait for room.
    ///
    /// - Parameter wake: What ended the wait. After a second wait it becomes that of both.
    /// - Returns: The second wait. `nil` if the next attempt follows.
    /// - Throws: The request's final error, if there is no room.
    func goOn(after wake: inout Wake) throws -> RetryWait? {
        emit(.woke(wake.reason))
        guard case .waiting(let wait, let failure) = requestState.withLock({ $0.phase }) else {
            throw CancellationError()
        }
        if case .budget(let first) = wait.purpose {
            if wake.release != nil { takeBackDraw() }
            wake = wake.following(first)
            return nil
        }
        let room = try draw(after: wake, failure)
        guard room > .zero else { return nil }
        let second = RetryWait(
            for: .budget(after: wake), knownEnd: knownEnd(after: failure), on: configuration.requestClock)
        try begin(second, room, or: wait.tabledObservers, after: failure, because: .budget)
        return second
    }

    /// Draws a retry on the budget.
    ///
    /// - Returns: How long the retry must still wait for room. Zero if it goes at once.
    /// - Throws: The request's final error, if there is no room.
    private func draw(after wake: Wake, _ failure: AttemptFailure) throws -> Duration {
        // The draw for an attempt that was not sent.
        takeBackDraw()
        guard wake.release == nil, let (budget, cost) = charge(for: failure) else { return .zero }
        let (hosts, origin) = (configuration.hosts, Origin(failure.request.url))
        let drawn: (wait: Duration, draw: RetryDraw)?
        if wake.reason == .retryNow {
            // Only tokens that come back with time can be taken before they are there.
            guard !budget.countsSuccesses else { return .zero }
            hosts.visit(origin) { $0.spend(cost, of: budget, at: $1) }
            drawn = (.zero, RetryDraw(cost, from: budget, of: origin, in: hosts))
        } else {
            drawn = hosts.draw(cost, from: budget, of: origin, within: timeLeft)
        }
        guard let (wait, draw) = drawn else { throw ending(refusal: failure.exhaustedBudget, after: failure) }
        // The request may have ended meanwhile.
        if !requestState.withLock({ $0.note(draw) }) { draw.takeBack() }
        return wait
    }

    private func takeBackDraw() {
        requestState.withLock { $0.takeUnusedDraw() }?.takeBack()
    }

    /// The budget for the retry after a failure, and what the retry takes from it. A refused attempt was not sent, and a
    /// shortage on this side is not the host's fault. Neither draws on a budget.
    private func charge(for failure: AttemptFailure) -> (budget: RetryBudget, cost: Double)? {
        guard !failure.wasRefused, failure.codeOfOurs != .outOfLocalResources, let budget = configuration.retryBudget
        else { return nil }
        return (budget, budget.cost(after: failure.error, status: failure.head?.status))
    }

    /// The request's final error, if a retry that was decided is refused.
    private func ending(refusal: RequestError, after failure: AttemptFailure) -> any Error {
        ending(refusal, in: failure.stage, notRetried: refusal.reason.map { .said($0) }, isOfAttempt: false)
    }

    /// The time until which a failed request's host must be left alone, as far as it is known now.
    private func knownEnd(after failure: AttemptFailure) -> Duration {
        guard configuration.sharesRetryAfter else { return .zero }
        return .nanoseconds(configuration.hosts.visit(Origin(failure.request.url)) { $0.silenceEnd(at: $1) })
    }

    /// The time within which the next attempt must begin.
    var timeLeft: Duration {
        let moment = now
        let (elapsed, sinceSending) = requestState.withLock {
            ($0.elapsed(at: moment), $0.elapsedSinceSending(at: moment))
        }
        return configuration.retryPolicy.timeLeft(
            elapsed: sinceSending, untilDeadline: configuration.deadline.map { $0 - elapsed })
    }
}
