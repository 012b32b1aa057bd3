import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct URLRequestOperationErrorTests {
    @Test func `An error of a stage is wrapped once and kept`() async throws {
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [RequestAdapter { _ in throw Problem() }]
        let error = try #require(
            await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError)
        #expect(error.code == .stageFailed && error.stage == .process)
        #expect(error.underlying is Problem)
        #expect(error.attempts.count == 1)
    }

    @Test func `An adapter that throws is not retried unless the policy lists its error`() async throws {
        let calls = Locked(0)
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [
            RequestAdapter { _ in
                calls.withLock { $0 += 1 }
                throw Problem()
            }
        ]
        configuration.retryPolicy.backoff = .constant(.zero)
        _ = await failure(of: URLRequestOperation(anyRequest, configuration: configuration))
        #expect(calls.withLock { $0 } == 1)
        configuration.retryPolicy.isTransient = { $0 is Problem }
        _ = await failure(of: URLRequestOperation(anyRequest, configuration: configuration))
        #expect(calls.withLock { $0 } == 5)
    }

    @Test func `A request error out of a stage keeps its code`() async throws {
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [RequestAdapter { _ in throw RequestError(.init("noToken"), stage: .process) }]
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .init("noToken"))
    }

    @Test func `A rejected status keeps head and body prefix`() async throws {
        let body = Data(repeating: 7, count: 10_000)
        let configuration = RequestConfiguration.scripted([.status(404, fields: [("X-Why", "gone")], body: body)])
        let error = try #require(
            await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError)
        #expect(error.code == .unacceptableStatus)
        #expect(error.head?.status == 404 && error.head?.field("x-why") == "gone")
        #expect(error.bodyPrefix == body.prefix(4096))
    }

    @Test func `A failed decoding keeps status head and body prefix`() async throws {
        let body = Data("<html>".utf8) + Data(repeating: 0x20, count: 5000)
        let configuration = RequestConfiguration.scripted([.status(201, fields: [("X-A", "1")], body: body)])
        let operation = URLRequestOperation(anyRequest, decoder: .json([String].self), configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .undecodable && error.stage == .decode)
        #expect(error.head?.status == 201 && error.head?.field("X-A") == "1")
        #expect(error.bodyPrefix == body.prefix(4096))
        #expect(error.underlying is DecodingError)
    }

    @Test func `A failed transfer keeps its head`() async throws {
        let head = ResponseHead(status: 200, url: anyRequest.url!, fields: [("X-A", "1")])
        var configuration = RequestConfiguration.scripted([
            .failure(TransferFailure(RequestError(.truncatedBody, stage: .transfer), head: head, phase: .body))
        ])
        configuration.retryPolicy = .none
        let error = await failure(of: URLRequestOperation(anyRequest, configuration: configuration)) as? RequestError
        #expect(error?.code == .truncatedBody && error?.head?.field("X-A") == "1")
    }

    @Test func `The error tells every attempt`() async throws {
        let clock = ManualClock()
        var configuration = RequestConfiguration.scripted([.status(503), .error(.connectionLost), .status(500)])
        configuration.clock = clock
        configuration.retryPolicy = RetryPolicy(maximumRetries: 2, backoff: .constant(.seconds(5)))
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        OperationQueue().addOperation(operation)
        for _ in 1...2 {
            await clock.sleepers(1)
            clock.advance(by: .seconds(5))
        }
        let error = try #require(await #expect(throws: RequestError.self) { try await operation.value })
        #expect(error.attempts.map(\.number) == [1, 2, 3])
        #expect(error.attempts.map(\.began) == [.zero, .seconds(5), .seconds(10)])
        #expect(error.attempts.map(\.waited) == [.zero, .seconds(5), .seconds(5)])
        #expect(error.attempts.map(\.wokenBy) == [nil, .backoff, .backoff])
        #expect(error.attempts.map(\.status) == [503, nil, 500])
        #expect(error.attempts.allSatisfy { $0.error is RequestError && $0.ended != nil })
        #expect(operation.attempts.count == 3)
    }

    @Test func `The description names no query field or body`() async throws {
        let configuration = RequestConfiguration.scripted([
            .status(404, fields: [("X-Token", "hush")], body: Data("hush".utf8))
        ])
        let error = try #require(await failure(of: URLRequestOperation(anyRequest, configuration: configuration)))
        #expect(!"\(error)".contains("hush") && !"\(error)".contains("secret"))
        #expect(!"\(error)".contains("\n"))
    }

    // MARK: Errors of others that look like a transport's

    private static let foreign: [any Error] = [
        URLError(.timedOut), TransferFailure(RequestError(.connectionLost, stage: .transfer), phase: .connect),
    ]

    @Test(arguments: [0, 1])
    func `An error of a transport that an adapter throws is a failure of the stage and not retried`(index: Int)
        async throws
    {
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.adapters = [RequestAdapter { _ in throw Self.foreign[index] }]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .stageFailed && error.stage == .process && error.attempts.count == 1)
        #expect(error.underlying.map { type(of: $0) == type(of: Self.foreign[index]) } == true)
    }

    @Test(arguments: [0, 1])
    func `An error of a transport that a decoder throws is undecodable and not retried`(index: Int) async throws {
        var configuration = RequestConfiguration.scripted([.body(Data("text".utf8))])
        configuration.retryPolicy.backoff = .constant(.zero)
        let operation = URLRequestOperation(
            anyRequest, decoder: ResponseDecoder<Int> { _ in throw Self.foreign[index] }, configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .undecodable && error.stage == .decode && error.attempts.count == 1)
        #expect(error.underlying.map { type(of: $0) == type(of: Self.foreign[index]) } == true)
        #expect(error.head?.status == 200 && error.bodyPrefix == Data("text".utf8))
    }

    @Test func `A URL error that the validation throws is a failure of the stage`() async throws {
        var configuration = RequestConfiguration.scripted([.body(Data("text".utf8))])
        configuration.retryPolicy.backoff = .constant(.zero)
        configuration.validation = ResponseValidation { _ in throw URLError(.networkConnectionLost) }
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .stageFailed && error.stage == .validate && error.attempts.count == 1)
        #expect(error.underlying is URLError && error.head?.status == 200)
    }

    @Test func `A URL error that a consumer throws is a failure of the stage and not retried`() async throws {
        final class Streaming: URLRequestOperation<Data>, @unchecked Sendable {
            override func makeTask(for request: URLRequest) async throws -> TransportTask {
                .stream(request) { _ in throw URLError(.networkConnectionLost) }
            }
        }
        var configuration = RequestConfiguration.scripted([.body(Data("text".utf8))])
        configuration.retryPolicy.backoff = .constant(.zero)
        let operation = Streaming(anyRequest, decoder: .data, configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .stageFailed && error.stage == .transfer && error.attempts.count == 1)
        #expect(error.underlying is URLError)
    }

    @Test func `A URL error of a decision is a failure of the stage`() async throws {
        let operation = Staged(.scripted([.error(.connectionLost)]))
        operation.decisions = { _ in .fail(URLError(.timedOut)) }
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .stageFailed && error.underlying is URLError)
    }

    @Test func `A URL error that a transport throws gets its code and is retried`() async throws {
        var configuration = RequestConfiguration.scripted([.failure(URLError(.timedOut))])
        configuration.retryPolicy = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero))
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .timedOut && error.underlying is URLError && error.attempts.count == 2)
    }

    @Test func `A cancelled URL error of a stage cancels`() async {
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.adapters = [RequestAdapter { _ in throw URLError(.cancelled) }]
        let operation = URLRequestOperation(anyRequest, configuration: configuration)
        #expect(await failure(of: operation) is CancellationError)
        #expect(operation.isCancelled)
    }
}
