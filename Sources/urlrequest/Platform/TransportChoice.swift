import RequestOperations

/// What carries the requests: what there is on this system, the best first.
enum TransportChoice: String, CaseIterable, Sendable {
    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        /// libcurl.
        case curl
    #endif
    /// Foundation's URLSession.
    case urlsession

    /// The one that is best on this system.
    // There is always a case.
    static let platform = allCases.first!

    /// A transport for so many attempts at a time, each with a connection of its own if need be.
    func transport(forConnections count: Int) -> any Transport {
        switch self {
        #if canImport(CRequestOperationsCurl) && canImport(Glibc)
            case .curl: Self.curlTransport(forConnections: count)
        #endif
        case .urlsession: Self.sessionTransport(forConnections: count)
        }
    }

    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        private static func curlTransport(forConnections count: Int) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.keptConnections = max(configuration.keptConnections, count)
            return CurlTransport(configuration: configuration)
        }
    #endif

    private static func sessionTransport(forConnections count: Int) -> URLSessionTransport {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = count
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        return URLSessionTransport(configuration: configuration)
    }
}
