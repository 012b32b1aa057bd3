/// Why there was no further attempt, in the words of ``RequestError/notRetried``.
enum NotRetried: Sendable, Hashable, CustomStringConvertible {
    /// The number of attempts that count, and the number that the policy allows.
    case attempts(Int, of: Int)
    /// The policy's elapsed limit has passed, or would pass before the next attempt begins.
    case elapsedLimit(Duration)
    /// The deadline has passed, or would pass before the next attempt begins.
    case deadline
    /// The policy retries neither the status nor the code.
    case notPassing
    /// The server may have acted on the request, and the request's method does not allow a repetition.
    case notRepeatable(method: String)
    /// Other work than a request may have had an effect, and is not idempotent.
    case notIdempotent
    /// A decider or an override of `retryDecision(after:)` said so.
    case decision
    /// There was no decision, because the stage that makes it failed.
    case noDecision
    /// The error that replaced the attempt's error gives the reason.
    case said(String)

    /// How many attempts count for the maximum of the policy, if that was reached.
    var countedAttempts: Int? {
        if case .attempts(let count, of: _) = self { count } else { nil }
    }

    var description: String {
        switch self {
        // An attempt that does not count would give the text "0 of 1 attempts".
        case .attempts(_, of: ...1): "no retries allowed"
        case .attempts(let count, let maximum): "\(count) of \(maximum) attempts"
        case .elapsedLimit(let limit): "the elapsed limit of \(limit)"
        case .deadline: "the deadline"
        case .notPassing: "not a passing failure"
        case .notRepeatable(let method): "\(method), no idempotency key"
        case .notIdempotent: "the work is not idempotent"
        case .decision: "a decider or an override said so"
        case .noDecision: "no decision was made"
        case .said(let reason): reason
        }
    }
}
