/// What ended a wait between two attempts.
public enum WakeReason: Sendable, Hashable {
    /// The backoff or the server's `Retry-After` was over.
    case backoff
    /// An early-retry observer returned first. The value is the name of its type.
    case observer(String)
    /// ``RetryingOperation/retryNow()`` was called.
    case retryNow

    /// Whether an early sign of recovery ended the wait.
    var isSign: Bool { if case .observer = self { true } else { false } }
}
