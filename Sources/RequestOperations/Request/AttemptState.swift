/// The state of one attempt, from its beginning until the next one begins. A pure value.
struct AttemptState: Sendable {
    /// What the attempt does now, or did when it ended.
    enum Activity: Sendable {
        case stage(RequestError.Stage)
        /// It waits for a network or for its host before it is sent.
        case waits(RetryWait)
    }

    /// What has happened to its request on the way to a response.
    enum Course: Sendable {
        case direct
        /// The circuit breaker refused it.
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
    /// The body, while it is decoded. For a failed attempt, its beginning.
    var body = Data()
    /// What a hedge drew on the budget.
    var hedgeDraw: RetryDraw?
    /// The type of the last error that the decoder threw. An override of `decode` may replace that error.
    private var decoderErrorType: ObjectIdentifier?

    init(number: Int, rights: AttemptRights, after wake: Wake? = nil) {
        self.number = number
        self.rights = rights
        self.wake = wake
    }

    /// Makes a hedge that is about to be sent.
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

    /// Whether the head of the response was accepted. An attempt does not leave the stage in which its head was
    /// rejected.
    var hasAcceptedHead: Bool { head != nil && stage == .transfer }

    mutating func note(_ task: TransportTask) {
        request = task.request
        bodyIsReplayable = task.body.isReplayable
    }

    /// Records how far a failed transfer came.
    mutating func note(_ failure: TransferFailure) {
        head = head ?? failure.head
        body = failure.bodyPrefix
    }

    /// Keeps only the beginning of the body. It is copied, because a slice would keep the whole body.
    mutating func shortenBody() {
        body = bodyPrefix
    }

    var bodyPrefix: Data { Data(body.prefix(TransferLimits.keptErrorBody)) }

    /// Takes the body out. The caller frees it outside any lock.
    mutating func takeBody() -> Data {
        defer { body = Data() }
        return body
    }

    mutating func noteDecoderError(_ error: any Error) {
        decoderErrorType = ObjectIdentifier(type(of: error))
    }

    /// Whether an error counts as the decoder's, because the decoder threw an error of its type.
    func isOfDecoder(_ error: any Error) -> Bool {
        decoderErrorType == ObjectIdentifier(type(of: error))
    }
}

extension RequestError {
    /// The error, completed with what the attempt knows, where the error lacks it.
    func completed(by attempt: AttemptState?) -> RequestError {
        guard let attempt else { return self }
        var completed = self
        completed.head = head ?? attempt.head
        if bodyPrefix.isEmpty { completed.bodyPrefix = attempt.bodyPrefix }
        return completed
    }
}

extension RequestError.Stage {
    /// Whether the request may have been sent if an attempt failed in this stage.
    var isAfterSending: Bool {
        switch self {
        case .start, .process, .makeTask, .slot: false
        // Within an attempt, this is the wait for a host or for a network.
        case .wait: false
        case .transfer, .validate, .decode, .retryDecision: true
        }
    }
}
