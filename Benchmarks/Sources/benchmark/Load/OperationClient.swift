import Foundation
import RequestOperations
import Synchronization

/// `URLRequestOperation`s on a queue, in their default configuration, with a recorder if that is measured.
final class OperationClient<Value: Sendable>: LoadClient {
    private let order: LoadOrder
    private let configuration: RequestConfiguration
    private let decoder: ResponseDecoder<Value>
    private let isExpected: @Sendable (Value) -> Bool
    private let queue: OperationQueue
    private let recorder = TimelineRecorder()
    /// How many requests were made.
    private let made = Atomic(0)
    /// URLSession does not tell the version on Linux.
    private var version: HTTPVersion? {
        order.client == .operationOverURLSession ? nil : order.usesHTTP2 ? .http2 : .http1_1
    }

    init(_ order: LoadOrder, decoder: ResponseDecoder<Value>, isExpected: @escaping @Sendable (Value) -> Bool) {
        self.order = order
        var configuration = order.client.configuration(trusting: order.authority)
        if order.client == .recordedOperation { configuration.record(in: recorder) }
        self.configuration = configuration
        self.decoder = decoder
        self.isExpected = isExpected
        queue = order.client == .operationInRequestQueue ? RequestQueue() : OperationQueue()
        queue.maxConcurrentOperationCount = order.inFlight
    }

    /// One request fails, so that the stage of the retry decision is seen to run.
    func prepare() throws {
        // The same server has this path, which is a good URL too.
        let url = URL(string: "/missing", relativeTo: URL(string: order.url))!
        let operation = CountedOperation(
            URLRequest(url: url), decoder: decoder, configuration: configuration, version: version)
        made.add(1, ordering: .relaxed)
        queue.addOperations([operation], waitUntilFinished: true)
        guard case .failure(let error as RequestError)? = operation.result, error.code == .unacceptableStatus else {
            throw BenchmarkError("a missing page gave \(String(describing: operation.result))")
        }
    }

    func start(_ requests: [LoadRequest]) {
        made.add(requests.count, ordering: .relaxed)
        queue.addOperations(requests.map(operation), waitUntilFinished: false)
    }

    private func operation(for request: LoadRequest) -> Operation {
        let end = { @Sendable [isExpected] (result: Result<Value, any Error>) in
            switch result {
            case .success(let value) where isExpected(value): request.end()
            case .success: request.end(BenchmarkError("the value is not the expected one"))
            case .failure(let error): request.end(error)
            }
        }
        let urlRequest = URLRequest(url: request.url)
        guard request.isTimed else {
            return CountedOperation(
                urlRequest, decoder: decoder, configuration: configuration, version: version, onOutcome: end)
        }
        let operation = CountedOperation(
            urlRequest, decoder: decoder, configuration: configuration, version: version)
        operation.whenFinished(end)
        return operation
    }

    func settle() {
        queue.waitUntilAllOperationsAreFinished()
    }

    func evidence() throws -> [String] {
        guard order.client == .recordedOperation else { return [try StageCounts.summary()] }
        let (recorded, made) = (recorder.summary.requests, made.load(ordering: .relaxed))
        guard recorded == made else { throw BenchmarkError("\(recorded) of \(made) requests were recorded") }
        return [try StageCounts.summary(), "recorded: \(recorded)"]
    }
}

extension ClientKind {
    /// The default configuration; another transport only over URLSession, and where a certificate of ours is to be trusted.
    func configuration(trusting authority: String?) -> RequestConfiguration {
        var configuration = RequestConfiguration.default
        if self == .operationOverURLSession {
            configuration.transport = URLSessionTransport.shared
        } else if let authority {
            var curl = CurlTransport.Configuration()
            // Over libcurl before 8.1, HTTP/2 has to be asked for.
            curl.httpVersions = .http2
            curl.trust.roots = .file(URL(fileURLWithPath: authority))
            configuration.transport = CurlTransport(configuration: curl)
        }
        return configuration
    }
}
