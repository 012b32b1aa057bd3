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
    /// What a hedge drew on the budget.
    var hedgeDraw: RetryDraw?
    /// The type of the last error that the decoder threw. An override of `decode` may throw another one in its place.
    private(set) var typeOfDecoderError: ObjectIdentifier?

    /// Notes an error that the decoder threw.
    mutating func noteDecoderError(_ error: any Error) {
        typeOfDecoderError = ObjectIdentifier(type(of: error))
    }

    /// Whether an error is taken for the decoder's, since the decoder threw one of its type.
    func isOfDecoder(_ error: any Error) -> Bool {
        typeOfDecoderError == ObjectIdentifier(type(of: error))
    }

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
