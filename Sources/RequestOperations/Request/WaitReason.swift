/// Why a request waits before its next attempt. If there are several reasons, it is the one that sets the length of the
/// wait.
public enum WaitReason: Sendable, Hashable {
    /// It waits for its backoff, or for a delay that you decided.
    case backoff
    /// It waits until its ``RetryBudget`` has room for the retry.
    case budget
    /// A `Retry-After` asked for it, in its own response or in another one from the host.
    case retryAfter
    /// It waits until the circuit of its host lets it pass (``CircuitBreaker``).
    case circuit
}
