/// Whether a failed attempt is followed by another, and after what delay: plain data and one function.
///
/// The guards are asked in the order in which they stand in ``decision(after:using:)``. With the defaults a GET that
/// fails with 503 is attempted four times, after up to 0.5, 1 and 2 seconds.
public struct RetryPolicy: Sendable {
    /// How many retries follow the first attempt at most. 3 by default; 0 never retries. Attempts that the
    /// ``circuitBreaker`` refused do not count, nor do hedges (``RequestConfiguration/hedging``).
    public var maximumRetries: Int

    /// How many responses 429 (Too Many Requests) with a `Retry-After` do not count for ``maximumRetries``. 0 by default.
    public var uncountedTooManyRequests = 0

    /// The delays. ``Backoff/exponential(initial:factor:maximum:jitter:)`` with its defaults by default.
    ///
    /// One retry has none: that after the loss of a connection which earlier requests had used, before a byte of the response
    /// has come. Such a connection was too old, which says nothing of the host. The retry makes a new connection and counts
    /// as any other. If it ends in the same way, the next one has a delay.
    public var backoff: Backoff

    /// The time within which the last attempt must begin, counted from when the first attempt is handed to the transport. `nil`
    /// is none. 300 s by default.
    ///
    /// It runs on through all waits. An attempt that begins in time and then waits for its slot may be sent later. A
    /// request of which nothing was sent yet has no such limit. It may wait in a queue, for a network, for a host that
    /// asked to be left alone, or behind an open circuit. A ``RequestConfiguration/deadline`` bounds all of that.
    public var elapsedLimit: Duration? = .seconds(300)

    /// The methods that may be sent again although the server may have acted on them already (RFC 9110, section 9.2.2,
    /// and QUERY). Compared without regard to case. A request with an `Idempotency-Key` counts as well.
    public var idempotentMethods = Self.definedIdempotentMethods

    private static let definedIdempotentMethods: Set<String> = [
        "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY",
    ]

    /// Whether a method is idempotent by its definition. A request without a method is a GET.
    static func isIdempotent(_ method: String?) -> Bool {
        definedIdempotentMethods.containsMethod(method ?? "GET")
    }

    /// Whether a request may be sent again although the server may have acted on it, by its method or by its key.
    static func isIdempotent(_ request: URLRequest) -> Bool {
        isIdempotent(request.httpMethod) || request.hasIdempotencyKey
    }

    /// The statuses worth another attempt. 408, 425, 429, 500, 502, 503 and 504 by default.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The codes worth another attempt. By default these are time-outs, failures of look-up, connection and proxy, an open
    /// circuit and a shortage on this machine. Certificates, bad URLs, content types and broken content codings are not
    /// among them.
    public var codes: Set<RequestError.Code> = [
        .timedOut, .cannotResolveHost, .cannotConnect, .notConnected, .connectionLost, .truncatedBody, .proxyFailed,
        .circuitOpen, .outOfLocalResources,
    ]

    /// Judges errors that are not ours, thrown by a stage of your own: `true` makes one worth another attempt. Without
    /// it, the default, they are permanent.
    public var isTransient: (@Sendable (any Error) -> Bool)?

    /// Whether a `Retry-After` field takes the place of the backoff. `true` by default. It does so in a response that was
    /// rejected, not in one that was accepted and then broke off. One that says "now", as 0 seconds or a date in the past, is
    /// believed after the first failure; at those that follow the backoff counts.
    public var honoursRetryAfter = true

    /// The longest `Retry-After` that a retry waits for, whether this request was told or another one. A longer one, or one
    /// beyond the deadline or the ``elapsedLimit``, fails the request at once with ``RequestError/Code/retryAfterTooLong``.
    /// 300 s by default.
    ///
    /// A request of which nothing was sent yet is only delayed by what another one was told. The ``HostRegistry`` forgets that
    /// after the `maximumRetryAfter` of the request that was told. Only its own deadline fails it.
    public var maximumRetryAfter: Duration = .seconds(300)

    /// Whether the `Retry-After` of a 503 holds for other requests to the host as well (``HostRegistry``), and that of a 429 if
    /// ``sharesTooManyRequests`` is set. `true` by default. With `false` only the request that was told waits. It has no effect
    /// unless ``honoursRetryAfter`` is set.
    public var sharesRetryAfter = true

