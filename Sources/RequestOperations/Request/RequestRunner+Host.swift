/// What a request tells the registry of hosts, and asks it, while it runs.
extension RequestRunner {
    /// Records that the attempt's response was accepted and decoded.
    ///
    /// - Parameters:
    ///   - release: The release of the attempt, if it had one.
    ///   - isAwaited: Whether other requests waited for the host when the attempt was sent, or it was a probe.
    func noteSuccess(_ release: Release?, isAwaited: Bool) {
        release?.settle(.succeeded)
        let refund = configuration.retryBudget?.refund
        // Usually nothing waits for a success.
        guard isAwaited && release == nil || refund != nil else { return }
        let (hosts, budget) = (configuration.hosts, configuration.retryBudget)
        let (request, isFirst, draw) = requestState.withLock {
            ($0.attempt()?.request, $0.failures.lastFailed == nil, $0.spentDraw)
        }
        let origin = Origin(request?.url)
        if let draw {
            draw.succeeded()
        } else if isFirst, let budget, let refund {
            hosts.visit(origin) { $0.give(refund, to: budget, at: $1) }
        }
        if isAwaited, release == nil { hosts.tell(.success, to: origin) }
    }

    /// Records that a released attempt has failed.
    ///
    /// An attempt that was not sent says nothing about the host. The cause, such as a full line or an adapter, may stop
    /// the next one too. So no other attempt takes its place.
    func settle(_ release: Release, by error: any Error) {
        let outcome: Release.Outcome? =
            switch outcome(of: error) {
            case _ where (error as? RequestError)?.code == .circuitOpen: nil
            case .failed: .failed
            case .succeeded: .passesOn
            case .cancelled: error is TransferFailure ? .passesOn : nil
            }
        release.settle(outcome)
    }

    /// What an attempt that ended with an error shows about its host.
    func outcome(of error: any Error) -> CircuitState.Outcome {
        let policy = configuration.retryPolicy
        guard work.isOther, !(error is RequestError), !error.meansCancellation else {
            return policy.outcome(of: error)
        }
        // A permanent error of other work shows nothing about the host. Nor does an error after a cancel.
        let isTransient = policy.isTransient?(error) ?? true
        return isTransient && !Task.isCancelled ? .failed : .cancelled
    }

    /// Asks the circuit of a host for a permit. Returns `nil` if the policy has no breaker.
    ///
    /// - Throws: ``RequestError/Code/circuitOpen``.
    func circuitPermit(for origin: Origin) throws(RequestError) -> CircuitPermit? {
        guard let breaker = configuration.circuitBreaker else { return nil }
        return try configuration.hosts.admit(to: origin, asking: breaker)?.permit
    }

    /// Records what a response said about its host, for other requests to it.
    func noteRetryAfter(of head: ResponseHead, at date: Date = Date()) {
        guard configuration.sharesRetryAfter else { return }
        let policy = configuration.retryPolicy
        guard policy.sharesRetryAfter(of: head.status), let asked = head.retryAfter(at: date) else { return }
        configuration.hosts.visit(Origin(head.url)) {
            $0.leaveAlone(for: asked, keeping: policy.maximumRetryAfter, at: $1)
        }
    }

    /// Whether an attempt must wait now, because its host must be left alone.
    func isToLeaveAlone(_ task: TransportTask, in attempt: Int) -> Bool {
        guard let knownEnd = knownEnd(by: requestState.withLock { $0.wake(of: attempt) }) else { return false }
        return configuration.hosts.visit(Origin(task.request.url)) { $0.silenceEnd(at: $1) } > knownEnd
    }

    /// Until when an attempt knows that its host is to be left alone. What was known before the last wait was already
    /// part of the decision. Returns `nil` if it is sent anyway, for example because of `retryNow()`.
    private func knownEnd(by wake: Wake?) -> Int64? {
        guard configuration.sharesRetryAfter, wake?.reason != .retryNow else { return nil }
        return wake?.knownEnd.nanoseconds ?? 0
    }

    /// Asks the host whether an attempt may be sent now, and counts the request for the budget. A request to a host of
    /// which nothing is known takes the lock of the table only here.
    ///
    /// - Returns: Whether others wait for the host. `nil` if the host must be left alone.
    /// - Throws: ``RequestError/Code/circuitOpen``. The attempt's rights are then given back.
    func askHost(_ task: TransportTask, _ rights: AttemptRights, in attempt: Int) throws(RequestError) -> Bool? {
        let (wake, isFirst) = requestState.withLock { ($0.wake(of: attempt), $0.firstSent == nil) }
        let budget = isFirst ? configuration.retryBudget : nil
        do {
            let admission = try configuration.hosts.admit(
                to: Origin(task.request.url), knowing: knownEnd(by: wake), counting: budget,
                asking: configuration.circuitBreaker)
            if let permit = admission?.permit { rights.hold(permit: permit) }
            return admission?.isAwaited
        } catch {
            requestState.withLock { $0.noteRefusal(in: attempt) }
            rights.giveBackUnused()
            throw error
        }
    }

    /// Waits before an attempt for as long as the host asked other requests to wait. Returns how long that was.
    ///
    /// - Throws: ``RequestError/Code/retryAfterTooLong``, `CancellationError`.
    func leaveAlone(_ task: TransportTask, in attempt: Int) async throws -> Duration {
        let (policy, hosts, origin) = (configuration.retryPolicy, configuration.hosts, Origin(task.request.url))
        let wasSent = requestState.withLock { $0.firstSent != nil }
        var waited = Duration.zero
        var reason = WakeReason.backoff
        // Meanwhile another response may ask for more time.
        while reason != .retryNow {
            let asked = hosts.visit(origin) { $0.timeLeftAlone(afterSending: wasSent, at: $1) }
            guard asked > .zero else { break }
            let left = timeLeft(by: policy)
            let next = PlannedWait.spread(asked, within: left, using: configuration.randomSource)
            // If nothing of a request was sent, a `Retry-After` of another request only delays it.
            guard asked <= policy.maximumRetryAfter || !wasSent, next < left else {
                throw RequestError(
                    .retryAfterTooLong, stage: .wait,
                    reason: "the host asked another request to wait for \(asked) more")
            }
            let wake = try await wait(next, in: attempt, as: .waits(next), because: .retryAfter)
            waited += wake.waited
            reason = wake.reason
        }
        try advance { $0.note(Wake(waited: waited, reason: reason, knownEnd: .zero), in: attempt) }
        return waited
    }

    /// Waits before a first attempt for a network. Only the deadline limits that wait.
    ///
    /// - Throws: `CancellationError`.
    func awaitConnectivity(in attempt: Int) async throws {
        let path = configuration.networkPath
        while !path.isConnected {
            giveUpPlaceInQueue(in: attempt)
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
        emit(step, because: reason)
        wait.begin(delay, or: observers, in: configuration.hosts, random: configuration.randomSource)
        let wake = try await wait.wake
        emit(.woke(wake.reason))
        return wake
    }
}
