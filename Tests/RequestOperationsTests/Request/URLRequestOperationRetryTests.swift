import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct URLRequestOperationRetryTests {
    @Test func `A post that may have been processed is not sent again`() async throws {
        var request = anyRequest
        request.httpMethod = "POST"
        let transport = ScriptedTransport([.error(.connectionLost), .body(Data())])
        _ = await failure(of: URLRequestOperation(request, configuration: .over(transport)))
        #expect(transport.requests.count == 1)
    }

    @Test func `A post that surely was not sent is sent again`() async throws {
        var request = anyRequest
        request.httpMethod = "POST"
        let transport = ScriptedTransport([.error(.cannotConnect), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.retryPolicy.backoff = .constant(.zero)
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        #expect(transport.requests.count == 2)
    }

    @Test func `A body stream that cannot be reopened is not retried and says so`() async throws {
        var request = anyRequest
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        let error = await failure(of: URLRequestOperation(request, configuration: .scripted([.status(503)])))
        #expect((error as? RequestError)?.code == .bodyNotReplayable)
        #expect(((error as? RequestError)?.underlying as? RequestError)?.code == .unacceptableStatus)
    }

    @Test func `A decision can replace the error`() async throws {
        let operation = Staged(.scripted([.status(404)]))
        operation.decisions = { _ in .fail(RequestError(.init("mine"), stage: .validate)) }
        let error = await failure(of: operation) as? RequestError
        #expect(error?.code == .init("mine") && error?.attempts.count == 1)
    }

    @Test func `A decision can replace the request`() async throws {
        let transport = ScriptedTransport([.status(401), .body(Data())])
        let operation = Staged(.over(transport))
        operation.decisions = { failure in
            var request = failure.request
            request.url = URL(string: "http://other.invalid/")
            return .retry(after: .zero, with: request)
        }
        _ = try await run(operation)
        #expect(transport.requests.last?.url?.host == "other.invalid")
        #expect(operation.request.url?.host == "other.invalid")
    }

    @Test func `A decision can restart the backoff`() async throws {
        let steps = Collector<Int>()
        let operation = Staged(.scripted([.status(500), .status(500), .status(500), .body(Data("x".utf8))]))
        operation.decisions = { failure in
            steps.append(failure.backoffStep)
            return .retry(after: .zero, restartingBackoff: failure.attempt == 2)
        }
        _ = try await run(operation)
        #expect(steps.elements == [1, 2, 1])
    }

    @Test func `A decision can restart the count of attempts`() async throws {
        var configuration = RequestConfiguration.scripted((0..<9).map { _ in .status(500) })
        configuration.retryPolicy = RetryPolicy(maximumRetries: 2, backoff: .constant(.zero))
        configuration.retryPolicy.budget = nil
        let operation = Staged(configuration)
        operation.decisions = { [policy = configuration.retryPolicy] failure in
            let decision = policy.decision(after: failure, using: RandomSource(seed: 1))
            guard failure.attempt == 3, case .stop = decision else { return decision }
            return .retry(after: .zero, restartingCount: true)
        }
        let error = await failure(of: operation) as? RequestError
        // Three attempts, and three more.
        #expect(error?.attempts.count == 6 && error?.notRetried?.contains("3 of 3 attempts") == true)
    }

    @Test func `The decision sees what failed`() async throws {
        let failures = Collector<AttemptFailure>()
        let operation = Staged(.scripted([.status(429, fields: [("Retry-After", "7")]), .body(Data("x".utf8))]))
        operation.decisions = { failure in
            failures.append(failure)
            return .retry(after: .zero)
        }
        _ = try await run(operation)
        let failure = try #require(failures.elements.first)
        #expect(failure.code == .unacceptableStatus && failure.stage == .validate && failure.attempt == 1)
        #expect(failure.head?.status == 429 && failure.requestMayHaveBeenProcessed && failure.request == anyRequest)
        #expect(failure.retryAfter == .seconds(7))
    }

    @Test func `Retry now ends the wait`() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data("x".utf8))])
        configuration.clock = clock
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        operation.retryNow()
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        operation.retryNow()
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .retryNow)
    }

    @Test func `An early retry observer ends the wait`() async throws {
        struct Immediate: EarlyRetryObserver {
            func wait(after failure: AttemptFailure) async throws {}
        }
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data())])
        configuration.clock = ManualClock()
        configuration.retryPolicy.earlyRetryObservers = [Immediate()]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        _ = try await run(operation)
        #expect(operation.attempts.last?.wokenBy == .observer("Immediate"))
    }

    @Test func `An observer that throws leaves the race`() async throws {
        struct Broken: EarlyRetryObserver {
            func wait(after failure: AttemptFailure) async throws { throw Problem() }
        }
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data())])
        configuration.clock = clock
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(9)))
        configuration.retryPolicy.earlyRetryObservers = [Broken()]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(9))
        _ = try await operation.value
        #expect(operation.attempts.last?.wokenBy == .backoff)
    }

    @Test func `Retry after takes the place of the backoff`() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([
            .status(503, fields: [("Retry-After", "120")]), .body(Data()),
        ])
        configuration.clock = clock
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(119))
        #expect(operation.attempts.count == 1)
        clock.advance(by: .seconds(1))
        _ = try await operation.value
        #expect(operation.attempts.last?.waited == .seconds(120))
    }
}
