/// What a request tells of the host that it goes to, and hears of it from others.
extension RequestRunner {
    /// The attempt's response was accepted and decoded.
    ///
    /// - Parameter release: That of an attempt that was released.
    func noteSuccess(_ release: Release?) {
        release?.settle(.succeeded, on: configuration.clock)
        let budget = configuration.retryBudget
        // Mostly nobody wants to know, and then the URL need not be fetched.
        let isAwaited = release == nil && !HostRecoveryObserver.lines.isEmpty
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
    func settle(_ release: Release, by error: any Error) {
        let isFault = configuration.retryPolicy.outcome(of: error) == .failed
        release.settle(isFault ? .failed : .passesOn, on: configuration.clock)
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
    func noteRetryAfter(of failure: AttemptFailure) {
        guard let table = configuration.retryAfterTable, let head = failure.head else { return }
        let policy = configuration.retryPolicy
        guard policy.sharesRetryAfter(of: head.status), let asked = failure.retryAfter else { return }
        table.note(asked, for: head.url, on: failure.timeline, keeping: policy.maximumRetryAfter)
    }

    /// Until when a failed request's host is to be left alone, as far as that is known now.
    func knownEnd(after failure: AttemptFailure?) -> Int64 {
        guard let failure, let table = configuration.retryAfterTable else { return 0 }
        return table.end(for: failure.request.url, on: failure.timeline)
    }

    /// Waits before an attempt as long as the host asked others to.
    ///
    /// - Parameter wake: What ended the wait before the attempt. What was known before that wait was part of the decision.
    /// - Returns: What ended that, and how long it was; `nil` if it asked nobody.
    /// - Throws: ``RequestError/Code/retryAfterTooLong``, `CancellationError`.
    @inline(__always)
    func leaveAlone(_ task: TransportTask, after wake: Wake?) async throws -> Wake? {
        guard let table = configuration.retryAfterTable, wake?.reason != .retryNow else { return nil }
        let end = table.end(for: task.request.url, on: timeline)
        return end > wake?.knownEnd ?? 0 ? try await leaveAlone(task, by: table) : nil
    }

    @inline(never)
    private func leaveAlone(_ task: TransportTask, by table: RetryAfterTable) async throws -> Wake {
        let policy = configuration.retryPolicy
        var waited = Duration.zero
        // Meanwhile another response may have asked for longer.
        var reason = WakeReason.backoff
        while reason != .retryNow {
            let asked = table.timeLeft(for: task.request.url, on: timeline)
            guard asked > .zero else { break }
            let next = RetryAfterTable.spread(asked, using: configuration.randomSource)
            guard asked <= policy.maximumRetryAfter, next < timeLeft(by: policy) else {
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
        let elapsed = progress.withLock { $0.elapsed(at: moment) }
        return policy.timeLeft(elapsed: elapsed, untilDeadline: configuration.deadline.map { $0 - elapsed })
    }

    /// Waits before a first attempt for a network, if the configuration says so.
    ///
    /// - Throws: ``RequestError/Code/notConnected``, `CancellationError`.
    @inline(__always)
    func awaitConnectivity() async throws {
        if configuration.waitsForConnectivity { try await awaitNetwork() }
    }

    @inline(never)
    private func awaitNetwork() async throws {
        let path = configuration.networkPath
        let limit = configuration.retryPolicy.elapsedLimit ?? .seconds(Int64.max)
        while !path.isConnected {
            let moment = timepiece.moment
            // The deadline has an alarm of its own.
            let left = limit - progress.withLock { $0.elapsed(at: moment) }
            let observer = ReachabilityObserver(path: path, countsWhatIs: true)
            let reason =
                left > .zero
                ? try await outcome(of: beginWait(left, or: [observer], as: .waitsForConnectivity)).reason : .backoff
            switch reason {
            case .observer: continue
            case .retryNow: return
            case .backoff:
                throw RequestError(
                    .notConnected, stage: .wait, reason: "there was no network in the elapsed limit of \(limit)")
            }
        }
    }
}
