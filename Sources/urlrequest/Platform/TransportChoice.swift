import RequestOperations

/// What carries the requests.
enum TransportChoice: String, CaseIterable, Sendable {
    /// libcurl.
    case curl
    /// Foundation's URLSession.
    case urlsession

    /// The one that is best on this platform.
    static var platform: TransportChoice {
        #if os(Linux)
            .curl
        #else
            .urlsession
        #endif
    }

    /// The transport for so many attempts at a time.
    func transport(forConnections count: Int) -> any Transport {
        switch self {
        case .curl: PlatformTransport.shared
        case .urlsession: Self.sessionTransport(forConnections: count)
        }
    }

    /// The shared transport has fewer connections to one host than there may be attempts in flight.
    private static func sessionTransport(forConnections count: Int) -> URLSessionTransport {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = count
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        return URLSessionTransport(configuration: configuration)
    }
}
