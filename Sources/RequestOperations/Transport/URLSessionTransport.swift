public final class URLSessionTransport: Transport {
    public static let shared = URLSessionTransport()
    init() {}
    public func perform(_ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void) async throws
        -> TransportResponse
    {
        fatalError()
    }
}
