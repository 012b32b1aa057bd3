/// Why no further attempt was made, as ``RequestError/notRetried`` says it.
enum NotRetried: Sendable, Hashable, CustomStringConvertible {
    /// So many attempts count, of so many that the policy allows.
    case attempts(Int, of: Int)
    /// The policy's elapsed limit, of this length, is over, or would be when the next attempt begins.
    case elapsedLimit(Duration)
    /// The deadline is over, or would be when the next attempt begins.
    case deadline
    /// Neither the status nor the code is one of those that the policy retries.
    case notPassing
    /// The server may have acted on the request, and a request of this method must not be repeated then.
    case notRepeatable(method: String)
    /// A decider or an override of `retryDecision(after:)` said so.
    case decision
    /// There was no decision, since the stage that makes it failed.
    case noDecision
    /// The error that took the place of the attempt's says why.
    case said(String)

    var description: String {
        switch self {
        // A count would read "0 of 1 attempts" for an attempt that does not count.
        case .attempts(_, of: ...1): "no retries allowed"
        case .attempts(let count, let maximum): "\(count) of \(maximum) attempts"
        case .elapsedLimit(let limit): "the elapsed limit of \(limit)"
        case .deadline: "the deadline"
        case .notPassing: "not a passing failure"
        case .notRepeatable(let method): "\(method), no idempotency key"
        case .decision: "a decider or an override said so"
        case .noDecision: "no decision was made"
        case .said(let reason): reason
        }
    }
}
