/// Why a request waits before its next attempt. If there are several reasons, it is the one that decides the length of the
/// wait.
public enum WaitReason: Sendable, Hashable {
    /// For its backoff, or for a delay of your own decision.
    case backoff
    /// Until its ``RetryBudget`` has room for the retry.
    case budget
    /// Since a `Retry-After` asked for it, of its own response or of another one from the host.
    case retryAfter
    /// Until the circuit of its host lets it pass (``CircuitBreaker``).
    case circuit
}
