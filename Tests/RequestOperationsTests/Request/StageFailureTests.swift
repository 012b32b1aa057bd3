import RequestOperations
import RequestOperationsTesting
import Testing

/// Throws an error in one stage.
private final class Throwing: URLRequestOperation<Data>, @unchecked Sendable {
    private let stage: RequestError.Stage
    private let error: any Error

    init(_ error: any Error, in stage: RequestError.Stage, _ configuration: RequestConfiguration, to url: URL) {
        self.stage = stage
        self.error = error
        super.init(URLRequest(url: url), decoder: .data, configuration: configuration)
    }

    private func fail(in stage: RequestError.Stage) throws {
        if stage == self.stage { throw error }
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        try fail(in: .process)
        return try await super.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        try fail(in: .makeTask)
        return try await super.makeTask(for: request)
    }

    override func validate(_ head: ResponseHead) throws {
        try fail(in: .validate)
        try super.validate(head)
    }

    override func decode(_ response: TransportResponse) async throws -> Data {
        try fail(in: .decode)
        return try await super.decode(response)
    }
}

/// An error that an overridden stage throws.
@Suite(.timeLimit(.minutes(15))) struct StageFailureTests {
    static let stages: [RequestError.Stage] = [.process, .makeTask, .validate, .decode]

    private static func error(
        _ error: any Error, in stage: RequestError.Stage, _ configuration: RequestConfiguration,
        to url: URL? = anyRequest.url
    ) async throws -> RequestError {
        let operation = Throwing(error, in: stage, configuration, to: try #require(url))
        return try #require(await failure(of: operation) as? RequestError)
    }

    @Test(arguments: stages)
    func `It is a stage failure with the original`(stage: RequestError.Stage) async throws {
        let codes = Collector<RequestError.Code>()
        var configuration = RequestConfiguration.scripted([.body(Data())])
        configuration.onEvent = { if case .attemptFailed(let failure) = $0.step { codes.append(failure.code) } }
        let error = try await Self.error(Problem(), in: stage, configuration)
        #expect(error.code == .stageFailed && error.stage == stage && error.underlying is Problem)
        #expect(error.attempts.count == 1 && error.attempts[0].error is Problem)
        await configuration.deliverEvents()
        #expect(codes.elements == [.stageFailed])
        #expect(error.notRetried == "not a passing failure")
    }

    @Test(arguments: stages)
    func `So it is over the transport of the platform`(stage: RequestError.Stage) async throws {
        let server = try await LoopbackServer.start { _ in .text("here") }
        let error = try await Self.error(
            Problem(), in: stage, RequestConfiguration.over(PlatformTransport.shared), to: server.url)
        #expect(error.code == .stageFailed && error.stage == stage && error.underlying is Problem)
    }

    @Test(arguments: stages)
    func `An error of Foundation's is one too whatever its code`(stage: RequestError.Stage) async throws {
        let error = try await Self.error(URLError(.timedOut), in: stage, .scripted([.body(Data())]))
        #expect(error.code == .stageFailed && error.stage == stage && error.underlying is URLError)
    }

    @Test func `A decoding error out of an overridden decode is undecodable`() async throws {
        let cause = DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: ""))
        let error = try await Self.error(cause, in: .decode, .scripted([.body(Data())]))
        #expect(error.code == .undecodable && error.underlying is DecodingError)
    }

    @Test func `An error of the decoder is undecodable under an overridden decode too`() async throws {
        final class Passing: URLRequestOperation<Int>, @unchecked Sendable {
            override func decode(_ response: TransportResponse) async throws -> Int {
                try await super.decode(response)
            }
        }
        let operation = Passing(
            anyRequest, decoder: ResponseDecoder<Int> { _ in throw Problem() },
            configuration: .scripted([.body(Data())]))
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .undecodable && error.underlying is Problem)
    }

    @Test func `An error that an override throws in the place of the decoders is a stage failure`() async throws {
        struct Mine: Error {}
        final class Translating: URLRequestOperation<Int>, @unchecked Sendable {
            override func decode(_ response: TransportResponse) async throws -> Int {
                do { return try await super.decode(response) } catch { throw Mine() }
            }
        }
        let operation = Translating(
            anyRequest, decoder: ResponseDecoder<Int> { _ in throw Problem() },
            configuration: .scripted([.body(Data())]))
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .stageFailed && error.stage == .decode && error.underlying is Mine)
    }

    @Test func `An error that a decision puts in the place of a decoders is a stage failure`() async throws {
        var configuration = RequestConfiguration.scripted([.body(Data("text".utf8))])
        configuration.retryDeciders = [RetryDecider { _, _ in .fail(Problem()) }]
        let operation = URLRequestOperation(anyRequest, decoder: .json([Int].self), configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .stageFailed && error.underlying is Problem)
    }
}
