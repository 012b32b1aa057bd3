/// What ended a wait, and how long the wait was.
struct Wake: Sendable {
    let waited: Duration
    let reason: WakeReason
    /// How long the host was to be left alone, as far as that was known when the wait began.
    let knownEnd: Duration
    /// The release of a retry that starts before its time, because its host has recovered.
    var release: Release?

    /// This wait after another one, as one wait.
    func following(_ first: Wake) -> Wake {
        Wake(
            waited: first.waited + waited, reason: reason == .backoff ? first.reason : reason, knownEnd: first.knownEnd,
            release: release)
    }
}
