/// A failed attempt, as the retry decision sees it.
public struct AttemptFailure: Sendable {
    /// The error: a ``RequestError`` for what this package or its transports detected, else the error that a stage of
    /// your own threw, untouched.
    public let error: any Error

    /// The number of the attempt that failed, from 1.
    public let attempt: Int

    /// The request that was sent, or was about to be: after `process`, before redirects.
    public let request: URLRequest

    /// The stage that failed.
    public let stage: RequestError.Stage

    /// The head of the response, if one had arrived.
    public let head: ResponseHead?

    /// Whether the server may have begun to act on the request. `false` means: surely not, so any method can be retried.
    public let requestMayHaveBeenProcessed: Bool

    /// Whether the body can be sent again.
    public let bodyIsReplayable: Bool

    /// How many attempts failed since the backoff last began afresh, this one included: the number of the coming retry
    /// for the backoff.
    public let backoffStep: Int

    /// The time since the operation began.
    public let elapsed: Duration

    /// The time left until the operation's deadline, if it has one.
    public let timeLeft: Duration?

    /// When the failure was seen, for the dates of `Retry-After`.
    public let date: Date

    /// Makes a failure, for tests of a policy.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - attempt: The number of the attempt, from 1. 1 by default.
    ///   - request: The request.
    ///   - stage: The stage that failed. `transfer` by default.
    ///   - head: The head of the response. By default that of the error, if it has one.
    ///   - requestMayHaveBeenProcessed: Whether the server may have acted. `true` by default.
    ///   - bodyIsReplayable: Whether the body can be sent again. `true` by default.
    ///   - backoffStep: The number of the coming retry for the backoff. `attempt` by default.
    ///   - elapsed: The time since the operation began. Zero by default.
    ///   - timeLeft: The time left until the deadline. `nil` by default.
    ///   - date: When the failure was seen. Now by default.
    public init(
        _ error: any Error, attempt: Int = 1, request: URLRequest, stage: RequestError.Stage = .transfer,
        head: ResponseHead? = nil, requestMayHaveBeenProcessed: Bool = true, bodyIsReplayable: Bool = true,
        backoffStep: Int? = nil, elapsed: Duration = .zero, timeLeft: Duration? = nil, date: Date = Date()
    ) {
        self.error = error
        self.attempt = attempt
        self.request = request
        self.stage = stage
        self.head = head ?? (error as? RequestError)?.head
        self.requestMayHaveBeenProcessed = requestMayHaveBeenProcessed
        self.bodyIsReplayable = bodyIsReplayable
        self.backoffStep = backoffStep ?? attempt
        self.elapsed = elapsed
        self.timeLeft = timeLeft
        self.date = date
    }

    /// The code of the error; for one that is not ours ``RequestError/Code/undecodable`` if the decoder threw it, else
    /// ``RequestError/Code/stageFailed``.
    public var code: RequestError.Code {
        RequestError(wrapping: error, stage: stage).code
    }
}
