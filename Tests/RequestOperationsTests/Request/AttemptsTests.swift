import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct AttemptsTests {
    @Test func `Of many attempts the first ten and the last ninety are kept`() async throws {
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport(
            Array(repeating: .error(.connectionLost), count: 250) + [.status(200)])
        configuration.retryPolicy = RetryPolicy(maximumRetries: 1000, backoff: .constant(.zero))
        configuration.retryPolicy.budget = nil
        // A good URL.
        let operation = URLRequestOperation(URL(string: "http://example.com/")!, configuration: configuration)
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        #expect(operation.attempts.map(\.number) == Array(1...10) + Array(162...251))
    }

    @Test func `An error after many attempts tells how many there were`() async throws {
        var configuration = RequestConfiguration()
        configuration.transport = ScriptedTransport(Array(repeating: .error(.connectionLost), count: 151))
        configuration.retryPolicy = RetryPolicy(maximumRetries: 150, backoff: .constant(.zero))
        configuration.retryPolicy.budget = nil
        let operation = URLRequestOperation(URL(string: "http://example.com/")!, configuration: configuration)
        OperationQueue().addOperation(operation)
        await #expect { try await operation.value } throws: { "\($0)".contains("; 151 attempts; ") }
    }
}
