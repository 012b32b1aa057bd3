/// Whether the successes of one host release those that wait for it. A pure value; times count from some beginning.
///
/// A host that failed and recovered answers what is released. A host that only comes and goes does not. So releases that fail
/// cost trust, and without trust none follows for a pause. Each time that happens again soon, the pause is twice as long.
struct HostRecoveries: Sendable {
    private enum Phase {
        /// Successes release, since some time.
        case open(trust: Int, since: Duration)
        /// They do not, until some time.
        case closed(until: Duration)
    }

    private var phase = Phase.open(trust: Self.trustAtFirst, since: .zero)
    /// The last pause; zero if there was none for long.
    private var pause = Duration.zero

    /// Enough for one release that fails, not for two in a row.
    private static let trustAtFirst = 4
    /// A long recovery survives four failures in a row.
    private static let mostTrust = 16
    /// What a failure costs, in successes: of five releases one may fail.
    private static let costOfFailure = 4
    /// How much longer than the first one a pause becomes at most.
    private static let mostPauses = 20

    /// Whether a success releases others now.
    mutating func releases(at now: Duration) -> Bool {
        guard case .closed(let end) = phase else { return true }
        guard now >= end else { return false }
        if isIdle(at: now) {
            self = HostRecoveries()
        } else {
            phase = .open(trust: 0, since: now)
        }
        return true
    }

    /// A request that was released succeeded.
    mutating func succeeded() {
        guard case .open(let trust, let since) = phase else { return }
        phase = .open(trust: min(trust + 1, Self.mostTrust), since: since)
    }

    /// A request that was released failed, by a fault of the host.
    ///
    /// - Parameter first: The length of a first pause.
    mutating func failed(at now: Duration, pause first: Duration) {
        guard case .open(let trust, let since) = phase else { return }
        guard trust < Self.costOfFailure else {
            phase = .open(trust: trust - Self.costOfFailure, since: since)
            return
        }
        pause = isIdle(at: now) ? first : min(max(pause * 2, first), first * Self.mostPauses)
        phase = .closed(until: now + pause)
    }

    /// Whether the pauses so far say nothing any more: the last one was over for as long as it was.
    func isIdle(at now: Duration) -> Bool {
        switch phase {
        case .open(_, let since): pause == .zero || now - since >= pause
        case .closed(let end): now - end >= pause
        }
    }
}
