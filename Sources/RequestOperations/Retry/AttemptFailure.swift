/// A failed attempt, as the retry decision sees it.
public struct AttemptFailure: Sendable, CustomStringConvertible {
    /// All values, in one object: an operation that waits before its next attempt holds its last failure.
    private let values: Box<Values>

    /// The error: a ``RequestError`` for what this package or its transports detected, else the error that a stage of
    /// your own threw, untouched.
    public var error: any Error { values.value.error }

    /// The number of the attempt that failed, from 1.
    public var attempt: Int { values.value.attempt }

    /// The request that was sent, or was about to be: after `process`, before redirects.
    public var request: URLRequest { values.value.request }

    /// The stage that failed.
    public var stage: RequestError.Stage { values.value.stage }

    /// The head of the response, if one had arrived.
    public var head: ResponseHead? { values.value.head }

    /// Whether the server may have begun to act on the request. `false` means: surely not, so any method can be retried.
    public var requestMayHaveBeenProcessed: Bool { values.value.requestMayHaveBeenProcessed }

    /// Whether the body can be sent again.
    public var bodyIsReplayable: Bool { values.value.bodyIsReplayable }

    /// How many attempts failed since the backoff last began afresh, this one included: the number of the coming retry
    /// for the backoff.
    public var backoffStep: Int { values.value.backoffStep }

    /// The time since the request's first attempt was handed to the transport; zero if none was.
    public var elapsed: Duration { values.value.elapsed }

    /// The time left until the operation's deadline, if it has one.
    public var timeLeft: Duration? { values.value.timeLeft }

    /// When the failure was seen, for the dates of `Retry-After`.
    public var date: Date { values.value.date }

    /// How many attempts, up to this one, do not count for the maximum of retries: a circuit breaker refused them, or another
    /// counts for those that ran beside each other.
    var uncounted: Int { values.value.uncounted }

    /// How many attempts, up to this one, were answered 429 with a `Retry-After`.
    var tooManyRequests: Int { values.value.tooManyRequests }

    /// Whether a response of the attempt redirected: the server acted on the request, and what failed is another one.
    var wasRedirected: Bool { values.value.redirect != nil }

    /// Whether the circuit breaker did not let the attempt pass, so that nothing was sent.
    var wasRefused: Bool { values.value.wasRefused }

    /// Whether an attempt of the request was handed to the transport, this one or an earlier one.
    var wasSent: Bool { values.value.wasSent }

    /// Whether the next attempt follows without a backoff. A connection that others had used before was lost without any of
    /// a response, which says nothing of the host. A second such loss in a row has its backoff.
    var skipsBackoff: Bool { values.value.skipsBackoff }

    /// Where the attempt went last: to the request's own URL, or where a redirect led.
    var lastURL: URL? { values.value.redirect ?? request.url }

    /// What is known of hosts.
    var hosts: HostRegistry { values.value.hosts }

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
        skipsBackoff: Bool = false, wasSent: Bool = true, isOfDecoder: Bool = true, hosts: HostRegistry = .shared
    ) {
        values = Box(
            Values(
                error: error, attempt: attempt, request: request, stage: stage,
                head: head ?? (error as? RequestError)?.head,
                requestMayHaveBeenProcessed: requestMayHaveBeenProcessed, bodyIsReplayable: bodyIsReplayable,
                backoffStep: backoffStep, elapsed: elapsed, timeLeft: timeLeft, date: date,
                uncounted: uncounted, tooManyRequests: tooManyRequests, redirect: redirect, wasRefused: wasRefused,
                skipsBackoff: skipsBackoff, wasSent: wasSent, isOfDecoder: isOfDecoder, hosts: hosts))
    }

    /// The code of the error. An error that is not ours has ``RequestError/Code/undecodable`` if the decoder threw it, or
    /// if it is a `DecodingError` out of the stage `decode`. Any other has ``RequestError/Code/stageFailed``.
    public var code: RequestError.Code { wrapped.code }

    private var wrapped: RequestError {
        RequestError(wrapping: error, stage: stage, isOfDecoder: values.value.isOfDecoder)
    }

    /// One line: the number of the attempt, the method, the location of the URL, and the error.
    public var description: String {
        let told = wrapped.subject == nil ? wrapped.about(request, nil) : wrapped
        return "attempt \(attempt): \(told)"
    }

    private struct Values: Sendable {
        let error: any Error
        let attempt: Int
        let request: URLRequest
        let stage: RequestError.Stage
        let head: ResponseHead?
        let requestMayHaveBeenProcessed: Bool
        let bodyIsReplayable: Bool
        let backoffStep: Int
        let elapsed: Duration
        let timeLeft: Duration?
        let date: Date
        let uncounted: Int
        let tooManyRequests: Int
        /// The last one.
        let redirect: URL?
        let wasRefused: Bool
        let skipsBackoff: Bool
        let wasSent: Bool
        /// Whether the decoder threw the error, and not an override of the stage `decode`.
        let isOfDecoder: Bool
        let hosts: HostRegistry
    }
}
