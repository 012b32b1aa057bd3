/// The operation of an endpoint. Its body may be one that a `URLRequest` cannot hold.
// Unchecked for the same reason as the superclass: the state of this class never changes.
final class EndpointOperation<Value: Sendable>: URLRequestOperation<Value>, @unchecked Sendable {
    private let prepared: Result<EndpointRequest, any Error>

    init(
        _ prepared: Result<EndpointRequest, any Error>, orFailingAs placeholder: @autoclosure () -> URLRequest,
        _ decoder: ResponseDecoder<Value>, _ configuration: RequestConfiguration
    ) {
        self.prepared = prepared
        let request = (try? prepared.get())?.request ?? placeholder()
        super.init(request, decoder: decoder, configuration: configuration)
    }

    override var isProcessedByAdapters: Bool { true }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        // A problem with the endpoint is thrown here, so that the failure has a stage.
        _ = try prepared.get()
        return try await super.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        let prepared = try prepared.get()
        guard prepared.isStreamed else { return try await super.makeTask(for: request) }
        // The body is made for each attempt. A file that an earlier operation wrote has its final size only now.
        return .upload(request, from: try prepared.makeBody())
    }
}
