import RequestOperations

/// How connections are made, beyond what every transport can do.
struct ConnectionOptions: Sendable, Equatable {
    /// Which servers are trusted, and how the tool identifies itself to them.
    var trust = TrustPolicy.system

    /// Whether HTTP/2 is spoken without TLS as well.
    var wantsHTTP2 = false
}
