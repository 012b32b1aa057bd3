import RequestOperations

/// Who makes requests.
enum ClientKind: String, Codable, CaseIterable, Sendable {
    case limit
    case operation
    case operationInRequestQueue
    case recordedOperation
    case requestClient
    case operationOverURLSession
    case sessionOperation
    case session
    case asyncHTTPClient
    case asyncHTTPClientOperation

    /// The name in tables and charts.
    var title: String {
        switch self {
        case .limit: "C over libcurl multi"
        case .operation: "URLRequestOperation"
        case .operationInRequestQueue: "URLRequestOperation in a RequestQueue"
        case .recordedOperation: "URLRequestOperation with a TimelineRecorder"
        case .requestClient: "RequestClient.get"
        case .operationOverURLSession: "URLRequestOperation, URLSessionTransport"
        case .sessionOperation: "Operation over URLSession"
        case .session: "URLSession"
        case .asyncHTTPClient: "AsyncHTTPClient"
        case .asyncHTTPClientOperation: "AsyncHTTPClient in an Operation"
        }
    }

    /// Whether it is URLSession that carries its requests.
    var usesURLSession: Bool {
        switch self {
        case .operationOverURLSession, .sessionOperation, .session: true
        case .limit, .operation, .operationInRequestQueue, .recordedOperation, .requestClient, .asyncHTTPClient,
            .asyncHTTPClientOperation:
            false
        }
    }

    /// Whether its requests are operations on a queue.
    var usesQueue: Bool {
        switch self {
        case .operation, .operationInRequestQueue, .recordedOperation, .operationOverURLSession, .sessionOperation,
            .asyncHTTPClientOperation:
            true
        case .limit, .requestClient, .session, .asyncHTTPClient: false
        }
    }

    /// Makes the client for an order.
    func makeGenerator(_ order: LoadOrder) throws -> any LoadGenerator {
        switch self {
        case .limit: try LimitGenerator(order)
        case .requestClient: RequestClientClient(order)
        case .operation, .operationInRequestQueue, .recordedOperation, .operationOverURLSession:
            order.decodesJSON
                ? OperationClient(order, decoder: .json([Record].self)) { $0 == Record.all }
                : OperationClient(order, decoder: .data) { $0.withUnsafeBytes(order.body.matches) }
        case .sessionOperation: SessionOperationClient(order)
        case .session: SessionClient(order)
        case .asyncHTTPClient: try AsyncHTTPClientClient(order)
        case .asyncHTTPClientOperation: try AsyncHTTPClientOperationClient(order)
        }
    }
}
