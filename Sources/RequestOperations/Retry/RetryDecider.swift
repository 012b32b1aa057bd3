/// Has the last word about what follows a failed attempt: one closure.
///
/// The deciders of a configuration are asked in their order when the policy has decided, each with what stands so far. That
/// is how one thing is decided otherwise without a subclass:
///
/// ```swift
/// configuration.retryDeciders.append(
///     RetryDecider { failure, decision in
///         failure.head?.status == 423 && failure.attempt < 3 ? .retry(after: .seconds(5)) : decision
///     })
/// ```
public struct RetryDecider: Sendable {
    private let decide: @Sendable (AttemptFailure, RetryDecision) async -> RetryDecision

    /// Makes a decider from its one function.
    ///
    /// It is called once after each failed attempt, on the Task of the operation, or on the queue of
    /// ``RequestError/Stage/retryDecision``, without a slot; never for a cancelled operation. No limit of the policy bounds
    /// what it decides but the deadline: it is to count ``AttemptFailure/attempt``, and to ask
    /// ``AttemptFailure/bodyIsReplayable``.
    public init(_ decide: @escaping @Sendable (AttemptFailure, RetryDecision) async -> RetryDecision) {
        self.decide = decide
    }

    /// Returns what is to follow.
    ///
    /// - Parameters:
    ///   - failure: The attempt that failed.
    ///   - decision: What stands so far.
    public func decision(after failure: AttemptFailure, insteadOf decision: RetryDecision) async -> RetryDecision {
        await decide(failure, decision)
    }
}
