import RequestOperations
import RequestOperationsTesting
import Testing

/// Former names of the public face. Programs elsewhere may still use them.
@Suite struct FormerNamesTests {
    private let url = URL(string: "http://example.invalid/users/1")!

    @available(*, deprecated)
    @Test func `They still compile`() async throws {
        var policy = RetryPolicy()
        policy.budget = .shared
        let balance: Int = RetryBudget.shared.balance(of: url)
        #expect(balance >= 0)
        let breaker = CircuitBreaker(failureRatio: 0.5, minimumThroughput: 20, openTime: .seconds(5), probes: 1)
        let state: CircuitBreaker.State = breaker.state(of: url)
        var states = breaker.states(of: url).makeAsyncIterator()
        #expect(await states.next() == state)
        policy.retryAfterTable = RetryAfterTable(clock: ManualClock())
        let left: Duration? = policy.retryAfterTable?.timeLeft(for: url)
        #expect(left == .zero)
        #expect(RetryPolicy.ancestor.backoff == .upToSixHours && Backoff.ancestor == .upToSixHours)

        struct Fetch: Endpoint {
            typealias Response = Data
            let path = "users/{id}"
            @PathParameter var id: Int
            @QueryParameter("per_page") var pageSize = 20
            @HeaderParameter("X-Tag") var tag: String? = nil
            @BodyParameter var note: String?
        }
        let former = try Fetch(id: 1).urlRequest(relativeTo: url)
        #expect(former.url?.query == "per_page=20")

        struct Send: Endpoint {
            typealias Response = Data
            let path = "users"
            let headers = ["X-Tag": "a"]
            @Header("X-Other") var other = "b"
        }
        let fields = try Send().urlRequest(relativeTo: url).allHTTPHeaderFields
        #expect(fields == ["X-Tag": "a", "X-Other": "b"] && ParameterPlacement.header == .field)
        let adapters: [RequestAdapter] = [.header("Accept", "text/plain"), .defaultHeader("X-Tag", "c")]
        #expect(adapters.count == 2)
    }
}
