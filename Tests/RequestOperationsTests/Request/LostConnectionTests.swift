import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// Attempts that end with a connection which others had used before.
@Suite(.timeLimit(.minutes(5))) struct LostConnectionTests {
    /// A connection that was lost, by default before any of a response had come.
    private static func lost(
        reused: Bool? = true, _ code: RequestError.Code = .connectionLost, phase: TransferFailure.Phase = .head,
        status: Int? = nil, connectionStands: Bool = false
    ) -> ScriptedTransport.Answer {
        let head = status.map { ResponseHead(status: $0, url: anyRequest.url!) }  // It has one.
        var failure = TransferFailure(
            RequestError(code, stage: .transfer), head: head, phase: phase, connectionWasReused: reused)
        failure.connectionStands = connectionStands
        return .failure(failure)
    }

    /// What a request finds with a script: whether each of its failures is followed without a backoff, and what it sent.
    private struct Course {
        var skipsBackoff: [Bool] = []
        var tasks: [TransportTask] = []
        var attemptCount = 0

        init(
            _ answers: [ScriptedTransport.Answer], method: String = "GET", key: String? = nil,
            _ change: (inout RequestConfiguration) -> Void = { _ in }
        ) async {
            let transport = ScriptedTransport(answers)
            let skips = Collector<Bool>()
            var request = anyRequest
            request.httpMethod = method
            if let key { request.setValue(key, forHTTPHeaderField: "Idempotency-Key") }
            var configuration = RequestConfiguration.over(transport)
            configuration.retryPolicy.backoff = .constant(.milliseconds(1))
            configuration.retryDeciders = [
                RetryDecider { failure, decision in
                    skips.append(failure.skipsBackoff)
                    return decision
                }
            ]
            change(&configuration)
            let operation = URLRequestOperation(request, configuration: configuration)
            _ = try? await run(operation)
            skipsBackoff = skips.elements
            tasks = transport.tasks
            attemptCount = operation.attempts.count
        }
    }

    private static let done = ScriptedTransport.Answer.body(Data("x".utf8))

    @Test func `The retry after a lost connection that was used again needs no backoff and a new connection`() async {
        let course = await Course([Self.lost(), Self.done])
        #expect(course.skipsBackoff == [true])
        #expect(course.tasks.map(\.wantsNewConnection) == [false, true])
        #expect(course.attemptCount == 2)
    }

    @Test(arguments: [
        lost(reused: false), lost(reused: nil), lost(.timedOut), lost(.truncatedBody), lost(phase: .body),
        lost(status: 200), lost(connectionStands: true), .error(.cannotConnect), .status(503),
    ])
    func `After any other failure it needs both as ever`(answer: ScriptedTransport.Answer) async {
        let course = await Course([answer, Self.done])
        #expect(course.skipsBackoff == [false])
        #expect(course.tasks.map(\.wantsNewConnection) == [false, false])
    }

    @Test func `The second loss in a row has a backoff, and its retry a new connection`() async {
        let course = await Course([Self.lost(), Self.lost(), Self.lost(), Self.done])
        #expect(course.skipsBackoff == [true, false, false])
        #expect(course.tasks.map(\.wantsNewConnection) == [false, true, true, true])
    }

    @Test func `Another failure between two losses begins a new row`() async {
        let course = await Course([Self.lost(), .status(503), Self.lost(), Self.done])
        #expect(course.skipsBackoff == [true, false, true])
        #expect(course.tasks.map(\.wantsNewConnection) == [false, true, false, true])
    }

    @Test func `A POST that may have been processed is not sent again`() async {
        #expect(await Course([Self.lost(), Self.done], method: "POST").attemptCount == 1)
    }

    @Test func `A POST with an idempotency key is sent again without a backoff`() async {
        let course = await Course([Self.lost(), Self.done], method: "POST", key: "\"a\"")
        #expect(course.attemptCount == 2 && course.skipsBackoff == [true])
    }

    @Test(arguments: [0, 1])
    func `The retry counts as any other`(maximum: Int) async {
        let course = await Course([Self.lost()]) { $0.retryPolicy.maximumRetries = maximum }
        #expect(course.attemptCount == maximum + 1)
    }

    @Test func `The retry draws on the budget`() async {
        let course = await Course([Self.lost(), Self.done]) { $0.retryPolicy.budget = .tokens(capacity: 0) }
        #expect(course.attemptCount == 1 && course.skipsBackoff == [true])
    }

    @Test(arguments: [(true, Duration.zero), (false, .seconds(7))])
    func `A policy waits for the backoff unless it is to be skipped`(skips: Bool, delay: Duration) {
        let failure = AttemptFailure(
            RequestError(.connectionLost, stage: .transfer), attempt: 1, request: anyRequest, stage: .transfer,
            head: nil, requestMayHaveBeenProcessed: true, bodyIsReplayable: true, backoffStep: 1, elapsed: .zero,
            timeLeft: nil, date: Date(), uncounted: 0, redirect: nil, wasRefused: false, skipsBackoff: skips)
        var policy = RetryPolicy(backoff: .constant(.seconds(7)))
        policy.budget = nil
        policy.sharesRetryAfter = false
        guard case .retry(let decided, _, _, _, _) = policy.decision(after: failure, using: RandomSource(seed: 1))
        else {
            Issue.record("It is not retried.")
            return
        }
        #expect(decided == delay)
    }

    @Test func `It says nothing of the host to a circuit breaker`() async {
        let course = await Course([Self.lost()]) {
            $0.retryPolicy.maximumRetries = 3
            $0.retryPolicy.circuitBreaker = CircuitBreaker(failureRatio: 0.1, minimumThroughput: 1)
        }
        #expect(course.tasks.count == 4)
    }

    // MARK: Whether a transport may send a request again

    private func mayBeSentAgain(
        _ operation: (RequestConfiguration) -> AsynchronousOperation<Data>, _ adapters: [RequestAdapter]
    )
        async throws -> Bool?
    {
        let transport = ScriptedTransport([Self.done])
        var configuration = RequestConfiguration.over(transport)
        configuration.adapters = adapters
        _ = try await run(operation(configuration))
        return try #require(transport.tasks.first).mayBeSentAgain
    }

    private static let repeatable: [[RequestAdapter]] = [
        [], [.field("A", "b")], [.defaultField("A", "b"), .idempotencyKey()],
        [.baseURL(URL(string: "http://example.invalid")!)],  // A literal that is a URL.
        [.bearerToken { "a" }.repeatable()], [.edit { _ in }.repeatable(), .field("A", "b")],
        [RequestAdapter { $0 }.repeatable().on(OperationQueue())],
    ]

    private static let notRepeatable: [[RequestAdapter]] = [
        [.bearerToken { "a" }], [.edit { _ in }], [RequestAdapter { $0 }], [.field("A", "b"), .edit { _ in }],
        [.edit { _ in }, .field("A", "b")], [.edit { _ in }.on(OperationQueue())],
        [.edit { _ in }.repeatable(), .bearerToken { "a" }],
    ]

    @Test(arguments: repeatable)
    func `A transport may send again what repeatable adapters made`(adapters: [RequestAdapter]) async throws {
        #expect(try await mayBeSentAgain({ URLRequestOperation(anyRequest, configuration: $0) }, adapters) == true)
    }

    @Test(arguments: notRepeatable)
    func `A transport may not send again what another adapter made`(adapters: [RequestAdapter]) async throws {
        #expect(try await mayBeSentAgain({ URLRequestOperation(anyRequest, configuration: $0) }, adapters) == false)
    }

    private class Overriding: URLRequestOperation<Data>, @unchecked Sendable {
        override func process(_ request: URLRequest) async throws -> URLRequest { request }
    }

    private final class Declaring: Overriding, @unchecked Sendable {
        override func makeTask(for request: URLRequest) async throws -> TransportTask {
            var task = TransportTask.data(request)
            task.mayBeSentAgain = true
            return task
        }
    }

    @Test func `A transport may not send again what an overridden stage made`() async throws {
        #expect(try await mayBeSentAgain({ Overriding(anyRequest, decoder: .data, configuration: $0) }, []) == false)
    }

    @Test func `A task that says itself whether it may be sent again is taken at its word`() async throws {
        #expect(
            try await mayBeSentAgain({ Declaring(anyRequest, decoder: .data, configuration: $0) }, [.edit { _ in }])
                == true)
    }
}
