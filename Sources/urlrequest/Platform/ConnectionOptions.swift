import RequestOperations

/// Options for connections that not every transport supports.
struct ConnectionOptions: Sendable, Equatable {
    /// Which servers are trusted, and how the tool identifies itself to them.
    var trust = TrustPolicy.system

    /// Whether HTTP/2 is also used without TLS.
    var wantsHTTP2 = false

    /// Whether requests at the same time may share a connection, as HTTP/2 allows.
    var sharesConnections = true
}
