/// What ended a wait, and how long it was.
struct Wake: Sendable {
    let waited: Duration
    let reason: WakeReason
    /// Until when the host was to be left alone, as far as was known when the wait began.
    let knownEnd: Int64
    /// That of a retry that goes before its time, since its host has recovered.
    var release: Release?

    /// This wait after one that a sign had ended, both in place of one of a given length.
    func following(_ first: Wake, inPlaceOf delay: Duration) -> Wake {
        let waited = first.waited + waited
        return Wake(
            waited: waited, reason: reason == .backoff && waited < delay ? first.reason : reason,
            knownEnd: first.knownEnd, release: release)
    }
}
