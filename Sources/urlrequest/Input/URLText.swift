import RequestOperations

/// A text that should be an HTTP URL, split into its parts.
struct URLText {
    private let text: String
    private let scheme: Substring
    /// The user name and password; `nil` if there are none.
    private let user: Substring?
    private let host: Substring
    private let port: Substring
    /// The path, query and fragment.
    private let rest: Substring

    /// Splits a text into its parts.
    ///
    /// - Throws: ``UnusableInput`` with the column of the error.
    init(_ text: String) throws {
        self.text = text
        if let control = text.unicodeScalars.firstIndex(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            throw Self.cannotStand(text.unicodeScalars[control], in: "a URL", at: control, of: text)
        }
        scheme = try Self.scheme(of: text)
        let start = text.utf8.index(scheme.endIndex, offsetBy: 3)
        let authority = Substring(text[start...].utf8.prefix { !"/?#".utf8.contains($0) })
        rest = text[authority.endIndex...]
        let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        user = at.map { authority[..<$0] }
        let place = at.map { authority[authority.utf8.index(after: $0)...] } ?? authority
        let colon = Self.colonOfPort(in: place)
        host = place[..<(colon ?? place.endIndex)]
        port = colon.map { place[place.utf8.index(after: $0)...] } ?? place[place.endIndex...]
        try checkPort()
    }

    /// The text as a URL.
    ///
    /// - Throws: ``UnusableInput`` if the host is not valid.
    var encoded: String {
        get throws {
            let user = user.map { PercentEncoding.userInformation.encoded(String($0)) + "@" } ?? ""
            let port = port.isEmpty ? "" : ":\(port)"
            return try "\(scheme)://\(user)\(encodedHost)\(port)\(rest)"
        }
    }

    // MARK: The parts

    private static func scheme(of text: String) throws -> Substring {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let after = text[scheme.endIndex...]
        guard after.utf8.first == UInt8(ascii: ":"), scheme.first?.isLetter == true else {
            throw UnusableInput("the URL has no scheme", column: 1)
        }
        guard ["http", "https"].contains(scheme.lowercased()) else {
            throw UnusableInput("the scheme \(quoted(String(scheme))) is neither http nor https", column: 1)
        }
        guard after.utf8.starts(with: "://".utf8) else {
            throw fault("“//” is missing behind the scheme", at: after.utf8.index(after: after.startIndex), of: text)
        }
        return scheme
    }

    private static func colonOfPort(in place: Substring) -> Substring.Index? {
        guard place.hasPrefix("[") else { return place.utf8.firstIndex(of: UInt8(ascii: ":")) }
        // An IPv6 address has colons of its own.
        guard let end = place.utf8.lastIndex(of: UInt8(ascii: "]")) else { return nil }
        return place.utf8[end...].firstIndex(of: UInt8(ascii: ":"))
    }

    private func checkPort() throws {
        if let other = port.unicodeScalars.firstIndex(where: { !("0"..."9").contains($0) }) {
            throw Self.cannotStand(port.unicodeScalars[other], in: "a port", at: other, of: text)
        }
        guard port.isEmpty || (1...65535).contains(Int(port) ?? 0) else {
            throw Self.fault("the port is none from 1 to 65535", at: port.startIndex, of: text)
        }
    }

    private var encodedHost: String {
        get throws {
            guard !host.isEmpty else { throw Self.fault("the URL has no host", at: host.startIndex, of: text) }
            if host.hasPrefix("[") { return try addressOfIPv6 }
            let name = host.removingPercentEncoding ?? String(host)
            try checkName(name)
            if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
            // Foundation has the IDNA tables.
            guard let known = URL(string: "http://\(name)/", encodingInvalidCharacters: true)?.host else {
                throw Self.fault("the host \(quoted(name)) is no name that IDNA allows", at: host.startIndex, of: text)
            }
            return known
        }
    }

    private func checkName(_ name: String) throws {
        guard let other = name.unicodeScalars.first(where: { $0.isASCII && !UInt8(ascii: $0).isOfName }) else { return }
        // A character that is escaped in the text is reported at the escape.
        let place = host.unicodeScalars.firstIndex(of: other) ?? host.unicodeScalars.firstIndex(of: "%")
        throw Self.cannotStand(other, in: "the name of a host", at: place ?? host.startIndex, of: text)
    }

    private var addressOfIPv6: String {
        get throws {
            guard host.hasSuffix("]") else {
                throw Self.fault("“]” is missing behind the address", at: host.startIndex, of: text)
            }
            // A zone may follow (RFC 6874).
            let digits = host.dropFirst().dropLast().prefix { $0 != "%" }
            var address = in6_addr()
            guard inet_pton(AF_INET6, String(digits), &address) == 1 else {
                throw Self.fault("\(quoted(String(host))) is no address of IPv6", at: host.startIndex, of: text)
            }
            return String(host)
        }
    }

    // MARK: Faults

    private static func cannotStand(
        _ scalar: Unicode.Scalar, in part: String, at index: String.Index, of text: String
    ) -> UnusableInput {
        fault("\(named(scalar)) cannot stand in \(part)", at: index, of: text)
    }

    private static func fault(_ fault: String, at index: String.Index, of text: String) -> UnusableInput {
        UnusableInput(fault, column: text.unicodeScalars.distance(from: text.startIndex, to: index) + 1)
    }
}

extension URL {
    /// Makes a URL for a request from a text such as browsers accept.
    ///
    /// Characters that a URL cannot hold (RFC 3986) are percent-encoded as UTF-8. So is a `%` that begins no escape. A
    /// host name is converted by IDNA. The path keeps its `.` and `..`.
    ///
    /// - Throws: ``UnusableInput`` with the column of the error.
    init(requestable text: String) throws {
        // Most texts are already valid URLs.
        if text.utf8.allSatisfy(\.isOrdinary), let url = URL(string: text, encodingInvalidCharacters: false),
            url.isRequestable
        {
            self = url
            return
        }
        guard let url = URL(reference: try URLText(text).encoded) else {
            throw UnusableInput("the URL is malformed", column: 1)
        }
        self = url
    }

    private var isRequestable: Bool {
        guard let scheme, scheme == "http" || scheme == "https" else { return false }
        guard let host, !host.isEmpty, (1...65535).contains(port ?? 1) else { return false }
        return host.utf8.allSatisfy(\.isOfName)
    }
}

extension UInt8 {
    /// Whether a URL may contain this byte unescaped. The brackets of an IPv6 address are not included.
    fileprivate var isOrdinary: Bool { self > 0x20 && self < 0x7F && !"\"<>[\\]^`{|}".utf8.contains(self) }

    /// Whether a host name may contain this byte (RFC 3986, section 3.2.2). Escapes are not considered.
    fileprivate var isOfName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~!$&'()*+,;=".utf8.contains(self)
        }
    }
}
