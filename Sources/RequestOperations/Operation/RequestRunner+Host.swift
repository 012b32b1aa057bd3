/// What a request tells of the host that it goes to, and hears of it from others.
extension RequestRunner {
    /// The attempt's response was accepted and decoded.
    ///
    /// - Parameter release: That of an attempt that was released.
    func noteSuccess(_ release: Release?) {
        release?.settle(.succeeded, on: configuration.clock)
        let budget = configuration.retryBudget
        // Mostly nobody wants to know, and then the URL need not be fetched.
        let isAwaited = release == nil && HostRecoveryObserver.lines.awaitsSuccess()
        guard isAwaited || budget?.countsSuccesses == true else { return }
        let (request, isFirst, isHedge, draw) = progress.withLock {
            ($0.known.request, $0.lastFailed == nil, $0.isHedge, $0.spentDraw)
        }
        if isFirst || isHedge {
            budget?.countSuccess(to: request?.url, isHedge: isHedge, on: timeline)
        } else {
            draw?.succeeded()
        }
        if isAwaited { HostRecoveryObserver.lines.succeeded(request?.url) }
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
        release.settle(outcome, on: configuration.clock)
    }

    /// How long a retry waits on that a sign woke, since its budget has no room now; `nil` if it goes at once.
    ///
    /// One that the recovery of its host released needs no room. It gives back what it drew.
    func rest(after wake: Wake, of delay: Duration) -> Duration? {
        guard wake.release == nil else {
            progress.withLock { $0.takeUnusedDraw() }?.takeBack()
            return nil
        }
        guard wake.reason.isSign, let draw = progress.withLock({ $0.unusedDraw }) else { return nil }
        let left = delay - wake.waited
        guard left > .zero else { return nil }
        guard let (moved, wait) = draw.ledger.bringForward(draw, within: left) else { return left }
        // The request may have ended meanwhile, and has given the former back.
        if !progress.withLock({ $0.replaceUnusedDraw(by: moved) }) { moved.takeBack() }
        return wait > .zero ? wait : nil
    }

    /// Keeps what a response said about its host, for other requests to it.
    func noteRetryAfter(of head: ResponseHead, at date: Date = Date()) {
        guard let table = configuration.retryAfterTable else { return }
        let policy = configuration.retryPolicy
        guard policy.sharesRetryAfter(of: head.status), let asked = head.retryAfter(at: date) else { return }
        table.note(asked, for: head.url, on: timeline, keeping: policy.maximumRetryAfter)
    }

    /// Until when a failed request's host is to be left alone, as far as that is known now.
    func knownEnd(after failure: AttemptFailure?) -> Int64 {
        guard let failure, let table = configuration.retryAfterTable else { return 0 }
        return table.end(for: failure.request.url, on: failure.timeline)
    }

    /// The table that asks an attempt to wait now, since its host is to be left alone; `nil` if it may go.
    ///
    /// - Parameter wake: What ended the last wait of the attempt. `retryNow()` counts more than any table, and what was known
    ///   before that wait was part of the decision.
    @inline(__always)
    func tableThatAsksToWait(_ task: TransportTask, after wake: Wake?) -> RetryAfterTable? {
        guard let table = configuration.retryAfterTable, wake?.reason != .retryNow else { return nil }
        return table.end(for: task.request.url, on: timeline) > wake?.knownEnd ?? 0 ? table : nil
    }

    /// Waits before an attempt as long as the host asked others to.
    ///
    /// - Returns: What ended that, and how long it was.
    /// - Throws: ``RequestError/Code/retryAfterTooLong``, `CancellationError`.
    @inline(never)
    func leaveAlone(_ task: TransportTask, by table: RetryAfterTable) async throws -> Wake {
        let policy = configuration.retryPolicy
        let wasSent = progress.withLock { $0.wasSent }
        var waited = Duration.zero
        // Meanwhile another response may have asked for longer.
        var reason = WakeReason.backoff
        while reason != .retryNow {
            let asked = table.timeLeft(for: task.request.url, afterSending: wasSent, on: timeline)
            guard asked > .zero else { break }
            let left = timeLeft(by: policy)
            let next = RetryAfterTable.spread(asked, within: left, using: configuration.randomSource)
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
        return Wake(waited: waited, reason: reason, knownEnd: 0)
    }

    /// The time in which the next attempt must begin.
    func timeLeft(by policy: RetryPolicy) -> Duration {
        let moment = timepiece.moment
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
