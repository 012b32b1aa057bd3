/// The operation of an endpoint: a request operation whose body may be one that a `URLRequest` cannot hold.
// Unchecked as its superclass is: its own state never changes.
final class EndpointOperation<Value: Sendable>: URLRequestOperation<Value>, @unchecked Sendable {
    private let prepared: Result<EndpointRequest, any Error>

    init(
        _ prepared: Result<EndpointRequest, any Error>, _ baseURL: URL, _ decoder: ResponseDecoder<Value>,
        _ configuration: RequestConfiguration
    ) {
        self.prepared = prepared
        let request = (try? prepared.get())?.request ?? URLRequest(url: baseURL)
        super.init(request, decoder: decoder, configuration: configuration)
    }

    override var isProcessedByAdapters: Bool { true }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        // What is wrong with the endpoint is said here, where a failure has its stage.
        _ = try prepared.get()
        return try await super.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        let prepared = try prepared.get()
        guard prepared.isStreamed else { return try await super.makeTask(for: request) }
        // Made for each attempt: what an operation before this one wrote to a file has its size now.
        return .upload(request, from: try prepared.makeBody())
    }
}
