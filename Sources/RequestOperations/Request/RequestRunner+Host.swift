/// What a request tells of the host that it goes to, and hears of it from others.
extension RequestRunner {
    /// The attempt's response was accepted and decoded.
    ///
    /// - Parameter release: That of an attempt that was released.
    func noteSuccess(_ release: Release?) {
        release?.settle(.succeeded)
        let (hosts, budget) = (configuration.hosts, configuration.retryBudget)
        // Mostly nobody wants to know.
        let isAwaited = release == nil && hosts.recoveries.awaitsSuccess()
        guard isAwaited || budget?.countsSuccesses == true else { return }
        let (request, isFirst, draw) = progress.withLock {
            ($0.known.request, $0.lastFailed == nil, $0.known.hedgeDraw ?? $0.spentDraw)
        }
        let origin = Origin(request?.url)
        if let draw {
            draw.succeeded()
        } else if isFirst, let budget {
            hosts.budgets.countSuccess(of: origin, under: budget)
        }
        if isAwaited { hosts.recoveries.succeeded(origin) }
    }

    /// An attempt that was released has failed.
    ///
    /// One that was not sent says nothing of the host. What stopped it, as a full line or an adapter, may stop the next as well,
    /// so that none goes in its place.
    func settle(_ release: Release, by error: any Error) {
        let outcome: Release.Outcome =
            switch configuration.retryPolicy.outcome(of: error) {
            case _ where (error as? RequestError)?.code == .circuitOpen: .untold
            case .failed: .failed
            case .succeeded: .passesOn
            case .cancelled: error is TransferFailure ? .passesOn : .untold
            }
        release.settle(outcome)
    }

    // MARK: Before a retry

    /// Asks what is known of the host about a retry that was decided.
    ///
    /// - Throws: What the request ends with, where there is no time for the wait or no room in the budget.
    func plan(_ delay: Duration, after failure: AttemptFailure) throws -> PlannedWait {
        let (policy, hosts, origin) = (configuration.retryPolicy, configuration.hosts, Origin(failure.request.url))
        let open = policy.circuitBreaker.map { breaker in
            hosts.circuits.timeLeft(for: CircuitTable.Key(origin: Origin(failure.lastURL), terms: breaker.terms))
        }
        let silence = configuration.silences?.timeLeft(for: origin, afterSending: failure.wasSent)
        let refusal: PlannedWait.Refusal
        do {
            let wait = try PlannedWait(
                delay, after: failure, host: PlannedWait.Host(open: open ?? .zero, silence: silence ?? .zero),
                by: policy,
                using: configuration.randomSource)
            guard isExhausted(for: failure, within: policy.timeLeft(after: failure) - wait.delay) else { return wait }
            refusal = Self.exhausted(failure)
        } catch {
            refusal = error
        }
        throw ending(refusal, after: failure)
    }

