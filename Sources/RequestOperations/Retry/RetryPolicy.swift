/// Decides whether another attempt follows a failed one, and after what delay. It is plain data and one function.
///
/// ``decision(after:using:)`` applies its checks in a fixed order. With the defaults, a GET that keeps failing with 503
/// is attempted four times, after delays of up to 0.5, 1 and 2 seconds.
public struct RetryPolicy: Sendable {
    /// The most retries after the first attempt. 3 by default; 0 never retries. Attempts that the ``circuitBreaker``
    /// refused do not count. Hedges (``RequestConfiguration/hedging``) do not count either.
    public var maximumRetries: Int

    /// How many 429 responses (Too Many Requests) with a `Retry-After` do not count for ``maximumRetries``. 0 by
    /// default.
    public var uncountedTooManyRequests = 0

    /// The delays before the retries. ``Backoff/exponential(initial:factor:maximum:jitter:)`` with its defaults by
    /// default.
    ///
    /// One kind of retry has no delay. It follows the loss of a connection that earlier requests had used, if no byte
    /// of the response has arrived. Such a connection was too old, which says nothing about the host. The retry makes a
    /// new connection and counts like any other. If it ends in the same way, the next one has a delay.
    public var backoff: Backoff

    /// The time in which the last attempt must begin, counted from when the first attempt is handed to the transport.
    /// `nil` means no limit. 300 s by default.
    ///
    /// The time includes all waits. An attempt that begins in time and then waits for its slot may be sent later. The
    /// limit does not apply to a request that has sent nothing yet. Such a request may wait in a queue, for a network,
    /// for a host that asked to be left alone, or behind an open circuit. Use ``RequestConfiguration/deadline`` to
    /// limit these waits.
    public var elapsedLimit: Duration? = .seconds(300)

    /// The methods that may be sent again even if the server may already have acted on them (RFC 9110, section 9.2.2,
    /// and QUERY). Case does not matter. A request with an `Idempotency-Key` may be sent again too.
    public var idempotentMethods = RequestPreflight.idempotentMethods

    /// Whether a request may be sent again even if the server may have acted on it. Its method or its key can allow
    /// that.
    static func isIdempotent(_ request: URLRequest) -> Bool {
        RequestPreflight.isIdempotent(request.httpMethod) || request.hasIdempotencyKey
    }

    /// The statuses that are worth another attempt. 408, 425, 429, 500, 502, 503 and 504 by default.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The codes that are worth another attempt. The defaults are time-outs, failures of look-up, connection and proxy,
    /// an open circuit, and a shortage of resources on this machine. Errors of certificates, bad URLs, content types
    /// and broken content codings are not among them.
    public var codes: Set<RequestError.Code> = [
        .timedOut, .cannotResolveHost, .cannotConnect, .notConnected, .connectionLost, .truncatedBody, .proxyFailed,
        .circuitOpen, .outOfLocalResources,
    ]

    /// Judges errors that a stage of your own throws. If it returns `true`, the error is worth another attempt. With
    /// `nil`, the default, such an error is permanent in a request, and temporary in other work
    /// (``RetryingOperation``).
    public var isTransient: (@Sendable (any Error) -> Bool)?

    /// Whether a `Retry-After` field replaces the backoff. `true` by default. The field counts only in a rejected
    /// response, not in an accepted response that then breaks off. A value of 0 seconds or a date in the past means
    /// "now". "Now" counts only after the first failure; after later ones the backoff is used.
    public var honoursRetryAfter = true

    /// The longest `Retry-After` that a retry waits for, whether this request or another one received it. 300 s by
    /// default. A longer `Retry-After` fails the request at once with ``RequestError/Code/retryAfterTooLong``. So does
    /// one that ends after the deadline or the ``elapsedLimit``.
    ///
    /// If another request received the field, it only delays a request that has sent nothing yet. That request fails
    /// only if its own deadline passes. The ``HostRegistry`` keeps the time for at most the `maximumRetryAfter` of the
    /// request that received it.
    public var maximumRetryAfter: Duration = .seconds(300)

    /// Whether the `Retry-After` of a 503 also applies to other requests to the host (``HostRegistry``). `true` by
    /// default. With `false`, only the request that received it waits. With ``sharesTooManyRequests``, the same holds
    /// for a 429. This has no effect unless ``honoursRetryAfter`` is set.
    public var sharesRetryAfter = true

