/// What a request tells the registry of hosts, and asks it, while it runs.
extension RequestRunner {
    /// Records that the attempt's response was accepted and decoded.
    ///
    /// - Parameter release: The release of the attempt, if it had one.
    func noteSuccess(_ release: Release?) {
        release?.settle(.succeeded)
        let (hosts, budget) = (configuration.hosts, configuration.retryBudget)
        // Usually nothing waits for a success.
        let isAwaited = release == nil && hosts.recoveries.awaitsSuccess()
        guard isAwaited || budget?.countsSuccesses == true else { return }
        let (request, isFirst, draw) = requestState.withLock {
            ($0.attempt()?.request, $0.failures.lastFailed == nil, $0.spentDraw)
        }
        let origin = Origin(request?.url)
        if let draw {
            draw.succeeded()
        } else if isFirst, let budget {
            hosts.budgets.countSuccess(of: origin, under: budget)
        }
        if isAwaited { hosts.recoveries.succeeded(origin) }
    }

    /// Records that a released attempt has failed.
    ///
    /// An attempt that was not sent says nothing about the host. The cause, such as a full line or an adapter, may stop
    /// the next one too. So no other attempt takes its place.
    func settle(_ release: Release, by error: any Error) {
        let outcome: Release.Outcome =
            switch outcome(of: error) {
            case _ where (error as? RequestError)?.code == .circuitOpen: .untold
            case .failed: .failed
            case .succeeded: .passesOn
            case .cancelled: error is TransferFailure ? .passesOn : .untold
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
        return try configuration.hosts.circuits.admit(CircuitTable.Key(origin: origin, terms: breaker.terms))
    }

    /// Records what a response said about its host, for other requests to it.
    func noteRetryAfter(of head: ResponseHead, at date: Date = Date()) {
        guard let silences = configuration.silences else { return }
        let policy = configuration.retryPolicy
        guard policy.sharesRetryAfter(of: head.status), let asked = head.retryAfter(at: date) else { return }
        silences.note(asked, for: Origin(head.url), keeping: policy.maximumRetryAfter)
    }

    /// Whether an attempt must wait now, because its host must be left alone.
    ///
    /// `retryNow()` overrides that. What was known before the last wait was already part of the decision.
    func isToLeaveAlone(_ task: TransportTask, in attempt: Int) -> Bool {
        guard let silences = configuration.silences, silences.isInUse else { return false }
        let wake = requestState.withLock { $0.attempt(attempt)?.wake }
        guard wake?.reason != .retryNow else { return false }
        return silences.end(for: Origin(task.request.url)) > wake?.knownEnd ?? .zero
    }

    /// Waits before an attempt for as long as the host asked other requests to wait. Returns how long that was.
    ///
    /// - Throws: ``RequestError/Code/retryAfterTooLong``, `CancellationError`.
    func leaveAlone(_ task: TransportTask, in attempt: Int) async throws -> Duration {
        let (policy, silences, origin) = (
            configuration.retryPolicy, configuration.hosts.silences, Origin(task.request.url)
        )
        let wasSent = requestState.withLock { $0.firstSent != nil }
        var waited = Duration.zero
        var reason = WakeReason.backoff
        // Meanwhile another response may ask for more time.
        while reason != .retryNow {
            let asked = silences.timeLeft(for: origin, afterSending: wasSent)
            guard asked > .zero else { break }
            let left = timeLeft(by: policy)
            let next = SilenceTable.spread(asked, within: left, using: configuration.randomSource)
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

    /// Waits before a first attempt for a network, if the configuration says so. Only the deadline limits that wait.
    ///
    /// - Throws: `CancellationError`.
    func awaitConnectivity(in attempt: Int) async throws {
        guard configuration.waitsForConnectivity, attempt == 1 else { return }
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
