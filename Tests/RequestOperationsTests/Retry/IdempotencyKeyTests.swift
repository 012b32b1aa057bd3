import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct IdempotencyKeyTests {
    private func keys(
        _ method: String, attempts: Int = 1, adapters: [RequestAdapter] = [.idempotencyKey()], own: String? = nil
    ) async throws -> [String?] {
        let failures = Array(repeating: ScriptedTransport.Answer.status(503), count: attempts - 1)
        let transport = ScriptedTransport(failures + [.body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.adapters = adapters
        configuration.retryPolicy.backoff = .constant(.zero)
        var request = anyRequest
        request.httpMethod = method
        request.setValue(own, forHTTPHeaderField: "Idempotency-Key")
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        return transport.requests.map { $0.value(forHTTPHeaderField: "Idempotency-Key") }
    }

    @Test(arguments: ["POST", "PATCH", "post"])
    func `It is the same over all attempts of one request which are made`(_ method: String) async throws {
        let keys = try await keys(method, attempts: 4)
        #expect(keys.count == 4 && keys[0] != nil && Set(keys).count == 1)
    }

    @Test func `It is another for each request`() async throws {
        var all: [String?] = []
        for _ in 1...20 { all += try await keys("POST") }
        #expect(Set(all).count == 20)
    }

    @Test func `It is a random UUID as a string of structured fields`() async throws {
        let key = try #require(try await keys("POST")[0])
        #expect(key.wholeMatch(of: /"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"/) != nil)
    }

    @Test func `The keys of two requests have nothing in common`() async throws {
        let first = try #require(try await keys("POST")[0]).split(separator: "-")
        let second = try #require(try await keys("POST")[0]).split(separator: "-")
        // The third and the fourth part have a version and a variant in them, so that few bits are left.
        #expect([0, 1, 4].filter { first[$0] == second[$0] }.count < 2)
    }

    @Test func `A seed of the configuration makes it not predictable`() async throws {
        var all: Set<String?> = []
        for _ in 0..<2 {
            let transport = ScriptedTransport([.body(Data())])
            var configuration = RequestConfiguration.over(transport)
            configuration.randomSource = RandomSource(seed: 1)
            configuration.adapters = [.idempotencyKey()]
            var request = anyRequest
            request.httpMethod = "POST"
            _ = try await run(URLRequestOperation(request, configuration: configuration))
            all.formUnion(transport.requests.map { $0.value(forHTTPHeaderField: "Idempotency-Key") })
        }
        #expect(all.count == 2)
    }

    /// The keys of four attempts, of which the third is of a request that a decision gave.
    private func keys(
        replacedBy replacement: @escaping @Sendable (AttemptFailure) -> URLRequest, own: String? = nil,
        adapter: RequestAdapter = .idempotencyKey()
    ) async throws -> [String] {
        let transport = ScriptedTransport([.status(503), .status(409), .status(503), .body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.adapters = [adapter]
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.retryDeciders = [
            RetryDecider { failure, decision in
                failure.head?.status == 409 ? .retry(after: .zero, with: replacement(failure)) : decision
            }
        ]
        var request = anyRequest
        request.httpMethod = "POST"
        request.setValue(own, forHTTPHeaderField: "Idempotency-Key")
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        return transport.requests.compactMap { $0.value(forHTTPHeaderField: "Idempotency-Key") }
    }

    private static func post(_ url: URL?) -> URLRequest {
        var request = URLRequest(url: url ?? URL(string: "http://a.example/")!)  // A literal that is a URL.
        request.httpMethod = "POST"
        return request
    }

    @Test(arguments: [false, true]) func `A request that a decision gives has a new one for all its attempts`(
        onQueue: Bool
    )
        async throws
    {
        let adapter = RequestAdapter.idempotencyKey()
        let keys = try await keys(
            replacedBy: { Self.post($0.request.url) }, adapter: onQueue ? adapter.on(OperationQueue()) : adapter)
        #expect(keys.count == 4 && keys[0] == keys[1] && keys[2] == keys[3] && keys[1] != keys[2])
    }

    @Test func `A request that a decision made of the one sent has a new one too`() async throws {
        let keys = try await keys(replacedBy: \.request)
        #expect(keys.count == 4 && keys[0] == keys[1] && keys[2] == keys[3] && keys[1] != keys[2])
    }

    @Test func `A key of your own is kept through a decision`() async throws {
        #expect(try await keys(replacedBy: \.request, own: "mine") == ["mine", "mine", "mine", "mine"])
    }

    @Test func `A request that has one keeps it`() async throws {
        #expect(try await keys("POST", own: "mine") == ["mine"])
    }

    @Test(arguments: ["GET", "PUT", "DELETE"])
    func `What is idempotent anyway gets none`(_ method: String) async throws {
        #expect(try await keys(method) == [nil])
    }

    @Test func `On a queue too`() async throws {
        let keys = try await keys("POST", attempts: 2, adapters: [.idempotencyKey().on(OperationQueue())])
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
    }
}
