/// What is known of one attempt, from its beginning until the next one begins. A pure value.
struct AttemptState: Sendable {
    /// What the attempt does now, or did when it ended.
    enum Activity: Sendable {
        case stage(RequestError.Stage)
        /// It waits for a network or for its host before it is sent.
        case waits(RetryWait)
    }

    /// How its request fares on the way to a response.
    enum Course: Sendable {
        case direct
        /// The circuit breaker did not let it pass.
        case refused
        /// A response redirected it. So the server has acted on the first request.
        case redirected
    }

    let number: Int
    let rights: AttemptRights
    var activity = Activity.stage(.process)
    var course = Course.direct
    /// What ended the last wait that was not for a slot.
    var wake: Wake?
    /// The place in the line of the configuration's limiter, once the attempt has stood there.
    var place: RequestLimiter.Place?
    /// How often the request was processed.
    var processCount = 0
    /// The request as it was processed. `nil` before that.
    var request: URLRequest?
    var bodyIsReplayable = true
    var head: ResponseHead?
    /// The body while it is decoded. Of a failed attempt, its beginning.
    var body = Data()
    /// What a hedge drew on the budget.
    var hedgeDraw: RetryDraw?
    /// The type of the last error that the decoder threw. An override of `decode` may replace that error by another.
    private var decoderErrorType: ObjectIdentifier?

    init(number: Int, rights: AttemptRights, after wake: Wake? = nil) {
        self.number = number
        self.rights = rights
        self.wake = wake
    }

    /// Makes a hedge, which is about to be sent.
    init(hedge number: Int, sending task: TransportTask, rights: AttemptRights, draw: RetryDraw?) {
        self.init(number: number, rights: rights)
        activity = .stage(.transfer)
        note(task)
        hedgeDraw = draw
    }

    var stage: RequestError.Stage {
        if case .stage(let stage) = activity { stage } else { .wait }
    }

    var wait: RetryWait? {
        if case .waits(let wait) = activity { wait } else { nil }
    }

    /// Whether no response has come, not even a redirect.
    var awaitsHead: Bool {
        if case .redirected = course { false } else { head == nil }
    }

    var wasRefused: Bool {
        if case .refused = course { true } else { false }
    }

    var wasRedirected: Bool {
        if case .redirected = course { true } else { false }
    }

    /// Whether the head of the response was accepted. (A stage in which it was rejected is not left.)
    var hasAcceptedHead: Bool { head != nil && stage == .transfer }

    mutating func note(_ task: TransportTask) {
        request = task.request
        bodyIsReplayable = task.body.isReplayable
    }

    /// Notes how far a failed transfer came.
    mutating func note(_ failure: TransferFailure) {
        head = head ?? failure.head
        body = failure.bodyPrefix
    }

    /// Keeps the beginning of the body only. It is copied, because a part of the body would keep the whole.
    mutating func shortenBody() {
        body = bodyPrefix
    }

    var bodyPrefix: Data { Data(body.prefix(TransferLimits.keptErrorBody)) }

    /// Gives up what is kept of the body. The caller frees it outside of any lock.
    mutating func takeBody() -> Data {
        defer { body = Data() }
        return body
    }

    mutating func noteDecoderError(_ error: any Error) {
        decoderErrorType = ObjectIdentifier(type(of: error))
    }

    /// Whether an error counts as the decoder's, because the decoder threw one of its type.
    func isOfDecoder(_ error: any Error) -> Bool {
        decoderErrorType == ObjectIdentifier(type(of: error))
    }
}

extension RequestError {
    /// The error with what is known of its attempt, where the error does not say it itself.
    func completed(by attempt: AttemptState?) -> RequestError {
        guard let attempt else { return self }
        var completed = self
        completed.head = head ?? attempt.head
        if bodyPrefix.isEmpty { completed.bodyPrefix = attempt.bodyPrefix }
        return completed
    }
}

extension RequestError.Stage {
    /// Whether the request may have been sent when an attempt failed in this stage.
    var isAfterSending: Bool {
        switch self {
        case .process, .makeTask, .slot: false
        // Within an attempt, this is the wait for a host or for a network.
        case .wait: false
        case .transfer, .validate, .decode, .retryDecision: true
        }
    }
}
