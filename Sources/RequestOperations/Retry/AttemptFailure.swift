/// A failed attempt, as the retry decision sees it.
public struct AttemptFailure: Sendable, CustomStringConvertible {
    /// All values are in one object. An operation that waits before its next attempt keeps its last failure, which is
    /// then a single reference.
    private var values: Box<Values>

    /// The error. It is a ``RequestError`` if this package or a transport found the failure. Otherwise it is the
    /// unchanged error that a stage of your own threw.
    public var error: any Error { values.value.error }

    /// The number of the attempt that failed, from 1.
    public var attempt: Int { values.value.attempt }

    /// The request that was sent or was about to be sent: after `process`, before any redirect.
    public var request: URLRequest { values.value.request }

    /// The stage that failed.
    public var stage: RequestError.Stage { values.value.stage }

    /// The head of the response, if one had arrived.
    public var head: ResponseHead? { values.value.head }

    /// Whether the server may have started to act on the request. If `false`, it did not, so any method can be retried.
    public var requestMayHaveBeenProcessed: Bool { values.value.requestMayHaveBeenProcessed }

    /// Whether the body can be sent again.
    public var bodyIsReplayable: Bool { values.value.bodyIsReplayable }

    /// The number of the next retry, as the backoff counts it: how many attempts have failed since the backoff last
    /// restarted. This attempt is included.
    public var backoffStep: Int { values.value.backoffStep }

    /// The time since the request's first attempt was handed to the transport; zero if none was.
    public var elapsed: Duration { values.value.elapsed }

    /// The time left until the operation's deadline, if it has one.
    public var timeLeft: Duration? { values.value.timeLeft }

    /// When the failure was noticed. A `Retry-After` that is a date is compared with it.
    public var date: Date { values.value.date }

    /// How many attempts so far, this one included, do not count for the maximum of retries. A circuit breaker refused
    /// them, they ran beside another attempt that counts for all, or a decision restarted the count after them.
    var uncounted: Int { values.value.uncounted }

    /// How many attempts, up to this one, were answered 429 with a `Retry-After`.
    var tooManyRequests: Int { values.value.tooManyRequests }

    /// Whether a response of this attempt was a redirect. Then the server acted on the request, and a later request
    /// failed.
    var wasRedirected: Bool { values.value.redirect != nil }

    /// Whether the circuit breaker refused the attempt, so that nothing was sent.
    var wasRefused: Bool { values.value.wasRefused }

    /// Whether this attempt or an earlier one was handed to the transport.
    var wasSent: Bool { values.value.wasSent }

    /// Whether the next attempt follows without a backoff. This is so when a reused connection was lost before any part
    /// of a response, which says nothing about the host. A second such loss in a row gets its backoff.
    var skipsBackoff: Bool { values.value.skipsBackoff }

    /// The last URL of the attempt: the target of the last redirect, or else the request's own URL.
    var lastURL: URL? { values.value.redirect ?? request.url }

    /// What was attempted.
    var work: AttemptedWork { values.value.work }

    /// The registry that remembers hosts.
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
        skipsBackoff: Bool = false, wasSent: Bool = true, isOfDecoder: Bool = true,
        work: AttemptedWork = .request, hosts: HostRegistry = .shared
    ) {
        values = Box(
            Values(
                error: error, attempt: attempt, request: request, stage: stage,
                head: head ?? (error as? RequestError)?.head,
                requestMayHaveBeenProcessed: requestMayHaveBeenProcessed, bodyIsReplayable: bodyIsReplayable,
                backoffStep: backoffStep, elapsed: elapsed, timeLeft: timeLeft, date: date,
                uncounted: uncounted, tooManyRequests: tooManyRequests, redirect: redirect, wasRefused: wasRefused,
                skipsBackoff: skipsBackoff, wasSent: wasSent, isOfDecoder: isOfDecoder,
                work: work, hosts: hosts))
    }

    /// The same failure as that of a first attempt, as the retry policy counts.
    package var asFirst: AttemptFailure {
        var failure = self
        failure.values.edit { values in
            values.attempt = 1
            values.backoffStep = 1
            values.elapsed = .zero
            values.uncounted = 0
            values.tooManyRequests = 0
            values.skipsBackoff = false
        }
        return failure
    }

    /// The code of the error. An error that is not ours has ``RequestError/Code/undecodable`` if the decoder threw it,
    /// or if it is a `DecodingError` from the stage `decode`. Any other has ``RequestError/Code/stageFailed``.
    public var code: RequestError.Code { wrapped.code }

    private var wrapped: RequestError {
        RequestError(wrapping: error, stage: stage, isOfDecoder: values.value.isOfDecoder)
    }

    /// One line: the number of the attempt, the method, the location of the URL, and the error.
    public var description: String {
        let told = wrapped.subject == nil ? wrapped.about(request, nil, as: work) : wrapped
        return "attempt \(attempt): \(told)"
    }

    private struct Values: Sendable {
        let error: any Error
        var attempt: Int
        let request: URLRequest
        let stage: RequestError.Stage
        let head: ResponseHead?
        let requestMayHaveBeenProcessed: Bool
        let bodyIsReplayable: Bool
        var backoffStep: Int
        var elapsed: Duration
        let timeLeft: Duration?
        let date: Date
        var uncounted: Int
        var tooManyRequests: Int
        /// The target of the last redirect.
        let redirect: URL?
        let wasRefused: Bool
        var skipsBackoff: Bool
        let wasSent: Bool
        /// Whether the decoder threw the error, rather than an override of the stage `decode`.
        let isOfDecoder: Bool
        let work: AttemptedWork
        let hosts: HostRegistry
    }
}
