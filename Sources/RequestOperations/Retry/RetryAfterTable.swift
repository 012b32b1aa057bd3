/// Until when hosts asked to be left alone: what a response's `Retry-After` told one request, the others keep to as well.
///
/// A response with the status 503 and a usable `Retry-After` is noted for its scheme, host and port, if 503 is one of the
/// ``RetryPolicy/statuses``. With 503 the field says how long the service is unavailable (RFC 9110, section 10.2.3). A 429 is
/// about one client (RFC 6585, section 4): it is noted only if the policy of the request that got it sets
/// ``RetryPolicy/sharesTooManyRequests``. With every other status, such as 408, 413 or 500, the field is about the one request,
/// and delays only that.
///
/// Until that time is over, no other request that has the table sends an attempt there. They wait without a slot, each for
/// up to a tenth longer but at most three seconds, so that they do not come all at once. A ``RequestLimiter`` bounds how
/// many are in flight then. A request that stands in a limiter's line already asks again when it gets its slot. If the host
/// is to be left alone, it gives the slot back, waits, and lines up again at its old place.
///
/// A retry for which that is longer than its ``RetryPolicy/maximumRetryAfter``, or than its deadline or elapsed limit leaves,
/// fails at once as ``RequestError/Code/retryAfterTooLong``. A request of which nothing was sent yet is only delayed: it fails so
/// only if its own deadline comes first. ``URLRequestOperation/retryNow()`` ends a wait here as any other; a decision of
/// your own to retry sooner than the request itself was told counts as well. So does a redirect: a request that another host
/// sends on to this one is under way already, and goes on. A success changes nothing, since it may answer what was sent before
/// the host asked.
///
/// What is longer than the `maximumRetryAfter` of the request that was told is forgotten after that time, or when another
/// response asks for less, lest one response lock a host for a year: the next request asks the host again.
///
/// It can be used from any thread.
public final class RetryAfterTable: Sendable {
    /// What a host asked for, in nanoseconds on the clock.
    private struct Wait {
        var end: Int64 = 0
        /// The end, or when it is forgotten before that.
        var keptUntil: Int64 = 0
    }

    private struct State {
        var waits = OriginTable<Wait>()
        /// No wait is kept for longer.
        var latestEnd: Int64 = 0
        /// The tables of other clocks than the real one, of the shared table only. Each holds its clock.
        var others: [ObjectIdentifier: RetryAfterTable] = [:]
    }

    /// The table of every ``RetryPolicy`` that is given no other: one for the process.
    ///
    /// Requests whose configuration has another clock than the continuous one have a part of their own in it, for each such
    /// clock that is an object; on other clocks, and for failures that a test makes, it is of no effect.
    public static let shared = RetryAfterTable(clock: ContinuousClock(), isShared: true)

    private let isShared: Bool
    private let stopwatch: Stopwatch
    private let state = Locked(State())

    /// Makes an empty table.
    ///
    /// - Parameter clock: The clock of the waits: that of the configurations which use the table. The continuous one by
    ///   default.
    public convenience init(clock: any Clock<Duration> = ContinuousClock()) {
        self.init(clock: clock, isShared: false)
    }

    private init(clock: any Clock<Duration>, isShared: Bool) {
        self.isShared = isShared
        stopwatch = Stopwatch(clock)
    }

    /// How long a URL's scheme, host and port are still to be left alone; zero if they are not. Of the shared table what
    /// holds in real time.
    public func timeLeft(for url: URL) -> Duration {
        ownTimeLeft(for: url)
    }

    /// How many hosts something is kept for, and how many other clocks.
    var counts: (hosts: Int, clocks: Int) { state.withLock { ($0.waits.count, $0.others.count) } }

    /// Notes what a response asked for; a shorter wait than one that is noted changes nothing, unless that was longer than is
    /// kept.
    ///
    /// - Parameter longest: After this time it is forgotten.
    func note(_ asked: Duration, for url: URL?, on timeline: Timeline, keeping longest: Duration = .seconds(Int64.max))
    {
        guard asked > .zero, longest > .zero else { return }
        if let table = part(of: timeline) {
            table.note(asked, for: url, keeping: longest)
        } else if case .clock(let clock) = timeline, let identity = timeline.identity {
            let table = RetryAfterTable(clock: clock)
            table.note(asked, for: url, keeping: longest)
            // They are for tests. Should there be many, most of their clocks are not used any more.
            let dropped = state.withLock { state in
                let dropped = state.others.count < Self.mostClocks ? [:] : state.others
                if !dropped.isEmpty { state.others = [:] }
                state.others[identity] = table
                return dropped
            }
            withExtendedLifetime(dropped) {}
        }
    }

