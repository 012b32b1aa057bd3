/// Thrown by an attempt whose value a decision does not accept.
struct RejectedValue: Error {
    let decision: RetryDecision

    /// The error of the attempt.
    var error: RequestError {
        RequestError(.valueRejected, stage: .decode, reason: "a decision did not accept the value")
    }
}

extension RequestError.Code {
    /// A decision after a success did not accept the value
    /// (``RetryingOperation/retryDecision(afterSuccess:attempt:)``).
    public static let valueRejected = Self("valueRejected")
}
