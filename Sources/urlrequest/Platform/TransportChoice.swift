import RequestOperations

/// The transports that this system has, the best first.
enum TransportChoice: String, CaseIterable, Sendable {
    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        /// libcurl.
        case curl
    #endif
    /// Foundation's URLSession.
    case urlsession

    /// The best transport on this system.
    // There is always at least one case.
    static let platform = allCases.first!

    /// Makes a transport for a number of attempts at a time. Each attempt may need a connection of its own.
    ///
    /// - Parameters:
    ///   - count: The number of attempts.
    ///   - usesProxy: Whether requests go through the proxy that the environment (or the system) names.
    ///   - keepsCookies: Whether cookies are kept in memory and sent.
    ///   - options: How connections are made. URLSession supports only the default.
    func transport(
        forConnections count: Int, usingProxy usesProxy: Bool, keepingCookies keepsCookies: Bool,
        _ options: ConnectionOptions
    ) -> any Transport {
        switch self {
        #if canImport(CRequestOperationsCurl) && canImport(Glibc)
            case .curl: Self.curlTransport(count, usesProxy, keepsCookies, options)
        #endif
        case .urlsession: Self.sessionTransport(count, usesProxy, keepsCookies)
        }
    }

    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        private static func curlTransport(
            _ count: Int, _ usesProxy: Bool, _ keepsCookies: Bool, _ options: ConnectionOptions
        ) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.keptConnections = max(configuration.keptConnections, count)
            // The limit on attempts also limits connections.
            configuration.maximumConnectionsPerHost = count
            if !usesProxy { configuration.proxy = .none }
            if keepsCookies { configuration.cookies = .inMemory }
            configuration.trust = options.trust
            if options.wantsHTTP2 {
                configuration.httpVersions = .http2PriorKnowledge
            } else if !options.sharesConnections {
                configuration.httpVersions = .http11
            }
            return CurlTransport(configuration: configuration)
        }
    #endif

    /// Closes the connections of a transport and ends its threads. It gives up after one second.
    ///
    /// Without this, the process could exit while another thread closes a TLS connection. The exit would remove the
    /// library that this thread still uses.
    static func shutDown(_ transport: any Transport) async {
        #if canImport(CRequestOperationsCurl) && canImport(Glibc)
            guard let transport = transport as? CurlTransport else { return }
            let (ends, end) = AsyncStream<Never>.makeStream()
            Task {
                await transport.shutdown(draining: false)
                end.finish()
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + 1) { end.finish() }
            for await _ in ends {}
        #endif
    }

    private static func sessionTransport(
        _ count: Int, _ usesProxy: Bool, _ keepsCookies: Bool
    ) -> URLSessionTransport {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = count
        configuration.urlCache = nil
        // The cookie storage of an ephemeral configuration is in memory.
        if !keepsCookies { configuration.httpCookieStorage = nil }
        configuration.urlCredentialStorage = nil
        if !usesProxy { configuration.connectionProxyDictionary = [:] }
        return URLSessionTransport(configuration: configuration)
    }
}

/// Options for connections that not every transport supports.
struct ConnectionOptions: Sendable, Equatable {
    /// Which servers are trusted, and how the tool identifies itself to them.
    var trust = TrustPolicy.system

    /// Whether HTTP/2 is also used without TLS.
    var wantsHTTP2 = false

    /// Whether requests at the same time may share a connection, as HTTP/2 allows.
    var sharesConnections = true
}
