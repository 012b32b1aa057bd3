/// The override points of a request that its transfer needs.
protocol RequestStages: Sendable {
    /// Whether `process` only runs the adapters of the configuration.
    var isProcessedByAdapters: Bool { get }

    func process(_ request: URLRequest) async throws -> URLRequest
    func makeTask(for request: URLRequest) async throws -> TransportTask
    func validate(_ head: ResponseHead) throws
}