    /// Whether the `Retry-After` of a 429 holds for other requests to the host as well. `false` by default: it delays only the
    /// request that got it.
    ///
    /// A 429 (RFC 6585, section 4) is about the client that sent too many requests, and one process may act for many clients.
    /// Set this where all requests with the same ``HostRegistry`` count as one client to the server.
    public var sharesTooManyRequests = false

    /// Bounds the retries to each host in proportion to its requests. A ``RetryBudget`` with its defaults by default; `nil` is no
    /// bound.
    public var budget: RetryBudget? = RetryBudget()

    /// Keeps attempts, first ones included, away from a host that fails. `nil`, none, by default.
    ///
    /// An open circuit only delays a request of which nothing was sent yet, unless the circuit stays open until its deadline.
    /// Where ``maximumRetries`` is 0, or ``codes`` lacks ``RequestError/Code/circuitOpen``, the request fails at once.
    public var circuitBreaker: CircuitBreaker?

    /// Observers that may end a wait early, such as ``HostRecoveryObserver`` and ``ReachabilityObserver``. None does while the
    /// host asks to be left alone or its circuit is open. What one of your own wakes still waits for the ``budget``. None by
    /// default.
    public var earlyRetryObservers: [any EarlyRetryObserver] = []

    /// Makes a policy; what is not a parameter has its default and can be set afterwards.
    public init(maximumRetries: Int = 3, backoff: Backoff = .exponential()) {
        self.maximumRetries = maximumRetries
        self.backoff = backoff
    }

    /// What follows a failed attempt, as far as the attempt itself tells.
    ///
    /// Pure: the same failure and the same random numbers give the same decision. After it, and after the deciders, the operation
    /// asks what is known of the host: its circuit, the `Retry-After` that others were told, and the ``budget``.
    ///
    /// - Parameters:
    ///   - failure: The failed attempt.
    ///   - random: Where the jitter comes from.
    public func decision(after failure: AttemptFailure, using random: RandomSource) -> RetryDecision {
        switch verdict(on: failure) {
        case .stops: return .stop
        case .fails(let error): return .fail(error)
        case .retries(let asked):
            let delay = asked ?? backoffDelay(after: failure, using: random)
            // An attempt that would begin after the last moment is not waited for.
            guard delay < timeLeft(after: failure) else { return .stop }
            return .retry(after: delay, or: earlyRetryObservers)
        }
    }

    /// Why a failed attempt is followed by no other, if it is not.
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
        /// With an error that takes the place of the failure's.
        case fails(RequestError)
        /// After a time that the response asked for, if it did.
        case retries(asked: Duration?)
    }

    /// The guards, one after the other. What is asked later concerns only what would be retried.
    private func verdict(on failure: AttemptFailure) -> Verdict {
        let uncounted = failure.uncounted + min(failure.tooManyRequests, max(uncountedTooManyRequests, 0))
        let counted = failure.attempt - uncounted
        guard maximumRetries > 0, counted <= maximumRetries else {
            return .stops(.attempts(counted, of: max(maximumRetries, 0) + 1))
        }
        let left = timeLeft(after: failure)
        guard left > .zero else { return .stops(endOfTime(after: failure)) }
        guard isTransient(failure) else { return .stops(.notPassing) }
        // What surely did not reach the server can be sent again whatever the method.
        guard !failure.requestMayHaveBeenProcessed || isIdempotent(failure.request) else {
            return .stops(.notRepeatable(method: failure.request.httpMethod ?? "GET"))
        }
        guard failure.bodyIsReplayable || failure.wasRefused else {
            return .fails(
                failure.error(
                    .bodyNotReplayable, reason: "the body's stream cannot be opened a second time for a retry"))
        }
        guard let asked = askedDelay(after: failure) else { return .retries(asked: nil) }
        guard asked <= maximumRetryAfter, asked < left else {
            return .fails(failure.error(.retryAfterTooLong, reason: "the server asks to wait \(asked)"))
        }
        // "Now" is believed once: a server that says so at every failure would be sent one attempt after another.
        return .retries(asked: asked > .zero || failure.backoffStep <= 1 ? asked : nil)
    }

    /// What the response of a failed attempt asked for, if that counts.
    func askedDelay(after failure: AttemptFailure) -> Duration? {
        honoursRetryAfter && failure.isAnswer ? failure.retryAfter : nil
    }

    private func longestBackoff(after failure: AttemptFailure) -> Duration {
        failure.skipsBackoff ? .zero : backoff.longestDelay(beforeRetry: failure.backoffStep)
    }

    private func backoffDelay(after failure: AttemptFailure, using random: RandomSource) -> Duration {
        failure.skipsBackoff ? .zero : backoff.delay(beforeRetry: failure.backoffStep, using: random)
    }

    /// Whether the `Retry-After` of a response with this status is about the host, and not only about the request.
    func sharesRetryAfter(of status: Int) -> Bool {
        statuses.contains(status) && (status == 503 || status == 429 && sharesTooManyRequests)
    }

    /// The time in which the next attempt must begin.
    func timeLeft(after failure: AttemptFailure) -> Duration {
        timeLeft(elapsed: failure.wasSent ? failure.elapsed : nil, untilDeadline: failure.timeLeft)
    }

    /// Which of the two ends that time.
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

    /// What an attempt that ended with an error says of the host.
    func outcome(of error: any Error) -> CircuitState.Outcome {
        guard !error.meansCancellation else { return .cancelled }
        // The connection was too old, whatever the host does.
        if let failure = error as? TransferFailure, failure.lostReusedConnection { return .cancelled }
        let error = RequestError(wrapping: error, stage: .transfer)
        // The shortage is on this side, whatever is retried.
        if error.code == .outOfLocalResources { return .cancelled }
        if error.code == .unacceptableStatus {
            return statuses.contains(error.head?.status ?? 0) ? .failed : .succeeded
        }
        if codes.contains(error.code) { return .failed }
        // Without a response nothing was learnt: it may have failed on this side.
        return error.head == nil ? .cancelled : .succeeded
    }

    /// Whether a failure is a passing one.
    func isTransient(_ failure: AttemptFailure) -> Bool {
        guard let code = failure.codeOfOurs else { return isTransient?(failure.error) ?? false }
        return code == .unacceptableStatus ? statuses.contains(failure.head?.status ?? 0) : codes.contains(code)
    }

    private func isIdempotent(_ request: URLRequest) -> Bool {
        idempotentMethods.containsMethod(request.httpMethod ?? "GET")
            || request.hasIdempotencyKey
    }
}

