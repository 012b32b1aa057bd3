/// The right of a request that waited for its host to go before its time. Its next attempt tells the outcome, once.
///
/// It is let go of without an outcome where no attempt followed, since the request was cancelled. Then the next one goes in its
/// place.
final class Release: Sendable {
    enum Outcome {
        case succeeded
        /// It failed, by a fault of the host.
        case failed
        /// Nothing was learnt of the host, or that it works: the next one goes in its place.
        case passesOn
        /// Nobody will tell what came of it, and nobody goes in its place.
        case untold
    }

    private let lines: RecoveryLines
    private let origin: Origin
    private let pause: Duration
    private let isSettled = Locked(false)

    init(_ lines: RecoveryLines, of origin: Origin, pause: Duration) {
        self.lines = lines
        self.origin = origin
        self.pause = pause
    }

    deinit { settle(.passesOn) }

    /// Tells the outcome, unless that was done.
    func settle(_ outcome: Outcome) {
        let wasSettled = isSettled.withLock { isSettled in
            defer { isSettled = true }
            return isSettled
        }
        if !wasSettled { lines.settle(outcome, of: origin, pause: pause) }
    }
}

extension RequestProgress {
    /// Gives up what the recovery of the host gave, to tell the outcome outside of any lock.
    mutating func takeRelease() -> Release? {
        defer { release = nil }
        return release
    }
}
