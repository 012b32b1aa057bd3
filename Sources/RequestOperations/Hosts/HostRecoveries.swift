/// Decides whether the successes of one host release requests that wait for it. A pure value. Times count from a fixed
/// start.
///
/// A host that has really recovered answers the released requests. A host that comes and goes does not. So each failed
/// release costs trust. Without trust, no release follows for a pause. If that soon happens again, the pause doubles
/// each time.
package struct HostRecoveries: Sendable {
    private enum Phase {
        /// Successes release requests, since this time.
        case open(trust: Int, since: Duration)
        /// Successes release no requests until this time.
        case closed(until: Duration)
    }

    private var phase = Phase.open(trust: Self.trustAtFirst, since: .zero)
    /// The last pause. Zero if there was none, or if it was long ago.
    private var pause = Duration.zero

    /// This is enough for one failed release, but not for two in a row.
    private static let trustAtFirst = 4
    /// A long recovery can survive four failures in a row.
    private static let mostTrust = 16
    /// What a failure costs, in successes. One of five releases may fail.
    private static let costOfFailure = 4
    /// The longest pause, as a multiple of the first one.
    private static let mostPauses = 20

    package init() {}

    /// Whether a success releases requests now.
    package mutating func releases(at now: Duration) -> Bool {
        guard case .closed(let end) = phase else { return true }
        guard now >= end else { return false }
        if isIdle(at: now) {
            self = HostRecoveries()
        } else {
            phase = .open(trust: 0, since: now)
        }
        return true
    }

    /// Records that a released request succeeded.
    package mutating func succeeded() {
        guard case .open(let trust, let since) = phase else { return }
        phase = .open(trust: min(trust + 1, Self.mostTrust), since: since)
    }

    /// Records that a released request failed by a fault of the host.
    ///
    /// - Parameter first: The length of a first pause.
    package mutating func failed(at now: Duration, pause first: Duration) {
        guard case .open(let trust, let since) = phase else { return }
        guard trust < Self.costOfFailure else {
            phase = .open(trust: trust - Self.costOfFailure, since: since)
            return
        }
        pause = isIdle(at: now) ? first : min(max(pause * 2, first), first * Self.mostPauses)
        phase = .closed(until: now + pause)
    }

    /// Whether the earlier pauses no longer matter, because the last one ended at least its own length ago.
    func isIdle(at now: Duration) -> Bool {
        switch phase {
        case .open(_, let since): pause == .zero || now - since >= pause
        case .closed(let end): now - end >= pause
        }
    }
}