    private static let mostClocks = 1000

    func timeLeft(for url: URL?, on timeline: Timeline) -> Duration {
        part(of: timeline)?.ownTimeLeft(for: url) ?? .zero
    }

    /// How long a request has to leave a host alone. One that was never sent waits no longer than the table remembers.
    func timeLeft(for url: URL?, afterSending wasSent: Bool, on timeline: Timeline) -> Duration {
        guard let table = part(of: timeline) else { return .zero }
        guard !wasSent else { return table.ownTimeLeft(for: url) }
        return table.timeLeft(until: table.ownWait(for: url)?.keptUntil)
    }

    /// When a host is not to be left alone any longer, on the table's clock; in the past, or zero, if it is not now.
    func end(for url: @autoclosure () -> URL?, on timeline: Timeline) -> Int64 {
        part(of: timeline)?.ownWait(for: url())?.end ?? 0
    }

    /// How long a request waits that was not told itself, where the host is to be left alone for so long.
    ///
    /// - Parameter limit: The time in which the attempt must begin. Where there is time for the wait, there is for the spread.
    static func spread(
        _ left: Duration, within limit: Duration = .seconds(Int64.max), using random: RandomSource
    ) -> Duration {
        guard left > .zero else { return .zero }
        let room = max((limit.inSeconds - left.inSeconds) / 2, 0)
        return left + .rounded(seconds: min(left.inSeconds / 10, 3, room) * random.next())
    }

    /// The table that holds in a time.
    private func part(of timeline: Timeline) -> RetryAfterTable? {
        guard isShared, !timeline.isReal else { return self }
        return timeline.identity.flatMap { identity in state.withLock { $0.others[identity] } }
    }

    private func note(_ asked: Duration, for url: URL?, keeping longest: Duration) {
        let now = stopwatch.nanoseconds
        func end(after time: Duration) -> Int64 {
            let (sum, overflow) = now.addingReportingOverflow(time.nanoseconds)
            return overflow ? .max : sum
        }
        let (end, keptUntil) = (end(after: asked), end(after: min(asked, longest)))
        state.withLock { state in
            state.latestEnd = max(state.latestEnd, keptUntil)
            state.waits.change(url, at: now, initially: Wait(), isIdle: { $0.keptUntil <= now }) { wait in
                // What is forgotten does not make a new wait longer.
                if wait.keptUntil <= now { wait = Wait() }
                if wait.end <= end {
                    wait = Wait(end: end, keptUntil: max(wait.keptUntil, keptUntil))
                } else if wait.end > wait.keptUntil {
                    // It would have been forgotten; this is the host's last word.
                    wait = Wait(end: end, keptUntil: keptUntil)
                }
            }
        }
    }

    private func ownTimeLeft(for url: URL?) -> Duration {
        timeLeft(until: ownWait(for: url)?.end)
    }

    private func timeLeft(until end: Int64?) -> Duration {
        end.map { Duration.nanoseconds(max($0 - stopwatch.nanoseconds, 0)) } ?? .zero
    }

    /// What a host asked for, if that is not over and not forgotten.
    private func ownWait(for url: @autoclosure () -> URL?) -> Wait? {
        // Every request asks, and mostly there is nothing: the clock need not be read for that.
        guard state.withLock({ $0.latestEnd > 0 }) else { return nil }
        let (now, url) = (stopwatch.nanoseconds, url())
        return state.withLock { state in
            if state.latestEnd <= now {
                // Then there is nothing to be kept of any host.
                state.latestEnd = 0
                state.waits = OriginTable()
            }
            guard state.latestEnd > 0, let wait = state.waits.entry(of: url), wait.keptUntil > now else { return nil }
            return wait
        }
    }
}
