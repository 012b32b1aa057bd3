/// A failed attempt, as the retry decision sees it.
public struct AttemptFailure: Sendable, CustomStringConvertible, OpaqueReflectable {
    /// The error. It is a ``RequestError`` if this package or a transport found the failure. Otherwise it is the
    /// unchanged error that a stage of your own threw.
    public let error: any Error

    /// The number of the attempt that failed, from 1.
    public internal(set) var attempt: Int

    /// The request that was sent or was about to be sent: after `process`, before any redirect.
    public let request: URLRequest

    /// The stage that failed.
    public let stage: RequestError.Stage

    /// The head of the response, if one had arrived.
    public let head: ResponseHead?

    /// Whether the server may have started to act on the request. If `false`, it did not, so any method can be retried.
    public let requestMayHaveBeenProcessed: Bool

    /// Whether the body can be sent again.
    public let bodyIsReplayable: Bool

    /// The number of the next retry, as the backoff counts it: how many attempts have failed since the backoff last
    /// restarted. This attempt is included.
    public internal(set) var backoffStep: Int

    /// The time since the request's first attempt was handed to the transport; zero if none was.
    public internal(set) var elapsed: Duration

    /// The time left until the operation's deadline, if it has one.
    public let timeLeft: Duration?

    /// When the failure was noticed. A `Retry-After` that is a date is compared with it.
    public let date: Date

    /// How many attempts so far, this one included, do not count for the maximum of retries. A circuit breaker refused
    /// them, they ran beside another attempt that counts for all, or a decision restarted the count after them.
    var uncounted: Int

    /// How many attempts, up to this one, were answered 429 with a `Retry-After`.
    var tooManyRequests: Int

    /// Whether a response of this attempt was a redirect. Then the server acted on the request, and a later request
    /// failed.
    var wasRedirected: Bool { redirect != nil }

    /// The target of the last redirect.
    private let redirect: URL?

    /// Whether the circuit breaker refused the attempt, so that nothing was sent.
    let wasRefused: Bool

    /// Whether this attempt or an earlier one was handed to the transport.
    let wasSent: Bool

    /// Whether the next attempt follows without a backoff. This is so when a reused connection was lost before any part
    /// of a response, which says nothing about the host. A second such loss in a row gets its backoff.
    var skipsBackoff: Bool

    /// The last URL of the attempt: the target of the last redirect, or else the request's own URL.
    var lastURL: URL? { redirect ?? request.url }

    /// What was attempted.
    let work: AttemptedWork

    /// Whether the decoder threw the error, rather than an override of the stage `decode`.
    private let isOfDecoder: Bool

    /// The registry that remembers hosts.
    let hosts: HostRegistry

    /// Makes a failure, for tests of a policy or an observer.
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
    ///   - elapsed: The time since the first attempt was handed to the transport. Zero by default.
    ///   - timeLeft: The time left until the deadline. `nil` by default.
    ///   - date: When the failure was seen. Now by default.
    public init(
        _ error: any Error, attempt: Int = 1, request: URLRequest, stage: RequestError.Stage = .transfer,
        head: ResponseHead? = nil, requestMayHaveBeenProcessed: Bool = true, bodyIsReplayable: Bool = true,
        backoffStep: Int? = nil, elapsed: Duration = .zero, timeLeft: Duration? = nil, date: Date = Date()
    ) {
        self.init(
            error, attempt: attempt, request: request, stage: stage, head: head,
            requestMayHaveBeenProcessed: requestMayHaveBeenProcessed, bodyIsReplayable: bodyIsReplayable,
            backoffStep: backoffStep ?? attempt, elapsed: elapsed, timeLeft: timeLeft, date: date, uncounted: 0,
            redirect: nil, wasRefused: RequestError.Code.circuitOpen ~= error)
    }

    /// Makes the failure of a request.
    init(
        _ error: any Error, attempt: Int, request: URLRequest, stage: RequestError.Stage, head: ResponseHead?,
        requestMayHaveBeenProcessed: Bool, bodyIsReplayable: Bool, backoffStep: Int, elapsed: Duration,
        timeLeft: Duration?, date: Date, uncounted: Int, tooManyRequests: Int = 0, redirect: URL?, wasRefused: Bool,
        skipsBackoff: Bool = false, wasSent: Bool = true, isOfDecoder: Bool = true,
        work: AttemptedWork = .request, hosts: HostRegistry = .shared
    ) {
        (self.error, self.attempt, self.request, self.stage) = (error, attempt, request, stage)
        self.head = head ?? (error as? RequestError)?.head
        self.requestMayHaveBeenProcessed = requestMayHaveBeenProcessed
        self.bodyIsReplayable = bodyIsReplayable
        (self.backoffStep, self.elapsed, self.timeLeft, self.date) = (backoffStep, elapsed, timeLeft, date)
        (self.uncounted, self.tooManyRequests, self.redirect) = (uncounted, tooManyRequests, redirect)
        (self.wasRefused, self.skipsBackoff, self.wasSent) = (wasRefused, skipsBackoff, wasSent)
        (self.isOfDecoder, self.work, self.hosts) = (isOfDecoder, work, hosts)
    }

    /// The same failure as that of a first attempt, as the retry policy counts.
    package var asFirst: AttemptFailure {
        var failure = self
        (failure.attempt, failure.backoffStep, failure.elapsed) = (1, 1, .zero)
        (failure.uncounted, failure.tooManyRequests, failure.skipsBackoff) = (0, 0, false)
        return failure
    }

    /// The code of the error. An error that is not a ``RequestError`` has ``RequestError/Code/undecodable`` if the
    /// decoder threw it, or if it is a `DecodingError` from the stage `decode`. Any other has
    /// ``RequestError/Code/stageFailed``.
    public var code: RequestError.Code { wrapped.code }

    private var wrapped: RequestError {
        RequestError(wrapping: error, stage: stage, isOfDecoder: isOfDecoder)
    }

    /// One line: the number of the attempt, the method, the location of the URL, and the error.
    public var description: String {
        let described = wrapped.subject == nil ? wrapped.about(request, nil, as: work) : wrapped
        return "attempt \(attempt): \(described)"
    }
}
