/// Scheme, host and port (RFC 6454). Credentials, connections, limits and the data about hosts are kept by origin.
struct Origin: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    init(_ url: URL?) {
        scheme = url?.scheme?.lowercased() ?? ""
        host = url?.host?.lowercased() ?? ""
        port = url?.port ?? Self.defaultPort(isSecure: scheme == "https")
    }

    /// The port of a URL that does not name one (RFC 9110, sections 4.2.1 and 4.2.2).
    static func defaultPort(isSecure: Bool) -> Int { isSecure ? 443 : 80 }
}
