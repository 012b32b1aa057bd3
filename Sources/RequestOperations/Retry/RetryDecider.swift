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
