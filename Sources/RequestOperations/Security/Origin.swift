/// Scheme, host and port (RFC 6454). Credentials, connections, limits and the data about hosts are kept by origin.
struct Origin: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    init(_ url: URL?) {
        if let url, let usual = Origin(usual: url.absoluteString) {
            self = usual
            return
        }
        scheme = url?.scheme?.lowercased() ?? ""
        host = url?.host?.lowercased() ?? ""
        port = url?.port ?? Self.defaultPort(isSecure: scheme == "https")
    }

    /// Scheme, host and, unless it is the usual one, port. Empty without a host.
    var text: String {
        guard !host.isEmpty else { return "" }
        // An IPv6 address is in brackets (RFC 3986, section 3.2.2).
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(scheme)://\(name)" + (port == Self.defaultPort(isSecure: scheme == "https") ? "" : ":\(port)")
    }

    /// Reads the origin from the text of a usual URL, without the accessors of Foundation's URL. A usual URL has a host of
    /// lower-case letters, digits, dots and hyphens, and no credentials. Returns `nil` for any other.
    private init?(usual text: String) {
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let rest = text.utf8.dropFirst(isSecure ? 8 : 7)
        let name = rest.prefix(while: \.isInUsualHost)
        guard !name.isEmpty, let host = String(name) else { return nil }
        var port = Self.defaultPort(isSecure: isSecure)
        var end = rest[name.endIndex...]
        if end.first == UInt8(ascii: ":") {
            let digits = end.dropFirst().prefix { $0 != UInt8(ascii: "/") }
            guard (1...5).contains(digits.count), digits.allSatisfy(\.isDigit) else { return nil }
            port = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            end = end[digits.endIndex...]
        }
        guard end.isEmpty || end.first == UInt8(ascii: "/") else { return nil }
        (scheme, self.host, self.port) = (isSecure ? "https" : "http", host, port)
    }

    /// The port of a URL that does not name one (RFC 9110, sections 4.2.1 and 4.2.2).
    static func defaultPort(isSecure: Bool) -> Int { isSecure ? 443 : 80 }
}

extension UInt8 {
    fileprivate var isInUsualHost: Bool {
        (0x61...0x7A).contains(self) || isDigit || self == UInt8(ascii: ".") || self == UInt8(ascii: "-")
    }
}