    /// Whether the `Retry-After` of a 429 also applies to other requests to the host. `false` by default: it delays
    /// only the request that received it.
    ///
    /// A 429 (RFC 6585, section 4) concerns the client that sent too many requests, and one process may act for many
    /// clients. Set this if the server sees all requests with the same ``HostRegistry`` as one client.
    public var sharesTooManyRequests = false

    /// Limits the retries to each host in proportion to its requests. By default a ``RetryBudget`` with its defaults;
    /// `nil` means no limit.
    public var budget: RetryBudget? = RetryBudget()

    /// Stops attempts, including first ones, to a host that keeps failing. `nil` by default, which means no breaker.
    ///
    /// An open circuit only delays a request that has sent nothing yet. The request fails if the circuit stays open
    /// until its deadline. If ``maximumRetries`` is 0 or ``codes`` lacks ``RequestError/Code/circuitOpen``, the request
    /// fails at once.
    public var circuitBreaker: CircuitBreaker?

    /// Observers that may end a wait early. By default a ``HostRecoveryObserver`` and a ``ReachabilityObserver``. With
    /// an empty array, no sign ends a wait.
    ///
    /// No observer ends a wait while the host asks to be left alone or its circuit is open. A retry that an observer of
    /// your own wakes still waits for the ``budget``.
    public var earlyRetryObservers = Self.bothSigns

    private static let bothSigns: [any EarlyRetryObserver] = [HostRecoveryObserver(), ReachabilityObserver()]

    /// Makes a policy. Everything that is not a parameter has its default and can be set later.
    public init(maximumRetries: Int = 3, backoff: Backoff = .exponential()) {
        self.maximumRetries = maximumRetries
        self.backoff = backoff
    }

    /// Returns what follows a failed attempt, judged by the attempt alone.
    ///
    /// The function is pure: the same failure and the same random numbers give the same decision. Afterwards the
    /// deciders are asked. Then the operation checks what is known about the host: its circuit, the `Retry-After` that
    /// others received, and the ``budget``.
    ///
    /// - Parameters:
    ///   - failure: The failed attempt.
    ///   - random: The source of the jitter.
    public func decision(after failure: AttemptFailure, using random: RandomSource) -> RetryDecision {
        switch verdict(on: failure) {
        case .stops: return .stop
        case .fails(let error): return .fail(error)
        case .retries(let asked):
            let delay = asked ?? backoffDelay(after: failure, using: random)
            // We do not wait for an attempt that would begin after the last possible moment.
            guard delay < timeLeft(after: failure) else { return .stop }
            return .retry(after: delay, or: earlyRetryObservers)
        }
    }

    /// The reason why no other attempt follows a failed one, or `nil` if one does.
    func reasonNotToRetry(_ failure: AttemptFailure) -> NotRetried? {
        switch verdict(on: failure) {
        case .stops(let reason): reason
        case .fails(let error): error.reason.map { .said($0) }
        case .retries(nil) where longestBackoff(after: failure) >= timeLeft(after: failure): endOfTime(after: failure)
        case .retries: nil
        }
    }

    private enum Verdict {
        case stops(NotRetried)
        /// The request fails with this error instead of the failure's own.
        case fails(RequestError)
        /// A retry follows, after the time that the response asked for, if it did.
        case retries(asked: Duration?)
    }

    /// Applies the checks in order. Each check only sees a failure that the checks before it would retry.
    private func verdict(on failure: AttemptFailure) -> Verdict {
        let uncounted = failure.uncounted + min(failure.tooManyRequests, max(uncountedTooManyRequests, 0))
        let counted = failure.attempt - uncounted
        guard maximumRetries > 0, counted <= maximumRetries else {
            return .stops(.attempts(counted, of: max(maximumRetries, 0) + 1))
        }
        let left = timeLeft(after: failure)
        guard left > .zero else { return .stops(endOfTime(after: failure)) }
        guard isTransient(failure) else { return .stops(.notPassing) }
        // A request that did not reach the server can be sent again with any method.
        if failure.requestMayHaveBeenProcessed, let reason = reasonNotToRepeat(failure) { return .stops(reason) }
        guard failure.bodyIsReplayable || failure.wasRefused else {
            return .fails(
                failure.error(
                    .bodyNotReplayable, reason: "the body's stream cannot be opened a second time for a retry"))
        }
        guard let asked = askedDelay(after: failure) else { return .retries(asked: nil) }
        guard asked <= maximumRetryAfter, asked < left else {
            return .fails(failure.error(.retryAfterTooLong, reason: "the server asks to wait \(asked)"))
        }
        // We accept "now" only once. Otherwise a server that says so after every failure would get one attempt after
        // another without a pause.
        return .retries(asked: asked > .zero || failure.backoffStep <= 1 ? asked : nil)
    }

