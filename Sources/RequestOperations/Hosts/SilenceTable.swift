/// Until when hosts asked to be left alone: what the `Retry-After` of a response told one request, the others keep to as well.
///
/// A longer wait takes the place of a shorter one. A success changes nothing, since it may answer what was sent before the host
/// asked. What is longer than the ``RetryPolicy/maximumRetryAfter`` of the request that was told is forgotten after that time, or
/// when another response asks for less. So no response locks a host for a year: the next request asks the host again.
final class SilenceTable: Sendable {
    /// What a host asked for, in nanoseconds on the clock.
    private struct Silence {
        var end: Int64 = 0
        /// The end, or when it is forgotten before that.
        var keptUntil: Int64 = 0
    }

    private struct State {
        var silences = OriginTable<Silence>()
        /// None is kept for longer.
        var latestEnd: Int64 = 0
    }

    private let clock: RequestClock
    private let state = Locked(State())

    init(_ clock: RequestClock) {
        self.clock = clock
    }

    private var now: Int64 { clock.now.nanoseconds }

    /// How many hosts something is kept for.
    var count: Int { state.withLock { $0.silences.count } }

    /// Whether any host may have asked to be left alone. Mostly none has, and then nobody has to look for its own.
    var isInUse: Bool { state.withLock { $0.latestEnd > 0 } }

    /// Notes what a response asked for.
    ///
    /// - Parameter longest: After this time it is forgotten.
    func note(_ asked: Duration, for origin: Origin, keeping longest: Duration = .seconds(Int64.max)) {
        guard asked > .zero, longest > .zero else { return }
        let now = now
        func end(after time: Duration) -> Int64 {
            let (sum, overflow) = now.addingReportingOverflow(time.nanoseconds)
            return overflow ? .max : sum
        }
        let (end, keptUntil) = (end(after: asked), end(after: min(asked, longest)))
        state.withLock { state in
            state.latestEnd = max(state.latestEnd, keptUntil)
            state.silences.change(origin, at: now, initially: Silence(), isIdle: { $0.keptUntil <= now }) { silence in
                // What is forgotten does not make a new one longer.
                if silence.keptUntil <= now { silence = Silence() }
                if silence.end <= end {
                    silence = Silence(end: end, keptUntil: max(silence.keptUntil, keptUntil))
                } else if silence.end > silence.keptUntil {
                    // It would have been forgotten; this is the host's last word.
                    silence = Silence(end: end, keptUntil: keptUntil)
                }
            }
        }
    }

    /// How long a host is to be left alone.
    ///
    /// - Parameter wasSent: Whether the request that asks was sent before. One that was not waits no longer than this remembers.
    func timeLeft(for origin: Origin, afterSending wasSent: Bool = true) -> Duration {
        guard isInUse else { return .zero }
        let now = now
        guard let silence = silence(of: origin, at: now) else { return .zero }
        return .nanoseconds(max((wasSent ? silence.end : silence.keptUntil) - now, 0))
    }

    /// When a host is not to be left alone any longer, on the clock of this table; in the past, or zero, if it is not now.
    func end(for origin: Origin) -> Duration {
        guard isInUse else { return .zero }
        return silence(of: origin, at: now).map { .nanoseconds($0.end) } ?? .zero
    }

    private func silence(of origin: Origin, at now: Int64) -> Silence? {
        state.withLock { state in
            if state.latestEnd <= now {
                // Then there is nothing to be kept of any host.
                state.latestEnd = 0
                state.silences = OriginTable()
            }
            guard let silence = state.silences[origin], silence.keptUntil > now else { return nil }
            return silence
        }
    }

    /// How long a request waits that was not told itself, where the host is to be left alone for so long: up to a tenth longer, but
    /// at most three seconds. So those who wait do not come all at once.
    ///
    /// - Parameter limit: The time in which the attempt must begin. Where there is time for the wait, there is for the spread.
    static func spread(
        _ left: Duration, within limit: Duration = .seconds(Int64.max), using random: RandomSource
    ) -> Duration {
        guard left > .zero else { return .zero }
        let room = max((limit.inSeconds - left.inSeconds) / 2, 0)
        return left + .rounded(seconds: min(left.inSeconds / 10, 3, room) * random.next())
    }
}
