import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct RetryPolicyTests {
    private static let url = URL(string: "https://a.example/x")!  // A literal that is a URL.

    private static func request(_ method: String? = "GET", _ fields: [String: String] = [:]) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        return request
    }

    private static func failure(
        _ error: any Error = RequestError(.timedOut, stage: .transfer), attempt: Int = 1, method: String? = "GET",
        stage: RequestError.Stage = .transfer, mayHaveBeenProcessed: Bool = true, isReplayable: Bool = true,
        elapsed: Duration = .zero, timeLeft: Duration? = nil
    ) -> AttemptFailure {
        AttemptFailure(
            error, attempt: attempt, request: request(method), stage: stage,
            requestMayHaveBeenProcessed: mayHaveBeenProcessed, bodyIsReplayable: isReplayable, elapsed: elapsed,
            timeLeft: timeLeft)
    }

    private static func status(
        _ status: Int, retryAfter: String? = nil, method: String = "GET", elapsed: Duration = .zero,
        timeLeft: Duration? = nil, attempt: Int = 1
    ) -> AttemptFailure {
        let head = ResponseHead(
            status: status, url: url, fields: retryAfter.map { [("Retry-After", $0)] } ?? [], version: .http1_1)
        return AttemptFailure(
            RequestError(.unacceptableStatus, stage: .validate, head: head), attempt: attempt, request: request(method),
            stage: .validate, elapsed: elapsed, timeLeft: timeLeft)
    }

    private enum Outcome: Equatable {
        case stop
        case retry(Duration)
        case fail(RequestError.Code)
        case other
    }

    private static func outcome(_ policy: RetryPolicy, _ failure: AttemptFailure) -> Outcome {
        switch policy.decision(after: failure, using: RandomSource(seed: 1)) {
        case .stop: .stop
        case .retry(let delay, _, false, false, nil): .retry(delay)
        case .fail(let error as RequestError): .fail(error.code)
        case .retry, .fail: .other
        }
    }

    /// The defaults without jitter.
    private static func exact(_ edit: (inout RetryPolicy) -> Void = { _ in }) -> RetryPolicy {
        var policy = RetryPolicy(backoff: .exponential(jitter: .none))
        edit(&policy)
        return policy
    }

    // MARK: Attempts

    @Test(arguments: [(1, true), (2, true), (3, true), (4, false), (5, false), (Int.max, false)])
    func `Three retries follow the first attempt`(attempt: Int, isRetried: Bool) {
        let outcome = Self.outcome(Self.failure(attempt: attempt))
        #expect((outcome != .stop) == isRetried)
    }

    @Test(arguments: [0, -1, Int.min])
    func `A policy without retries stops at once`(maximum: Int) {
        #expect(Self.outcome(RetryPolicy(maximumRetries: maximum), Self.failure()) == .stop)
    }

    @Test func `The delay is that of the backoffs step not of the attempt`() {
        let failure = AttemptFailure(
            RequestError(.timedOut, stage: .transfer), attempt: 3, request: Self.request(), backoffStep: 1)
        #expect(Self.outcome(failure) == .retry(.milliseconds(500)))
    }

    // MARK: Time

    @Test(arguments: [(0, true), (299, true), (300, false), (301, false)])
    func `The last attempt begins within the elapsed limit`(elapsed: Int, isRetried: Bool) {
        let outcome = Self.outcome(Self.failure(elapsed: .seconds(elapsed)))
        #expect((outcome != .stop) == isRetried)
    }

    @Test func `A backoff that would pass the elapsed limit is not waited for`() {
        #expect(Self.outcome(Self.failure(elapsed: .milliseconds(299_400))) == .retry(.milliseconds(500)))
        #expect(Self.outcome(Self.failure(elapsed: .milliseconds(299_600))) == .stop)
    }

    @Test func `Without an elapsed limit time does not matter`() {
        let policy = Self.exact { $0.elapsedLimit = nil }
        #expect(Self.outcome(policy, Self.failure(elapsed: .seconds(Int64.max))) == .retry(.milliseconds(500)))
    }

    @Test(arguments: [(501, true), (500, false), (499, false), (0, false), (-1, false)])
    func `A backoff that would pass the deadline is not waited for`(millisecondsLeft: Int, isRetried: Bool) {
        let outcome = Self.outcome(Self.failure(timeLeft: .milliseconds(millisecondsLeft)))
        #expect((outcome != .stop) == isRetried)
    }

    @Test func `A passed limit stops before anything else is said`() {
        #expect(Self.outcome(Self.failure(isReplayable: false, elapsed: .seconds(301))) == .stop)
        #expect(Self.outcome(Self.status(503, retryAfter: "900", timeLeft: .zero)) == .stop)
    }

    // MARK: What is worth it

    static let transient: Set<RequestError.Code> = [
        .timedOut, .cannotResolveHost, .cannotConnect, .notConnected, .connectionLost, .truncatedBody, .proxyFailed,
        .circuitOpen, .outOfLocalResources,
    ]

    @Test(arguments: RequestErrorCodeTests.all)
    func `Only transient codes are retried`(code: RequestError.Code) {
        let outcome = Self.outcome(Self.failure(RequestError(code, stage: .transfer)))
        #expect((outcome != .stop) == Self.transient.contains(code))
    }

    @Test(arguments: Array(100...599))
    func `Only transient statuses are retried`(status: Int) {
        let outcome = Self.outcome(Self.status(status))
        #expect((outcome != .stop) == [408, 425, 429, 500, 502, 503, 504].contains(status))
    }

    @Test func `An error of a stage is permanent`() {
        struct Mine: Error {}
        #expect(Self.outcome(Self.failure(Mine(), stage: .process)) == .stop)
        #expect(Self.outcome(Self.failure(URLError(.timedOut), stage: .process)) == .stop)
    }

    @Test func `An error of a stage that the policy lists is transient`() {
        struct Mine: Error {}
        let policy = Self.exact { $0.isTransient = { $0 is Mine } }
        #expect(Self.outcome(policy, Self.failure(Mine(), stage: .process)) == .retry(.milliseconds(500)))
    }

    @Test func `The judge of foreign errors is not asked about ours`() {
        let policy = Self.exact { $0.isTransient = { _ in true } }
        #expect(Self.outcome(policy, Self.failure(RequestError(.badURL, stage: .transfer))) == .stop)
    }

    @Test func `An error of ours out of a stage keeps its code`() {
        let error = RequestError(.connectionLost, stage: .transfer)
        #expect(Self.outcome(Self.failure(error, stage: .process)) == .retry(.milliseconds(500)))
    }

    @Test func `A transports failure is judged by its cause`() {
        let lost = TransferFailure(RequestError(.connectionLost, stage: .transfer), phase: .head)
        let untrusted = TransferFailure(RequestError(.untrustedCertificate, stage: .transfer), phase: .connect)
        #expect(Self.outcome(Self.failure(lost)) == .retry(.milliseconds(500)))
        #expect(Self.outcome(Self.failure(untrusted)) == .stop)
    }

    @Test func `An error of Foundation's is foreign wherever it comes from`() {
        // One that a transport threw has become a `RequestError` before the policy sees it.
        #expect(Self.outcome(Self.failure(URLError(.networkConnectionLost))) == .stop)
        let policy = Self.exact { $0.isTransient = { $0 is URLError } }
        #expect(Self.outcome(policy, Self.failure(URLError(.timedOut))) == .retry(.milliseconds(500)))
    }

    @Test func `The failure of a transport that another stage throws is foreign`() {
        let lost = TransferFailure(RequestError(.connectionLost, stage: .transfer), phase: .head)
        #expect(Self.outcome(Self.failure(lost, stage: .process)) == .stop)
    }

    // MARK: Methods

    @Test(arguments: ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY", "get", "Put", "query"])
    func `An idempotent method is retried whatever its case`(method: String) {
        #expect(Self.outcome(Self.failure(method: method)) != .stop)
    }

    @Test(arguments: ["POST", "PATCH", "CONNECT", "LOCK", "post", ""])
    func `Another method is not retried once it may have been processed`(method: String) {
        #expect(Self.outcome(Self.failure(method: method)) == .stop)
    }

    @Test(arguments: ["POST", "PATCH", "LOCK"])
    func `Any method is retried that surely did not reach the server`(method: String) {
        #expect(Self.outcome(Self.failure(method: method, mayHaveBeenProcessed: false)) != .stop)
    }

    @Test func `An idempotency key makes any method idempotent`() {
        let failure = AttemptFailure(
            RequestError(.timedOut, stage: .transfer), request: Self.request("POST", ["idempotency-key": "\"k\""]))
        #expect(Self.outcome(failure) != .stop)
    }

    @Test func `An empty idempotency key is none`() {
        let failure = AttemptFailure(
            RequestError(.timedOut, stage: .transfer), request: Self.request("POST", ["Idempotency-Key": ""]))
        #expect(Self.outcome(failure) == .stop)
    }

    @Test func `Methods can be added in any case`() {
        let policy = Self.exact { $0.idempotentMethods.insert("propFind") }
        #expect(Self.outcome(policy, Self.failure(method: "PROPFIND")) != .stop)
    }

    // MARK: Bodies

    @Test func `A body that cannot be sent again fails with that reason and keeps the cause`() {
        let decision = RetryPolicy().decision(
            after: Self.failure(isReplayable: false), using: RandomSource(seed: 1))
        guard case .fail(let error as RequestError) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(error.code == .bodyNotReplayable)
        #expect((error.underlying as? RequestError)?.code == .timedOut)
    }

    @Test func `A failure that is not retried anyway keeps its own reason`() {
        #expect(Self.outcome(Self.failure(RequestError(.badURL, stage: .transfer), isReplayable: false)) == .stop)
        #expect(Self.outcome(Self.failure(method: "POST", isReplayable: false)) == .stop)
        #expect(Self.outcome(Self.failure(attempt: 4, isReplayable: false)) == .stop)
    }

    // MARK: Retry-After

    @Test(arguments: [429, 503, 500])
    func `Retry after takes the place of the backoff`(status: Int) {
        #expect(Self.outcome(Self.status(status, retryAfter: "7")) == .retry(.seconds(7)))
    }

    @Test func `Retry after zero means now`() {
        #expect(Self.outcome(Self.status(503, retryAfter: "0")) == .retry(.zero))
    }

    @Test(arguments: ["0", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func `Who says now again and again is believed once`(value: String) {
        #expect(Self.outcome(Self.exact(), Self.status(503, retryAfter: value, attempt: 2)) == .retry(.seconds(1)))
        #expect(Self.outcome(Self.exact(), Self.status(503, retryAfter: value, attempt: 3)) == .retry(.seconds(2)))
    }

    @Test func `Who asks for a little is believed each time`() {
        #expect(Self.outcome(Self.exact(), Self.status(503, retryAfter: "1", attempt: 3)) == .retry(.seconds(1)))
    }

    @Test func `Retry after of a response that was accepted and broke off says nothing`() {
        let head = ResponseHead(status: 200, url: Self.url, fields: [("Retry-After", "3600")], version: .http1_1)
        let failure = AttemptFailure(
            RequestError(.connectionLost, stage: .transfer, head: head), request: Self.request("GET"))
        #expect(Self.outcome(Self.exact(), failure) == .retry(.milliseconds(500)))
    }

    @Test func `Retry after counts where an error of the users rejected the response`() {
        let head = ResponseHead(status: 202, url: Self.url, fields: [("Retry-After", "7")], version: .http1_1)
        let failure = AttemptFailure(Problem(), request: Self.request("GET"), stage: .validate, head: head)
        #expect(Self.outcome(Self.exact { $0.isTransient = { $0 is Problem } }, failure) == .retry(.seconds(7)))
    }

    @Test(arguments: ["", "-1", "soon", "1.5.2", "7, 9"])
    func `An unusable retry after leaves the backoff`(value: String) {
        #expect(Self.outcome(Self.status(503, retryAfter: value)) == .retry(.milliseconds(500)))
    }

    @Test func `A date is compared with when the failure was seen`() {
        let head = ResponseHead(
            status: 503, url: Self.url, fields: [("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")])
        let failure = AttemptFailure(
            RequestError(.unacceptableStatus, stage: .validate, head: head), request: Self.request(),
            date: Date(timeIntervalSince1970: 784_111_777 - 12))
        #expect(Self.outcome(failure) == .retry(.seconds(12)))
    }

    @Test func `A policy can disregard retry after`() {
        let policy = Self.exact { $0.honoursRetryAfter = false }
        #expect(Self.outcome(policy, Self.status(503, retryAfter: "7")) == .retry(.milliseconds(500)))
    }

    @Test func `A retry after of the policys very maximum is kept`() {
        let policy = Self.exact { $0.elapsedLimit = nil }
        #expect(Self.outcome(policy, Self.status(503, retryAfter: "300")) == .retry(.seconds(300)))
    }

    @Test(arguments: ["301", "99999999999999999999999"])
    func `A retry after beyond the policys maximum fails at once and says so`(value: String) {
        let policy = Self.exact { $0.elapsedLimit = nil }
        #expect(Self.outcome(policy, Self.status(503, retryAfter: value)) == .fail(.retryAfterTooLong))
    }

    @Test(arguments: [(8, true), (7, false), (6, false)])
    func `A retry after beyond the deadline fails at once and says so`(left: Int, isRetried: Bool) {
        let outcome = Self.outcome(Self.status(503, retryAfter: "7", timeLeft: .seconds(left)))
        #expect(outcome == (isRetried ? .retry(.seconds(7)) : .fail(.retryAfterTooLong)))
    }

    @Test(arguments: [(292, true), (293, false)])
    func `A retry after beyond the elapsed limit fails at once and says so`(elapsed: Int, isRetried: Bool) {
        let outcome = Self.outcome(Self.status(503, retryAfter: "7", elapsed: .seconds(elapsed)))
        #expect(outcome == (isRetried ? .retry(.seconds(7)) : .fail(.retryAfterTooLong)))
    }

    @Test func `A retry after of a failure that is not retried anyway is not mentioned`() {
        #expect(Self.outcome(Self.status(404, retryAfter: "9999")) == .stop)
        #expect(Self.outcome(Self.status(503, retryAfter: "9999", method: "POST")) == .stop)
    }

    @Test func `The error of a too long retry after keeps the head`() {
        let decision = RetryPolicy().decision(
            after: Self.status(503, retryAfter: "9999"), using: RandomSource(seed: 1))
        guard case .fail(let error as RequestError) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(error.head?.status == 503)
        #expect((error.underlying as? RequestError)?.code == .unacceptableStatus)
    }

    // MARK: The decision

    @Test(arguments: [RetryPolicy.default, .aggressive, .endless, RetryPolicy(maximumRetries: 1)])
    func `Both early signs are watched by default`(policy: RetryPolicy) {
        let names = policy.earlyRetryObservers.map { String(describing: type(of: $0)) }
        #expect(names == ["HostRecoveryObserver", "ReachabilityObserver"])
    }

    @Test func `The decision brings the policys observers`() {
        struct Never: EarlyRetryObserver {
            func wait(after failure: AttemptFailure) async throws { throw CancellationError() }
        }
        var policy = RetryPolicy()
        policy.earlyRetryObservers = [Never(), Never()]
        guard case .retry(_, let observers, _, _, _) = policy.decision(after: Self.failure(), using: .system) else {
            Issue.record("no retry")
            return
        }
        #expect(observers.count == 2)
    }

    @Test func `The same seed gives the same decision`() {
        let policy = RetryPolicy()
        func delay(_ random: RandomSource) -> Duration? {
            if case .retry(let delay, _, _, _, _) = policy.decision(after: Self.failure(attempt: 3), using: random) {
                delay
            } else {
                nil
            }
        }
        let first = delay(RandomSource(seed: 3))
        #expect(first != nil && first == delay(RandomSource(seed: 3)))
    }

    private static func outcome(_ failure: AttemptFailure) -> Outcome { outcome(exact(), failure) }

    // MARK: Presets

    @Test(arguments: [
        (RetryPolicy.default, [0.5, 1, 2]), (.aggressive, [0.25, 0.5, 1, 2, 4, 8, 10, 10, 10, 10]),
        (.endless, [1, 3, 60, 3600, 21600, 21600, 21600]),
    ])
    func `A preset has its series`(_ policy: RetryPolicy, _ longest: [Double]) {
        for (index, longest) in longest.enumerated() {
            let drawn = (0..<200).map { policy.backoff.delay(beforeRetry: index + 1, using: RandomSource(seed: $0)) }
            #expect(drawn.allSatisfy { $0 >= .zero && $0 <= .seconds(longest) })
            // Full jitter comes near both ends in two hundred draws.
            #expect(drawn.contains { $0 > .seconds(longest * 0.9) } && drawn.contains { $0 < .seconds(longest * 0.1) })
        }
    }

    @Test func `The presets stop after their retries`() {
        func goesOn(_ policy: RetryPolicy, after attempt: Int, elapsed: Duration = .zero) -> Bool {
            let failure = AttemptFailure(
                RequestError(.timedOut, stage: .transfer), attempt: attempt, request: Self.request("GET"),
                backoffStep: 1, elapsed: elapsed)
            if case .retry = policy.decision(after: failure, using: RandomSource(seed: 1)) { return true }
            return false
        }
        #expect(goesOn(.default, after: 3) && !goesOn(.default, after: 4))
        #expect(!goesOn(.none, after: 1))
        #expect(goesOn(.aggressive, after: 10) && !goesOn(.aggressive, after: 11))
        #expect(goesOn(.aggressive, after: 1, elapsed: .seconds(590)))
        #expect(!goesOn(.aggressive, after: 1, elapsed: .seconds(600)))
        #expect(goesOn(.endless, after: 1_000_000, elapsed: .seconds(10_000_000)))
    }
}