    /// The delay that the response of a failed attempt asked for, if it counts.
    func askedDelay(after failure: AttemptFailure) -> Duration? {
        honoursRetryAfter && failure.isAnswer ? failure.retryAfter : nil
    }

    private func longestBackoff(after failure: AttemptFailure) -> Duration {
        failure.skipsBackoff ? .zero : backoff.longestDelay(beforeRetry: failure.backoffStep)
    }

    private func backoffDelay(after failure: AttemptFailure, using random: RandomSource) -> Duration {
        failure.skipsBackoff ? .zero : backoff.delay(beforeRetry: failure.backoffStep, using: random)
    }

    /// Whether the `Retry-After` of a response with this status concerns the whole host, not only this request.
    func sharesRetryAfter(of status: Int) -> Bool {
        statuses.contains(status) && (status == 503 || status == 429 && sharesTooManyRequests)
    }

    /// The time in which the next attempt must begin.
    func timeLeft(after failure: AttemptFailure) -> Duration {
        timeLeft(elapsed: failure.wasSent ? failure.elapsed : nil, untilDeadline: failure.timeLeft)
    }

    /// Whether the elapsed limit or the deadline ends that time first.
    func endOfTime(after failure: AttemptFailure) -> NotRetried {
        guard failure.wasSent, let elapsedLimit,
            elapsedLimit - failure.elapsed <= failure.timeLeft ?? .seconds(Int64.max)
        else {
            return .deadline
        }
        return .elapsedLimit(elapsedLimit)
    }

    /// The time in which the next attempt must begin.
    ///
    /// - Parameter elapsed: The time since the first attempt was handed to the transport; `nil` if none was.
    func timeLeft(elapsed: Duration?, untilDeadline: Duration?) -> Duration {
        let untilLimit = elapsed.flatMap { elapsed in elapsedLimit.map { $0 - elapsed } } ?? .seconds(Int64.max)
        return min(untilLimit, untilDeadline ?? .seconds(Int64.max))
    }

    /// What an attempt that ended with an error shows about the host.
    func outcome(of error: any Error) -> CircuitState.Outcome {
        guard !error.meansCancellation else { return .cancelled }
        // The connection was too old. That says nothing about the host.
        if let failure = error as? TransferFailure, failure.lostReusedConnection { return .cancelled }
        let error = RequestError(wrapping: error, stage: .transfer)
        // The shortage is on this machine, even if the policy retries it.
        if error.code == .outOfLocalResources { return .cancelled }
        if error.code == .unacceptableStatus {
            return statuses.contains(error.head?.status ?? 0) ? .failed : .succeeded
        }
        if codes.contains(error.code) { return .failed }
        // Without a response we learn nothing about the host. The failure may have happened on this machine.
        return error.head == nil ? .cancelled : .succeeded
    }

    /// Whether a failure is temporary.
    func isTransient(_ failure: AttemptFailure) -> Bool {
        guard let code = failure.codeOfOurs else { return isTransient?(failure.error) ?? failure.work.isOther }
        return code == .unacceptableStatus ? statuses.contains(failure.head?.status ?? 0) : codes.contains(code)
    }

    /// Why work that may have had an effect is not repeated. `nil` if it may be repeated.
    private func reasonNotToRepeat(_ failure: AttemptFailure) -> NotRetried? {
        switch failure.work {
        case .request where isIdempotent(failure.request), .tus: nil
        case .request: .notRepeatable(method: failure.request.httpMethod ?? "GET")
        case .other(let isIdempotent, _): isIdempotent ? nil : .notIdempotent
        }
    }

    /// Whether a request may be sent again even if the server may have acted on it, by this policy.
    func isIdempotent(_ request: URLRequest) -> Bool {
        idempotentMethods.containsMethod(request.httpMethod ?? "GET")
            || request.hasIdempotencyKey
    }
}

