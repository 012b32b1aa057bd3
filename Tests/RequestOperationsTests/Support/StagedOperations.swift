import RequestOperations
import RequestOperationsTesting

/// Records its stages.
final class Staged: URLRequestOperation<Int>, @unchecked Sendable {
    let calls = Collector<String>()
    let places = Collector<String>()
    let queues = Locked<[RequestError.Stage: OperationQueue]>([:])
    var decisions: (@Sendable (AttemptFailure) -> RetryDecision)?

    init(_ configuration: RequestConfiguration, to url: URL? = nil) {
        super.init(
            url.map { URLRequest(url: $0) } ?? anyRequest, decoder: ResponseDecoder { $0.body.count },
            configuration: configuration)
    }

    private func note(_ call: String, _ stage: RequestError.Stage) {
        calls.append(call)
        places.append(Place.name)
        if let queue = OperationQueue.current { queues.withLock { $0[stage] = queue } }
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        note("process", .process)
        return try await super.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        note("makeTask", .makeTask)
        return try await super.makeTask(for: request)
    }

    override func validate(_ head: ResponseHead) throws {
        note("validate \(head.status)", .validate)
        try super.validate(head)
    }

    override func validate(_ response: TransportResponse) async throws {
        note("validate \(response.body.count) bytes", .validate)
        try await super.validate(response)
    }

    override func decode(_ response: TransportResponse) async throws -> Int {
        note("decode \(response.body.count)", .decode)
        return try await super.decode(response)
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        note("decide \(failure.attempt)", .retryDecision)
        if let decisions { return decisions(failure) }
        return await super.retryDecision(after: failure)
    }
}

/// Never answers in one stage, whatever happens.
final class Unresponsive: URLRequestOperation<Data>, @unchecked Sendable {
    private let stage: UserStage?
    let reached = Door()

    init(in stage: UserStage?, _ configuration: RequestConfiguration) {
        self.stage = stage
        super.init(anyRequest, decoder: .data, configuration: configuration)
    }

    private func hang(in stage: UserStage) async {
        guard stage == self.stage else { return }
        reached.open()
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        await hang(in: .process)
        return try await super.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        await hang(in: .makeTask)
        return try await super.makeTask(for: request)
    }

    override func validate(_ response: TransportResponse) async throws {
        await hang(in: .validate)
        try await super.validate(response)
    }

    override func decode(_ response: TransportResponse) async throws -> Data {
        await hang(in: .decode)
        return try await super.decode(response)
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await hang(in: .retryDecision)
        return await super.retryDecision(after: failure)
    }
}
