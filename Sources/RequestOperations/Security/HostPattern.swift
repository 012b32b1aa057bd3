/// The hosts that pins are for: a name, an address, or all names under one. Optionally one port.
///
/// | Pattern | Hosts |
/// |---|---|
/// | `api.example.com` | that host |
/// | `*.example.com` | names with one label more, such as `a.example.com` |
/// | `**.example.com` | `example.com`, and names with one or more labels more |
/// | `**` | every host |
/// | `192.0.2.1`, `[2001:db8::1]` | that address |
/// | `api.example.com:8443` | that host at this port only |
///
/// Names are compared without regard to case. A name and an address are never the same host.
struct HostPattern: Sendable, Hashable {
    private enum Reach: Sendable, Hashable {
        case exact
        case oneLabel
        case anyDepth
        case everyHost
    }

    private let reach: Reach
    /// The name or the address, or what stands after the wildcard with its dot.
    private let host: String
    private let port: Int?

    /// Reads a pattern. `nil` if it is none.
    init?(_ text: String) {
        let (whole, port) = Self.split(text.lowercased())
        if let port { guard let number = Int(port), (1...65535).contains(number) else { return nil } }
        self.port = port.flatMap { Int($0) }
        guard whole != "**" else {
            (reach, host) = (.everyHost, "")
            return
        }
        let wildcards: [(String, Reach)] = [("**.", .anyDepth), ("*.", .oneLabel)]
        let (mark, reach) = wildcards.first { whole.hasPrefix($0.0) } ?? ("", .exact)
        let name = Self.canonical(String(whole.dropFirst(mark.count)))
        let isAddress = IPAddress(name) != nil
        guard isAddress ? reach == .exact : Self.isName(name) else { return nil }
        self.reach = reach
        host = reach == .exact ? name : "." + name
    }

    /// Whether a text is a name as URLs have it: labels of ASCII letters, digits, `-` and `_`.
    private static func isName(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { $0.isLetter || $0.isDigit || [0x2D, 0x5F].contains($0) }
        }
    }

    /// Whether pins for the pattern apply to a host.
    func matches(_ name: String, port: Int) -> Bool {
        guard self.port ?? port == port else { return false }
        let name = Self.canonical(name.lowercased())
        switch reach {
        case .exact: return name == host
        case .everyHost: return true
        case .oneLabel, .anyDepth: break
        }
        if reach == .anyDepth, name == host.dropFirst() { return true }
        guard name.hasSuffix(host), name.count > host.count, IPAddress(name) == nil else { return false }
        return reach == .anyDepth || !name.dropLast(host.count).contains(".")
    }

    /// Divides `host:port` and `[address]:port`. An IPv6 address without brackets has no port.
    private static func split(_ text: String) -> (host: String, port: String?) {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            let host = String(text[text.index(after: text.startIndex)..<end])
            // Without the colon it is no pattern, and so the port is none either.
            return (host, rest.isEmpty ? nil : rest.first == ":" ? String(rest.dropFirst()) : "none")
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : (text, nil)
    }

    /// A name without its last dot, and an address in its one form, without its zone. libcurl takes the numbers that C's
    /// `inet_aton` takes for addresses, such as `127.1` and `0x7f000001`.
    static func canonical(_ name: String) -> String {
        let bare = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
        if let address = IPAddress(String(bare.prefix { $0 != "%" })) { return address.description }
        var four = in_addr()
        if bare.utf8.first?.isDigit == true, bare.utf8.allSatisfy({ $0.isDigit || $0.isLetter || $0 == 0x2E }),
            inet_aton(bare, &four) != 0, let address = IPAddress(withUnsafeBytes(of: four) { Array($0) })
        {
            return address.description
        }
        return bare.hasSuffix(".") ? String(bare.dropLast()) : bare
    }
}
