/// The right of a request to end its wait for its host early. Its next attempt reports the outcome once.
///
/// If no attempt follows because the request was cancelled, the release is dropped without an outcome. Then the next
/// request in the line takes its place.
final class Release: Sendable {
    enum Cause {
        /// A success at the host.
        case success
        /// A sign that does not come from the host, such as a network that is back.
        case sign
    }

    enum Outcome {
        case succeeded
        /// The attempt failed by a fault of the host.
        case failed
        /// The attempt showed nothing about the host, or showed that it works. The next request takes its place.
        case passesOn
        /// No outcome will be reported, and no request takes its place.
        case untold
    }

    private let lines: RecoveryLines
    private let origin: Origin
    private let cause: Cause
    private let pause: Duration
    private let isSettled = Locked(false)

    init(_ lines: RecoveryLines, of origin: Origin, after cause: Cause, pause: Duration) {
        self.lines = lines
        self.origin = origin
        self.cause = cause
        self.pause = pause
    }

    deinit { settle(.passesOn) }

    /// Reports the outcome, unless one has been reported.
    func settle(_ outcome: Outcome) {
        let wasSettled = isSettled.withLock { isSettled in
            defer { isSettled = true }
            return isSettled
        }
        if !wasSettled { lines.settle(outcome, of: origin, after: cause, pause: pause) }
    }
}
