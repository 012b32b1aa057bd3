/// What happens after a failed attempt.
public enum RetryDecision: Sendable {
    /// The operation fails with the attempt's error.
    case stop

    /// The request is attempted again after a delay, or earlier if an observer ends the wait.
    ///
    /// - Parameters:
    ///   - after: The delay. A negative delay counts as zero.
    ///   - or: Observers that may end the wait early. None by default.
    ///   - restartingBackoff: Whether the next failure counts as the first one for the backoff. `false` by default.
    ///   - restartingCount: Whether the attempts so far do not count for ``RetryPolicy/maximumRetries``. `false` by default.
    ///   - with: The request to process and send from now on instead of the original. `nil`, the default, keeps the
    ///     original. The adapter ``RequestAdapter/idempotencyKey(methods:)`` gives the new request a new key.
    case retry(
        after: Duration, or: [any EarlyRetryObserver] = [], restartingBackoff: Bool = false,
        restartingCount: Bool = false, with: URLRequest? = nil)

    /// The operation fails with this error instead of the attempt's error. A `CancellationError` ends it as cancelled.
    case fail(any Error)
}

extension RetryDecision {
    /// The same decision after an attempt that achieved something: the next failure counts as the first one.
    package var restarting: RetryDecision {
        guard case .retry(let delay, let observers, _, _, let request) = self else { return self }
        return .retry(after: delay, or: observers, restartingBackoff: true, restartingCount: true, with: request)
    }
}

extension RetryDecision: CustomStringConvertible, OpaqueReflectable {
    /// The decision in words. The fields and the query of a replacement request are left out.
    public var description: String {
        switch self {
        case .stop: return "stop"
        case .fail(let error): return "fail: \(error.redacted)"
        case .retry(let delay, let observers, let restartsBackoff, let restartsCount, let request):
            var text = "retry after \(delay)"
            if !observers.isEmpty { text += " or sooner" }
            if restartsBackoff { text += ", restarting the backoff" }
            if restartsCount { text += ", restarting the count" }
            if let request { text += ", with \(Redaction.line(of: request))" }
            return text
        }
    }
}

/// Makes the final decision about what follows a failed attempt. It wraps one closure.
///
/// After the policy has decided, the deciders of a configuration are called in order. Each gets the decision so far and
/// can replace it. So you can change one case without a subclass:
///
/// ```swift
/// configuration.retryDeciders.append(
///     RetryDecider { failure, decision in
///         failure.head?.status == 423 && failure.attempt < 3 ? .retry(after: .seconds(5)) : decision
///     })
/// ```
public struct RetryDecider: Sendable {
    private let decide: @Sendable (AttemptFailure, RetryDecision) async -> RetryDecision

    /// Makes a decider from a closure.
    ///
    /// The closure is called once after each failed attempt, but never for a cancelled operation. It runs on the Task
    /// of the operation, or on the queue of ``RequestError/Stage/retryDecision``. The operation holds no slot
    /// meanwhile. Only the deadline limits what the closure decides; the limits of the policy do not apply. So it
    /// should check ``AttemptFailure/attempt`` and ``AttemptFailure/bodyIsReplayable`` itself.
    public init(_ decide: @escaping @Sendable (AttemptFailure, RetryDecision) async -> RetryDecision) {
        self.decide = decide
    }

    /// Returns what happens next.
    ///
    /// - Parameters:
    ///   - failure: The attempt that failed.
    ///   - decision: The decision so far.
    public func decision(after failure: AttemptFailure, insteadOf decision: RetryDecision) async -> RetryDecision {
        await decide(failure, decision)
    }
}
