import Foundation
import RequestOperations
import Synchronization

/// An operation that overrides all five stages, each with `super`, counts them, and looks at what comes of the last.
// Unchecked as its superclass is: its own state never changes.
final class CountedOperation<Value: Sendable>: URLRequestOperation<Value>, @unchecked Sendable {
    /// By which version the response has to come, if the transport tells.
    private let version: HTTPVersion?
    /// Called with each decoded value, and with the failure of a request that is not made again.
    private let onOutcome: @Sendable (Result<Value, any Error>) -> Void

    init(
        _ request: URLRequest, decoder: ResponseDecoder<Value>, configuration: RequestConfiguration,
        version: HTTPVersion?, onOutcome: @escaping @Sendable (Result<Value, any Error>) -> Void = { _ in }
    ) {
        self.version = version
        self.onOutcome = onOutcome
        super.init(request, decoder: decoder, configuration: configuration)
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        StageCounts.process.add(1, ordering: .relaxed)
        return try await super.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        StageCounts.makeTask.add(1, ordering: .relaxed)
        return try await super.makeTask(for: request)
    }

    override func validate(_ head: ResponseHead) throws {
        StageCounts.validate.add(1, ordering: .relaxed)
        try super.validate(head)
        guard head.status == 200 else { throw BenchmarkError("status \(head.status)") }
        guard version == nil || head.version == version else {
            throw BenchmarkError("the version is \(String(describing: head.version))")
        }
    }

    override func decode(_ response: TransportResponse) async throws -> Value {
        StageCounts.decode.add(1, ordering: .relaxed)
        let value = try await super.decode(response)
        onOutcome(.success(value))
        return value
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        StageCounts.retryDecision.add(1, ordering: .relaxed)
        let decision = await super.retryDecision(after: failure)
        switch decision {
        case .retry: break
        case .stop: onOutcome(.failure(failure.error))
        case .fail(let error): onOutcome(.failure(error))
        }
        return decision
    }
}

/// How often each stage ran in this process.
enum StageCounts {
    static let process = Atomic(0)
    static let makeTask = Atomic(0)
    static let validate = Atomic(0)
    static let decode = Atomic(0)
    static let retryDecision = Atomic(0)

    /// The counts as a sentence.
    ///
    /// - Throws: A ``BenchmarkError`` if a stage never ran, or one ran less often than the one after it.
    static func summary() throws -> String {
        let counts = [
            ("process", process.load(ordering: .relaxed)), ("makeTask", makeTask.load(ordering: .relaxed)),
            ("validate", validate.load(ordering: .relaxed)), ("decode", decode.load(ordering: .relaxed)),
            ("retryDecision", retryDecision.load(ordering: .relaxed)),
        ]
        let text = "stages: " + counts.map { "\($0) \($1)" }.joined(separator: ", ")
        guard counts.allSatisfy({ $0.1 > 0 }), zip(counts, counts.dropFirst()).allSatisfy({ $0.1 >= $1.1 }) else {
            throw BenchmarkError("not every stage ran: \(text)")
        }
        return text
    }
}
