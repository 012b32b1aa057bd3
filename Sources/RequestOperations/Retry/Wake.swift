/// What ended a wait, and how long it was.
struct Wake: Sendable {
    let waited: Duration
    let reason: WakeReason
    /// Until when the host was to be left alone, as far as was known when the wait began.
    let knownEnd: Duration
    /// That of a retry that goes before its time, since its host has recovered.
    var release: Release?

    /// This wait after another one, which ended for a reason of its own.
    func following(_ first: Wake) -> Wake {
        Wake(
            waited: first.waited + waited, reason: reason == .backoff ? first.reason : reason, knownEnd: first.knownEnd,
            release: release)
    }
}
