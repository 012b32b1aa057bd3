/// Why a policy has a retry wait, and how long.
struct NotedWait: Sendable {
    let reason: WaitReason
    let delay: Duration
}

extension RequestProgress {
    /// Notes why a policy has the retry that follows wait.
    mutating func note(_ reason: WaitReason, toWait delay: Duration) {
        notedWait = reason == .backoff ? nil : Box(NotedWait(reason: reason, delay: delay))
    }

    /// Why a retry waits for so long. A delay that no policy decided upon counts as a backoff.
    func reason(toWait delay: Duration) -> WaitReason {
        guard let noted = notedWait?.value, noted.delay == delay else { return .backoff }
        return noted.reason
    }
}
