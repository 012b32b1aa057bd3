/// The request that has a server remove an upload by tus. Each attempt processes the request of the upload anew.
// Unchecked, as its superclass is. This class adds only a constant.
final class TusTermination: URLRequestOperation<Void>, @unchecked Sendable {
    private let makeRequest: @Sendable () async throws -> URLRequest

    /// Makes an operation.
    ///
    /// - Parameters:
    ///   - url: The URL of the upload.
    ///   - configuration: That of the upload.
    ///   - makeRequest: Makes the request of an attempt.
    init(
        of url: URL, configuration: RequestConfiguration,
        _ makeRequest: @escaping @Sendable () async throws -> URLRequest
    ) {
        self.makeRequest = makeRequest
        var request = URLRequest(url: url)
        request.httpMethod = HTTPMethod.delete.rawValue
        super.init(request, decoder: .void, configuration: configuration)
    }

    override func process(_ request: URLRequest) async throws -> URLRequest { try await makeRequest() }
}