extension RetryPolicy {
    /// The defaults: three retries, after up to 0.5, 1 and 2 seconds.
    public static let `default` = RetryPolicy()

    /// Never retries.
    public static let none = RetryPolicy(maximumRetries: 0)

    /// For clients that would rather wait than fail. It makes ten retries, after up to 0.25, 0.5, 1, 2, 4, 8 and then
    /// 10 seconds each. The last one begins within ten minutes.
    public static let aggressive = {
        var policy = RetryPolicy(
            maximumRetries: 10, backoff: .exponential(initial: .milliseconds(250), maximum: .seconds(10)))
        policy.elapsedLimit = .seconds(600)
        return policy
    }()

    /// Retries without end, after up to 1, 3, 60, 3600 and then 21600 seconds each, and without a budget.
    ///
    /// The older URLRequestOperation, which this package replaces, had these delays. Which failures are worth another
    /// attempt is decided as by every policy of this package.
    public static let endless = {
        var policy = RetryPolicy(maximumRetries: .max, backoff: .upToSixHours)
        policy.elapsedLimit = nil
        policy.maximumRetryAfter = .seconds(21600)
        policy.budget = nil
        return policy
    }()
}

extension Set<String> {
    fileprivate func containsMethod(_ method: String) -> Bool {
        contains(method) || contains { $0.uppercased() == method.uppercased() }
    }
}

extension URLRequest {
    fileprivate var hasIdempotencyKey: Bool { value(forHTTPHeaderField: IdempotencyKey.field)?.isEmpty == false }
}

extension AttemptFailure {
    /// The code of an error of this package or a transport. `nil` for an error that a stage of the user's threw.
    var codeOfOurs: RequestError.Code? {
        switch error {
        case is RequestError: code
        case is TransferFailure where stage.isOfTransfer: code
        default: nil
        }
    }

    /// Makes an error that replaces this failure's error, keeps it as the cause, and says why there is no retry.
    func error(_ code: RequestError.Code, reason: String) -> RequestError {
        RequestError(code, stage: stage, underlying: error, head: head, reason: reason)
    }

    /// Whether the response itself caused the failure, rather than the transfer of a response that was accepted.
    fileprivate var isAnswer: Bool { codeOfOurs.map { $0 == .unacceptableStatus } ?? true }

    /// The delay that the response's `Retry-After` asks for, if it has a usable one. A date is compared with the
    /// response's own `Date`, if it has one, because the server's clock may differ from ours.
    public var retryAfter: Duration? {
        head?.retryAfter(at: date)
    }
}

extension ResponseHead {
    /// The delay that its `Retry-After` asks for, if it has a usable one.
    ///
    /// - Parameter date: When the response was seen. The response's own `Date` replaces it.
    func retryAfter(at date: Date) -> Duration? {
        guard let value = field("Retry-After") else { return nil }
        return RetryAfter.delay(value, now: field("Date").flatMap { HTTPDate.parse($0, now: date) } ?? date)
    }
}

/// The value of a `Retry-After` field (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// The delay that a value asks for, or `nil` if it is neither a number of seconds nor a date.
    ///
    /// Seconds are digits. Some servers send a fraction, as in `1.5`, and that counts too. A date may have any of the
    /// three forms of RFC 9110, section 5.6.7, with any separators between its parts. It may have `UTC` or no zone
    /// instead of `GMT`. A date in the past means now. Anything else is ignored, a negative number for example.
    ///
    /// - Parameters:
    ///   - value: The field's value.
    ///   - now: The time that a date is compared with.
    public static func delay(_ value: String, now: Date) -> Duration? {
        let value = value.trimmingCharacters(in: .whitespaces)
        let parts = value.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDecimalDigit) }) else {
            return HTTPDate.parse(value, now: now).map { .rounded(seconds: $0.timeIntervalSince(now)) }
        }
        // A number that overflows counts as the longest delay, which is longer than any request waits.
        let whole = Duration.seconds(min(Int64(parts[0]) ?? .max, longest))
        guard parts.count == 2, let fraction = Double("0." + parts[1]) else { return whole }
        return whole + .rounded(seconds: fraction)
    }

    /// About three thousand years in seconds, far below the limit of a `Duration`.
    private static let longest: Int64 = 100_000_000_000
}

extension UInt8 {
    fileprivate var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
