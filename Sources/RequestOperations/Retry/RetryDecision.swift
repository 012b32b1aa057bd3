/// What happens after a failed attempt.
public enum RetryDecision: Sendable {
    /// The operation fails with the attempt's error.
    case stop

    /// The request is attempted again after a delay, or sooner if an observer says so.
    ///
    /// - Parameters:
    ///   - after: The delay; negative counts as zero.
    ///   - or: Observers that may end the wait early. None by default.
    ///   - restartingBackoff: Whether the next failure counts as the first for the backoff. `false` by default.
    ///   - with: The request to process and send from now on in place of the original. `nil`, the default, keeps it. The adapter
    ///     ``RequestAdapter/idempotencyKey(methods:)`` gives it a new key.
    case retry(
        after: Duration, or: [any EarlyRetryObserver] = [], restartingBackoff: Bool = false, with: URLRequest? = nil)

    /// The operation fails with this error in place of the attempt's. A `CancellationError` ends it as cancelled.
    case fail(any Error)
}

extension RetryDecision: CustomStringConvertible, CustomReflectable {
    /// What follows, without the fields and the query of a request that takes the place of the original.
    public var description: String {
        switch self {
        case .stop: return "stop"
        case .fail(let error): return "fail: \(error.redacted)"
        case .retry(let delay, let observers, let restartsBackoff, let request):
            var text = "retry after \(delay)"
            if !observers.isEmpty { text += " or sooner" }
            if restartsBackoff { text += ", restarting the backoff" }
            if let request { text += ", with \(Redaction.line(of: request))" }
            return text
        }
    }

    /// No children, so that `dump` does not show a request.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

/// Watches for a sign that another attempt is worth making before its backoff is over.
public protocol EarlyRetryObserver: Sendable {
    /// Returns when another attempt is worth making.
    ///
    /// Called once for each wait, in a Task of its own that is cancelled when the wait ends for another reason. An observer
    /// that throws, or returns after the cancellation, leaves the race and fails nothing.
    ///
    /// - Parameter failure: The attempt that failed.
    func wait(after failure: AttemptFailure) async throws
}
