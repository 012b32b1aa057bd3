/// What is known of an attempt, for its errors and for the decision about it.
struct KnownOfAttempt: Sendable {
    var request: URLRequest?
    var head: ResponseHead?
    /// The body while it is decoded; of a failed attempt its beginning.
    var body = Data()
    /// Whether a response redirected: the first request was processed, whatever happens to the next.
    var wasRedirected = false
    /// Whether the circuit breaker did not let it pass.
    var wasRefused = false
    var bodyIsReplayable = true
    /// Whether the decoder threw, and not an override of the stage `decode`.
    var decoderThrew = false

    /// The beginning of the body, copied: a part of it would keep the whole.
    var bodyPrefix: Data { Data(body.prefix(TransferLimits.keptErrorBody)) }
}

extension RequestError {
    /// The error with what it does not tell itself.
    func completed(by known: KnownOfAttempt) -> RequestError {
        var completed = self
        completed.head = head ?? known.head
        if bodyPrefix.isEmpty { completed.bodyPrefix = known.bodyPrefix }
        return completed
    }
}

extension RequestError.Stage {
    /// Whether the request may have been sent when an attempt failed in this stage.
    var isAfterSending: Bool {
        switch self {
        case .process, .makeTask, .slot: false
        // In an attempt that is the wait for a host, or for a network.
        case .wait: false
        case .transfer, .validate, .decode, .retryDecision: true
        }
    }
}