    /// Whether the budget surely has no room for the retry after a failure.
    private func isExhausted(for failure: AttemptFailure, within left: Duration) -> Bool {
        guard let budget = budget(after: failure) else { return false }
        return configuration.hosts.budgets.isExhausted(
            for: Origin(failure.request.url), under: budget, after: failure.error, status: failure.head?.status,
            within: left)
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

    /// The budget on which the retry after a failure draws. What was refused was not sent, and a shortage on this side is not
    /// the host's fault: both draw on none.
    private func budget(after failure: AttemptFailure) -> RetryBudget? {
        failure.wasRefused || failure.codeOfOurs == .outOfLocalResources ? nil : configuration.retryBudget
    }

    /// Draws a retry, whoever decided it, whose wait is over; once for each, and nowhere else.
    ///
    /// What the recovery of its host released needs no room, and what `retryNow()` woke does not wait for any.
    ///
    /// - Returns: How long it still has to wait for room; zero if it goes at once.
    /// - Throws: What the request ends with, if there is no room.
    func draw(after wake: Wake, _ failure: AttemptFailure) throws -> Duration {
        // What it drew for an attempt that was not sent.
        progress.withLock { $0.takeUnusedDraw() }?.takeBack()
        guard wake.release == nil, let budget = budget(after: failure) else { return .zero }
        let (budgets, origin) = (configuration.hosts.budgets, Origin(failure.request.url))
        guard wake.reason != .retryNow else {
            keep(budgets.withdrawAnyway(to: origin, under: budget))
            return .zero
        }
        let withdrawal = budgets.withdraw(
            to: origin, under: budget, after: failure.error, status: failure.head?.status,
            within: timeLeft(by: configuration.retryPolicy))
        guard case .granted(let wait, let draw) = withdrawal else {
            throw ending(Self.exhausted(failure), after: failure)
        }
        keep(draw)
        return wait
    }

    private func keep(_ draw: RetryDraw?) {
        // The request may have ended meanwhile.
        if let draw, !progress.withLock({ $0.note(draw) }) { draw.takeBack() }
    }

    /// A wait for room in the budget is over. What a recovery released gives back what it drew.
    func endWaitForRoom(by wake: Wake) {
        if wake.release != nil { progress.withLock { $0.takeUnusedDraw() }?.takeBack() }
    }

    // MARK: Circuit

    /// Asks the circuit of a host, if the policy has a breaker.
    ///
    /// - Throws: ``RequestError/Code/circuitOpen``.
    func circuitPermit(for origin: Origin) throws(RequestError) -> CircuitPermit? {
        guard let breaker = configuration.circuitBreaker else { return nil }
        return try configuration.hosts.circuits.admit(CircuitTable.Key(origin: origin, terms: breaker.terms))
    }

    func permit(for origin: Origin) throws(RequestError) -> Held<CircuitPermit>? {
        guard let permit = try circuitPermit(for: origin) else { return nil }
        return Held(permit)
    }

    // MARK: Retry-After

    /// Keeps what a response said about its host, for other requests to it.
    func noteRetryAfter(of head: ResponseHead, at date: Date = Date()) {
        guard let silences = configuration.silences else { return }
        let policy = configuration.retryPolicy
        guard policy.sharesRetryAfter(of: head.status), let asked = head.retryAfter(at: date) else { return }
        silences.note(asked, for: Origin(head.url), keeping: policy.maximumRetryAfter)
    }

    /// Until when a failed request's host is to be left alone, as far as that is known now.
    func knownEnd(after failure: AttemptFailure?) -> Duration {
        guard let failure, let silences = configuration.silences, silences.isInUse else { return .zero }
        return silences.end(for: Origin(failure.request.url))
    }

    /// Whether an attempt is to wait now, since its host is to be left alone.
    ///
    /// - Parameter wake: What ended the last wait of the attempt. `retryNow()` counts more than any host, and what was known
    ///   before that wait was part of the decision.
    func isToLeaveAlone(_ task: TransportTask, after wake: Wake?) -> Bool {
        guard let silences = configuration.silences, silences.isInUse, wake?.reason != .retryNow else { return false }
        return silences.end(for: Origin(task.request.url)) > wake?.knownEnd ?? .zero
    }

    /// Waits before an attempt as long as the host asked others to.
    ///
    /// - Returns: What ended that, and how long it was.
    /// - Throws: ``RequestError/Code/retryAfterTooLong``, `CancellationError`.
    func leaveAlone(_ task: TransportTask) async throws -> Wake {
        let (policy, silences, origin) = (
            configuration.retryPolicy, configuration.hosts.silences, Origin(task.request.url)
        )
        let wasSent = progress.withLock { $0.wasSent }
        var waited = Duration.zero
        // Meanwhile another response may have asked for longer.
        var reason = WakeReason.backoff
        while reason != .retryNow {
            let asked = silences.timeLeft(for: origin, afterSending: wasSent)
            guard asked > .zero else { break }
            let left = timeLeft(by: policy)
            let next = SilenceTable.spread(asked, within: left, using: configuration.randomSource)
            // What was never sent is only delayed by what another one was told.
            guard asked <= policy.maximumRetryAfter || !wasSent, next < left else {
                throw RequestError(
                    .retryAfterTooLong, stage: .wait,
                    reason: "the host asked another request to wait for \(asked) more")
            }
            let wake = try await outcome(of: beginWait(next, as: .waits(next), because: .retryAfter))
            waited += wake.waited
            reason = wake.reason
        }
        return Wake(waited: waited, reason: reason, knownEnd: .zero)
    }

    /// The time in which the next attempt must begin.
    func timeLeft(by policy: RetryPolicy) -> Duration {
        let moment = now
        let (elapsed, sinceSending) = progress.withLock { ($0.elapsed(at: moment), $0.elapsedSinceSending(at: moment)) }
        return policy.timeLeft(elapsed: sinceSending, untilDeadline: configuration.deadline.map { $0 - elapsed })
    }

    /// Waits before a first attempt for a network, if the configuration says so. Only the deadline ends that wait.
    ///
    /// - Throws: `CancellationError`.
    @inline(__always)
    func awaitConnectivity() async throws {
        if configuration.waitsForConnectivity { try await awaitNetwork() }
    }

    @inline(never)
    private func awaitNetwork() async throws {
        let path = configuration.networkPath
        while !path.isConnected {
            giveUpPlaceInQueue()
            let observer = ReachabilityObserver(path: path, countsWhatIs: true)
            let wait = try beginWait(.seconds(Int64.max), or: [observer], as: .waitsForConnectivity)
            // The deadline has an alarm of its own. A wait without end is over only if the clock cannot sleep.
            guard case .observer = try await outcome(of: wait).reason else { return }
        }
    }
}
