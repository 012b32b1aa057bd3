import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RetryDeciderTests {
    private static func run(
        _ answers: [ScriptedTransport.Answer], _ deciders: RetryDecider..., retries: Int = 0
    ) async throws -> (result: Result<Data, any Error>, requests: Int) {
        let transport = ScriptedTransport(answers)
        var configuration = RequestConfiguration()
        configuration.transport = transport
        configuration.retryPolicy = RetryPolicy(maximumRetries: retries, backoff: .constant(.zero))
        configuration.retryDeciders = deciders
        let url = try #require(URL(string: "http://a.example/"))
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        _ = try? await operation.value
        return (try #require(operation.result), transport.requests.count)
    }

    @Test func `A decider retries what the policy does not`() async throws {
        let (result, requests) = try await Self.run(
            [.status(404), .body(Data("there".utf8))], RetryDecider { _, _ in .retry(after: .zero) })
        #expect(try result.get() == Data("there".utf8))
        #expect(requests == 2)
    }

    @Test func `A decider stops what the policy retries`() async throws {
        let (result, requests) = try await Self.run(
            [.status(503), .body(Data())], RetryDecider { _, _ in .stop }, retries: 3)
        let error = #expect(throws: RequestError.self) { try result.get() }
        #expect(error?.code == .unacceptableStatus)
        #expect(requests == 1)
    }

    @Test func `A decider replaces the error`() async throws {
        let (result, _) = try await Self.run([.status(404)], RetryDecider { _, _ in .fail(Refused()) })
        let error = #expect(throws: RequestError.self) { try result.get() }
        #expect(error?.underlying is Refused)
    }

    @Test func `Each decider is given what stands so far`() async throws {
        let (result, requests) = try await Self.run(
            [.status(404), .body(Data())], RetryDecider { _, _ in .fail(Refused()) },
            RetryDecider { _, decision in
                if case .fail(is Refused) = decision { .retry(after: .zero) } else { .stop }
            })
        #expect(try result.get() == Data())
        #expect(requests == 2)
    }

    @Test func `No decider is asked after a success`() async throws {
        let (result, _) = try await Self.run(
            [.body(Data())],
            RetryDecider { _, decision in
                Issue.record("A decider was asked.")
                return decision
            })
        #expect(try result.get() == Data())
    }
}

private struct Refused: Error {}
