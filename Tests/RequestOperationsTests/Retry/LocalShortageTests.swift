import RequestOperations
import RequestOperationsTesting
import Testing

/// What this machine lacks is not the host's fault.
@Suite(.timeLimit(.minutes(5))) struct LocalShortageTests {
    private let url = URL(string: "http://short.test/")!  // A literal that is a URL.

    @Test func `Nothing is learnt of the host`() async {
        let breaker = KnownBreaker(minimumThroughput: 1, clock: ManualClock())
        var configuration = RequestConfiguration.scripted([.error(.outOfLocalResources), .error(.connectionLost)])
        configuration.retryPolicy.maximumRetries = 0
        configuration.use(breaker)
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(breaker.state(of: url) == .closed)
        _ = await failure(of: URLRequestOperation(url, configuration: configuration))
        #expect(breaker.state(of: url) == .open)
    }

    @Test func `A retry needs no room in the budget of the host`() async throws {
        var configuration = RequestConfiguration()
        let transport = ScriptedTransport([.error(.outOfLocalResources), .body(Data("done".utf8))])
        configuration.transport = transport
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.retryPolicy.budget = RetryBudget(ratio: 0, minimumPerSecond: 0, mode: .failing)
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == Data("done".utf8))
        #expect(transport.requests.count == 2)
    }

    @Test func `Nothing was sent, so a POST is sent again`() async throws {
        var configuration = RequestConfiguration()
        let transport = ScriptedTransport([.error(.outOfLocalResources), .body(Data("done".utf8))])
        configuration.transport = transport
        configuration.retryPolicy.backoff = .constant(.zero)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let operation = URLRequestOperation(request, configuration: configuration)
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == Data("done".utf8))
    }
}
