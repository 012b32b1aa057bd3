/// When each host may be used again after it asked to be left alone. The `Retry-After` that one request received binds
/// the others too.
///
/// A longer wait replaces a shorter one. A success changes nothing, because it may answer a request that was sent
/// before the host asked. If the time is longer than the ``RetryPolicy/maximumRetryAfter`` of the request that was
/// told, we forget it after that maximum. We also do so when another response asks for less. So no response blocks a
/// host for a year: the next request asks the host again.
final class SilenceTable: Sendable {
    /// What a host asked for, in nanoseconds on the clock.
    private struct Silence {
        var end: Int64 = 0
        /// The end, or the earlier time at which this is forgotten.
        var keptUntil: Int64 = 0
    }

    private struct State {
        var silences = OriginTable<Silence>()
        /// No entry is kept after this time.
        var latestEnd: Int64 = 0
    }

    private let clock: RequestClock
    private let state = Locked(State())

    init(_ clock: RequestClock) {
        self.clock = clock
    }

    private var now: Int64 { clock.now.nanoseconds }

    /// How many hosts have an entry.
    var count: Int { state.withLock { $0.silences.count } }

    /// Whether any host may have asked to be left alone. Usually none has, and then no request needs to look up its
    /// host.
    var isInUse: Bool { state.withLock { $0.latestEnd > 0 } }

    /// Records what a response asked for.
    ///
    /// - Parameter longest: After this time the entry is forgotten.
    func note(_ asked: Duration, for origin: Origin, keeping longest: Duration = .seconds(Int64.max)) {
        guard asked > .zero, longest > .zero else { return }
        let now = now
        let (end, keptUntil) = (now.adding(asked.nanoseconds), now.adding(min(asked, longest).nanoseconds))
        state.withLock { state in
            state.latestEnd = max(state.latestEnd, keptUntil)
            state.silences.change(origin, at: now, initially: Silence(), isIdle: { $0.keptUntil <= now }) { silence in
                // A forgotten entry does not lengthen a new one.
                if silence.keptUntil <= now { silence = Silence() }
                if silence.end <= end {
                    silence = Silence(end: end, keptUntil: max(silence.keptUntil, keptUntil))
                } else if silence.end > silence.keptUntil {
                    // The old time would have been forgotten before its end. So the host's latest answer replaces it.
                    silence = Silence(end: end, keptUntil: keptUntil)
                }
            }
        }
    }

    /// How long a host must still be left alone.
    ///
    /// - Parameter wasSent: Whether the asking request has been sent before. If not, it waits only as long as the entry
    ///   is kept.
    func timeLeft(for origin: Origin, afterSending wasSent: Bool = true) -> Duration {
        guard isInUse else { return .zero }
        let now = now
        guard let silence = silence(of: origin, at: now) else { return .zero }
        return .nanoseconds(max((wasSent ? silence.end : silence.keptUntil) - now, 0))
    }

    /// When a host may be used again, on the clock of this table. The time is past, or zero, if it may be used now.
    func end(for origin: Origin) -> Duration {
        guard isInUse else { return .zero }
        return silence(of: origin, at: now).map { .nanoseconds($0.end) } ?? .zero
    }

    private func silence(of origin: Origin, at now: Int64) -> Silence? {
        state.withLock { state in
            if state.latestEnd <= now {
                // No entry of any host needs to be kept any longer.
                state.latestEnd = 0
                state.silences = OriginTable()
            }
            guard let silence = state.silences[origin], silence.keptUntil > now else { return nil }
            return silence
        }
    }

    /// How long a request waits if only another request was told that the host is to be left alone.
    ///
    /// It waits up to a tenth longer, but at most three seconds longer, so that the waiting requests do not all come at
    /// once.
    ///
    /// - Parameter limit: The time in which the attempt must begin. The spread never uses up this time.
    static func spread(
        _ left: Duration, within limit: Duration = .seconds(Int64.max), using random: RandomSource
    ) -> Duration {
        guard left > .zero else { return .zero }
        let room = max((limit.inSeconds - left.inSeconds) / 2, 0)
        return left + .rounded(seconds: min(left.inSeconds / 10, 3, room) * random.next())
    }
}
