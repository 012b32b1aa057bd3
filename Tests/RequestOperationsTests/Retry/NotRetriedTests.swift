import RequestOperations
import RequestOperationsTesting
import Testing

/// Why a failed request was not attempted again.
@Suite(.timeLimit(.minutes(15))) struct NotRetriedTests {
    private static func configuration(
        _ answers: [ScriptedTransport.Answer], backoff: Duration = .zero
    ) -> RequestConfiguration {
        var configuration = RequestConfiguration.scripted(answers)
        configuration.retryPolicy.backoff = .constant(backoff)
        return configuration
    }

    private static func error(
        _ configuration: RequestConfiguration, _ edit: (inout URLRequest) -> Void = { _ in }
    ) async throws -> RequestError {
        var request = anyRequest
        edit(&request)
        return try #require(
            await failure(of: URLRequestOperation(request, configuration: configuration)) as? RequestError)
    }

    @Test(arguments: ["POST", "PATCH", "LOCK"])
    func `A method that is not idempotent has no key`(method: String) async throws {
        let error = try await Self.error(Self.configuration([.status(503)])) { $0.httpMethod = method }
        #expect(error.notRetried == "\(method), no idempotency key")
        #expect(error.description.hasSuffix("; not retried: \(method), no idempotency key)"))
    }

    @Test func `The attempts are used up`() async throws {
        var configuration = Self.configuration([.status(503)])
        configuration.retryPolicy.maximumRetries = 2
        let error = try await Self.error(configuration)
        #expect(error.notRetried == "3 of 3 attempts")
        #expect(error.description.contains("; 3 attempts; not retried: 3 of 3 attempts)"))
    }

    @Test(arguments: [0, -1])
    func `No retries are allowed`(maximum: Int) async throws {
        var configuration = Self.configuration([.status(503)])
        configuration.retryPolicy.maximumRetries = maximum
        #expect(try await Self.error(configuration).notRetried == "no retries allowed")
    }

    @Test func `So it is for an attempt that does not count`() async throws {
        var configuration = Self.configuration([.status(429, fields: [("Retry-After", "0")])])
        configuration.retryPolicy.maximumRetries = 0
        configuration.retryPolicy.uncountedTooManyRequests = 1
        #expect(try await Self.error(configuration).notRetried == "no retries allowed")
    }

    @Test(arguments: [ScriptedTransport.Answer.status(404), .error(.untrustedCertificate)])
    func `The failure is not a passing one`(answer: ScriptedTransport.Answer) async throws {
        #expect(try await Self.error(Self.configuration([answer])).notRetried == "not a passing failure")
    }

    @Test func `The next attempt would begin after the elapsed limit`() async throws {
        var configuration = Self.configuration([.status(503)], backoff: .seconds(500))
        configuration.retryPolicy.elapsedLimit = .seconds(100)
        configuration.deadline = .seconds(300)
        let reason = try await Self.error(configuration).notRetried
        #expect(reason == "the elapsed limit of 100.0 seconds")
    }

    @Test func `The next attempt would begin after the deadline`() async throws {
        var configuration = Self.configuration([.status(503)], backoff: .seconds(500))
        configuration.deadline = .seconds(300)
        #expect(try await Self.error(configuration).notRetried == "the deadline")
    }

    @Test func `The body cannot be sent again`() async throws {
        let error = try await Self.error(Self.configuration([.status(503)])) {
            $0.httpMethod = "PUT"
            $0.httpBodyStream = InputStream(data: Data([1]))
        }
        #expect(error.code == .bodyNotReplayable && error.notRetried == error.reason && error.reason != nil)
        #expect(!error.description.contains("not retried") && error.description.contains("after unacceptableStatus"))
    }

    @Test func `The server asks for too much time`() async throws {
        let error = try await Self.error(Self.configuration([.status(503, fields: [("Retry-After", "1000")])]))
        #expect(error.code == .retryAfterTooLong && error.notRetried == "the server asks to wait 1000.0 seconds")
    }

    @Test func `The budget has no room`() async throws {
        var configuration = Self.configuration([.error(.connectionLost)])
        configuration.retryPolicy.budget = RetryBudget(ratio: 0, minimumPerSecond: 0, mode: .failing)
        let error = try await Self.error(configuration)
        #expect(error.code == .retryBudgetExhausted && error.notRetried == error.reason && error.reason != nil)
    }

    @Test func `A decider says so`() async throws {
        var configuration = Self.configuration([.status(503)])
        configuration.retryDeciders = [RetryDecider { _, _ in .stop }]
        #expect(try await Self.error(configuration).notRetried == "a decider or an override said so")
    }

    @Test func `A reason is that of the last failure`() async throws {
        var configuration = Self.configuration([.status(404), .status(503)])
        // The policy ends the first attempt, and not the second.
        configuration.retryDeciders = [
            RetryDecider { failure, _ in failure.attempt == 1 ? .retry(after: .zero) : .stop }
        ]
        #expect(try await Self.error(configuration).notRetried == "a decider or an override said so")
    }

    @Test func `The decision took too long`() async throws {
        let clock = ManualClock()
        var configuration = Self.configuration([.status(503)])
        configuration.clock = clock
        configuration.stageTimeLimits = [.retryDecision: .seconds(1)]
        let operation = Unresponsive(in: .retryDecision, configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        let error = try #require(await #expect(throws: RequestError.self) { try await operation.value })
        #expect(error.stage == .retryDecision && error.notRetried == "no decision was made")
    }

    @Test func `Attempts that do not count are told apart`() async throws {
        var configuration = Self.configuration([.status(429, fields: [("Retry-After", "0")]), .status(503)])
        configuration.retryPolicy.maximumRetries = 1
        configuration.retryPolicy.uncountedTooManyRequests = 1
        let error = try await Self.error(configuration)
        #expect(error.description.contains("; 3 attempts, of which 2 count; not retried: 2 of 2 attempts)"))
    }
}
