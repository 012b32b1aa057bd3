import RequestOperations
import RequestOperationsTesting
import Testing

/// The stage that judges a whole response, and what an operation tells of its last one.
struct WholeResponseTests {
    // MARK: validate(_ response:)

    @Test func `A whole response is judged after its head and before its value`() async throws {
        let operation = Staged(.scripted([.body(Data("body".utf8))]))
        _ = try await run(operation)
        #expect(
            operation.calls.elements
                == ["process", "makeTask", "validate 200", "validate 4 bytes", "decode 4"])
    }

    @Test func `A response whose head was rejected is not judged again`() async {
        let operation = Staged(.scripted([.status(404)]))
        _ = await failure(of: operation)
        #expect(operation.calls.elements == ["process", "makeTask", "validate 404", "decide 1"])
    }

    @Test func `What a body rejects is retried as the policy decides`() async throws {
        let transport = ScriptedTransport([.body(Data("busy".utf8)), .body(Data("done".utf8))])
        let operation = Picky(.over(transport)) { response in
            if response.body == Data("busy".utf8) { throw RequestError(.unacceptableStatus, stage: .validate) }
        }
        operation.decides = { _ in .retry(after: .zero) }
        #expect(try await run(operation) == Data("done".utf8))
        #expect(transport.requests.count == 2)
        #expect((operation.attempts[0].error as? RequestError)?.bodyPrefix == Data("busy".utf8))
    }

    @Test func `An error of yours fails the stage`() async throws {
        let operation = Picky(.scripted([.body(Data("x".utf8))])) { _ in throw Refusal() }
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .stageFailed && error.stage == .validate && error.underlying is Refusal)
        #expect(error.head?.status == 200)
    }

    @Test func `A cancel in it ends the operation as cancelled`() async {
        let operation = Picky(.scripted([.body(Data("x".utf8))])) { _ in throw CancellationError() }
        #expect(await failure(of: operation) is CancellationError)
    }

    // MARK: The last response

    @Test func `The response of a finished operation has head size and no body`() async throws {
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data("body".utf8))])
        configuration.retryPolicy.backoff = .constant(.zero)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        #expect(operation.response == nil)
        _ = try await run(operation)
        let response = try #require(operation.response)
        #expect(response.head.status == 200 && response.bodySize == 4 && response.body.isEmpty)
    }

    @Test func `The response of a failed operation is the rejected one`() async throws {
        let operation = URLRequestOperation(anyRequest, configuration: .scripted([.status(404)]))
        _ = await failure(of: operation)
        #expect(operation.response?.head.status == 404)
    }

    @Test func `An operation that nobody answered has no response`() async {
        var configuration = RequestConfiguration.scripted([.error(.cannotConnect)])
        configuration.retryPolicy = .none
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        _ = await failure(of: operation)
        #expect(operation.response == nil)
    }

    @Test func `The response has the timings of its transfer`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .text("text"))
        let operation = URLRequestOperation(server.url)
        _ = try await run(operation)
        #expect(operation.response?.timings == operation.attempts.last?.timings)
        #expect(operation.response?.head.url == server.url)
    }

    // MARK: Dates

    @Test func `The dates of the operation and its attempts are those of the system`() async throws {
        var configuration = RequestConfiguration.scripted([.status(503), .body(Data())])
        configuration.retryPolicy.backoff = .constant(.zero)
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        #expect(operation.startDate == nil)
        let before = Date()
        _ = try await run(operation)
        let dates = try [#require(operation.startDate)] + operation.attempts.map(\.startDate)
        #expect(dates.count == 3 && dates.allSatisfy { (before...Date()).contains($0) })
    }

    // MARK: Initialisers

    @Test func `A URL and a decoder make an operation`() async throws {
        let server = try await LoopbackServer.start()
        server.route("/", .text("text"))
        #expect(try await run(URLRequestOperation(server.url, decoder: .string)) == "text")
    }
}

private struct Refusal: Error {}

/// Judges whole responses in its own way.
private final class Picky: URLRequestOperation<Data>, @unchecked Sendable {
    private let judge: @Sendable (TransportResponse) throws -> Void
    var decides: (@Sendable (AttemptFailure) -> RetryDecision)?

    init(_ configuration: RequestConfiguration, _ judge: @escaping @Sendable (TransportResponse) throws -> Void) {
        self.judge = judge
        super.init(anyRequest, decoder: .data, configuration: configuration)
    }

    override func validate(_ response: TransportResponse) async throws {
        try judge(response)
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        if let decides { return decides(failure) }
        return await super.retryDecision(after: failure)
    }
}
