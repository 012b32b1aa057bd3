/// Whether a failed attempt is followed by another, and after what delay: plain data and one pure function.
///
/// The guards are asked in the order in which they stand in ``decision(after:using:)``. With the defaults a GET that
/// fails with 503 is attempted four times, after up to 0.5, 1 and 2 seconds.
public struct RetryPolicy: Sendable {
    /// How many retries follow the first attempt at most. 3 by default; 0 never retries.
    public var maximumRetries: Int

    /// The delays. ``Backoff/exponential(initial:factor:maximum:jitter:)`` with its defaults by default.
    public var backoff: Backoff

    /// The time from the operation's beginning within which its last attempt must begin; `nil` is none. 300 s by default.
    public var elapsedLimit: Duration? = .seconds(300)

    /// The methods that may be sent again although the server may have acted on them already (RFC 9110, section 9.2.2,
    /// and QUERY). Compared without regard to case. A request with an `Idempotency-Key` counts as well.
    public var idempotentMethods: Set<String> = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY"]

    /// The statuses worth another attempt. 408, 425, 429, 500, 502, 503 and 504 by default.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The codes worth another attempt: by default time-outs and failures of look-up, connection and proxy, never those
    /// of a certificate, a bad URL or a content type.
    public var codes: Set<RequestError.Code> = [
        .timedOut, .cannotResolveHost, .cannotConnect, .notConnected, .connectionLost, .truncatedBody, .proxyFailed,
    ]

    /// Judges errors that are not ours, thrown by a stage of your own: `true` makes one worth another attempt. Without
    /// it, the default, they are permanent.
    public var isTransient: (@Sendable (any Error) -> Bool)?

    /// Whether a `Retry-After` field takes the place of the backoff. `true` by default.
    public var honoursRetryAfter = true

    /// The longest `Retry-After` that is waited for; a longer one, or one beyond the deadline or the ``elapsedLimit``,
    /// fails the request at once with ``RequestError/Code/retryAfterTooLong``. 300 s by default.
    public var maximumRetryAfter: Duration = .seconds(300)

    /// Observers that may end a wait early. None by default.
    public var earlyRetryObservers: [any EarlyRetryObserver] = []

    /// Makes a policy; what is not a parameter has its default and can be set afterwards.
    public init(maximumRetries: Int = 3, backoff: Backoff = .exponential()) {
        self.maximumRetries = maximumRetries
        self.backoff = backoff
    }

    /// Never retries.
    public static let none = RetryPolicy(maximumRetries: 0)

    /// What follows a failed attempt.
    ///
    /// Pure: the same failure and the same random numbers give the same decision.
    ///
    /// - Parameters:
    ///   - failure: The failed attempt.
    ///   - random: Where the jitter comes from.
    public func decision(after failure: AttemptFailure, using random: RandomSource) -> RetryDecision {
        guard failure.attempt <= maximumRetries else { return .stop }
        let left = timeLeft(after: failure)
        guard left > .zero else { return .stop }
        guard isTransient(failure) else { return .stop }
        // What surely did not reach the server can be sent again whatever the method.
        guard !failure.requestMayHaveBeenProcessed || isIdempotent(failure.request) else { return .stop }
        // Only now, lest the reason hide that of a failure which would not be retried anyway.
        guard failure.bodyIsReplayable else {
            return .fail(
                failure.error(
                    .bodyNotReplayable, reason: "the body's stream cannot be opened a second time for a retry"))
        }
        guard honoursRetryAfter, let asked = failure.retryAfter else {
            let delay = backoff.delay(beforeRetry: failure.backoffStep, using: random)
            // An attempt that would begin after the last moment is not waited for.
            return delay < left ? .retry(after: delay, or: earlyRetryObservers) : .stop
        }
        guard asked <= maximumRetryAfter, asked < left else {
            return .fail(failure.error(.retryAfterTooLong, reason: "the server asks to wait \(asked)"))
        }
        return .retry(after: asked, or: earlyRetryObservers)
    }

    /// The time in which the next attempt must begin.
    private func timeLeft(after failure: AttemptFailure) -> Duration {
        let untilLimit = elapsedLimit.map { $0 - failure.elapsed } ?? .seconds(Int64.max)
        return min(untilLimit, failure.timeLeft ?? .seconds(Int64.max))
    }

    private func isTransient(_ failure: AttemptFailure) -> Bool {
        guard let code = failure.codeOfOurs else { return isTransient?(failure.error) ?? false }
        return code == .unacceptableStatus ? statuses.contains(failure.head?.status ?? 0) : codes.contains(code)
    }

    private func isIdempotent(_ request: URLRequest) -> Bool {
        // A request without a method is a GET.
        let method = request.httpMethod ?? "GET"
        return idempotentMethods.contains(method)
            || idempotentMethods.contains { $0.uppercased() == method.uppercased() }
            || request.value(forHTTPHeaderField: "Idempotency-Key")?.isEmpty == false
    }
}

extension AttemptFailure {
    /// The code of an error of this package's or a transport's; `nil` for one that a stage of the user's threw.
    fileprivate var codeOfOurs: RequestError.Code? {
        switch error {
        case is RequestError, is TransferFailure: code
        case is URLError where stage == .transfer: code
        default: nil
        }
    }

    /// An error that takes the place of this failure's and keeps it as its cause.
    fileprivate func error(_ code: RequestError.Code, reason: String) -> RequestError {
        RequestError(code, stage: stage, underlying: error, head: head, reason: reason)
    }

    /// The delay that the response's `Retry-After` asks for, if it has a usable one.
    public var retryAfter: Duration? {
        head?.field("Retry-After").flatMap { RetryAfter.delay($0, now: date) }
    }
}