extension RetryPolicy {
    /// The defaults: three retries, after up to 0.5, 1 and 2 seconds.
    public static let `default` = RetryPolicy()

    /// Never retries.
    public static let none = RetryPolicy(maximumRetries: 0)

    /// For who would rather wait than fail: ten retries, after up to 0.25, 0.5, 1, 2, 4, 8 and then 10 seconds each, the last
    /// of them within ten minutes.
    public static let aggressive = {
        var policy = RetryPolicy(
            maximumRetries: 10, backoff: .exponential(initial: .milliseconds(250), maximum: .seconds(10)))
        policy.elapsedLimit = .seconds(600)
        return policy
    }()

    /// That of the URLRequestOperation which this package succeeds: without end, after up to 1, 3, 60, 3600 and then 21600
    /// seconds each, and without a budget. What is worth another attempt is judged as here, not as there.
    public static let ancestor = {
        var policy = RetryPolicy(maximumRetries: .max, backoff: .ancestor)
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
    /// The code of an error of this package's or a transport's; `nil` for one that a stage of the user's threw.
    var codeOfOurs: RequestError.Code? {
        switch error {
        case is RequestError: code
        case is TransferFailure where stage.isOfTransfer: code
        default: nil
        }
    }

    /// An error that takes the place of this failure's and keeps it as its cause. It says why there is no retry.
    func error(_ code: RequestError.Code, reason: String) -> RequestError {
        RequestError(code, stage: stage, underlying: error, head: head, reason: reason)
    }

    /// Whether it is what a response said, and not what befell the transfer of one that was accepted.
    fileprivate var isAnswer: Bool { codeOfOurs.map { $0 == .unacceptableStatus } ?? true }

    /// The delay that the response's `Retry-After` asks for, if it has a usable one. A date counts from that of the response
    /// itself, if it has a `Date`: the server's clock need not be ours.
    public var retryAfter: Duration? {
        head?.retryAfter(at: date)
    }
}

extension ResponseHead {
    /// The delay that its `Retry-After` asks for, if it has a usable one.
    ///
    /// - Parameter date: When the response was seen. Its own `Date` takes the place of that.
    func retryAfter(at date: Date) -> Duration? {
        guard let value = field("Retry-After") else { return nil }
        return RetryAfter.delay(value, now: field("Date").flatMap { HTTPDate.parse($0, now: date) } ?? date)
    }
}
