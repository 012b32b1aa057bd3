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
        PlatformTransport.shared
    }
}
