/// Pins for some hosts. The chain that was verified for a server must contain one of them.
///
/// ```swift
/// trust.pins = [
///     .host("api.example.com", keys: ["sha256/YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE=", backup])
/// ]
/// ```
///
/// The certificate is verified first, as without pins. Then any certificate of the chain that led to a root may match: the
/// server's, an intermediate one, or the root. Certificates that the server only sent along do not count. If several patterns
/// match a host, all enforced pins count together. Pins that only report are judged for each pattern separately.
public struct HostPins: Sendable, Hashable {
    /// What happens when no pin matches.
    public struct Mode: Sendable, Hashable {
        /// Gets the reports. `nil` if the pins are enforced.
        let handler: PinReport.Handler?

        /// The connection fails as ``RequestError/Code/pinningFailed``. Nothing is sent, and the request is never retried.
        public static let enforce = Mode(handler: nil)

        /// The connection is used, and a closure is called. The closure runs on a queue of its own, once for each full
        /// handshake. Two such modes are equal only if they are copies of the same one.
        public static func reportOnly(_ report: @escaping @Sendable (PinReport) -> Void) -> Mode {
            Mode(handler: PinReport.Handler(report))
        }
    }

    /// The pattern of the hosts: `api.example.com`, `*.example.com` for one more label, `**.example.com` for `example.com` and
    /// any number of more labels, `**` for every host, or an address. A port may follow.
    public let host: String

    /// The pins. Name at least one that is not in use: a backup, whose key is kept elsewhere. Without a backup, a warning goes
    /// to standard error, once for each host.
    public let pins: [ServerPin]

    /// The date from which the pins do not count, so that a program without updates goes on working. `nil` means never.
    let expires: Date?

    /// What happens when no pin matches.
    let mode: Mode

    let pattern: HostPattern

    /// Makes pins for hosts.
    ///
    /// An invalid pattern is a programmer's error. Call ``isPattern(_:)`` to check a text that comes from outside.
    ///
    /// - Parameters:
    ///   - host: The pattern of the hosts.
    ///   - keys: The pins. Without any, no server is trusted.
    ///   - expires: The date from which the pins do not count. `nil`, never, by default.
    ///   - mode: What happens when no pin matches. ``Mode/enforce`` by default.
    public static func host(
        _ host: String, keys: [ServerPin], expires: Date? = nil, _ mode: Mode = .enforce
    ) -> HostPins {
        guard let pattern = HostPattern(host) else { preconditionFailure("\(host) is no pattern of hosts.") }
        return HostPins(host: host, pins: keys, expires: expires, mode: mode, pattern: pattern)
    }

    /// Whether a text is a pattern of hosts.
    public static func isPattern(_ text: String) -> Bool { HostPattern(text) != nil }
}

/// A server whose chain has none of the pins for its host.
public struct PinReport: Sendable, Hashable {
    /// The host.
    public let host: String
    /// The pins of the keys in the verified chain, that of the server first. Pin one of them, and a backup.
    public let presented: [ServerPin]
    /// The pins that were expected.
    public let expected: [ServerPin]

    /// The text of the error for a refused server.
    var reason: String {
        "\(host) presented " + presented.map(\.description).joined(separator: ", ") + "; the pins are "
            + expected.map(\.description).joined(separator: ", ")
    }

    /// A closure that gets the reports. Two handlers are equal only if they are the same object.
    final class Handler: Sendable, Hashable {
        private let report: @Sendable (PinReport) -> Void

        init(_ report: @escaping @Sendable (PinReport) -> Void) {
            self.report = report
        }

        func callAsFunction(_ report: PinReport) {
            DispatchQueue.global().async { self.report(report) }
        }

        static func == (first: Handler, second: Handler) -> Bool { first === second }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}

/// A public key or a certificate that the verified chain of a server must contain.
///
/// A pin of a key (RFC 7469) stays good when the certificate is renewed with the same key. A pin of a certificate does not.
public struct ServerPin: Sendable, Hashable {
    /// What the digest is of.
    package enum Kind: Sendable, Hashable {
        /// The `SubjectPublicKeyInfo` of a certificate in DER (RFC 5280, section 4.1.2.7).
        case key
        /// The whole certificate in DER.
        case certificate
    }

    /// What the digest is of.
    package let kind: Kind

    /// The SHA-256 digest, 32 bytes.
    package let digest: Data

    init(_ kind: Kind, _ digest: Data) {
        self.kind = kind
        self.digest = digest
    }

    /// A pin of a key as curl, OkHttp and browsers write it: `sha256/` or `sha256//`, and the Base64 of 32 bytes.
    ///
    /// A Base64 text may itself begin with `/`. Only one reading of a text has 32 bytes.
    ///
    /// - Returns: `nil` for any other text.
    public init?(_ text: String) {
        let readings = ["sha256/", "sha256//"].lazy.filter(text.hasPrefix)
            .compactMap { Data(base64Encoded: String(text.dropFirst($0.count))) }
        guard let digest = readings.first(where: { $0.count == 32 }) else { return nil }
        self.init(.key, digest)
    }

    /// The pin of the key in a certificate.
    ///
    /// - Parameter certificate: A certificate in DER, as in most `.cer` files, or in PEM. If the PEM text has several, the
    ///   first counts.
    /// - Returns: `nil` if it is no certificate.
    public static func key(of certificate: Data) -> ServerPin? {
        guard let certificate = CertificateFile.certificates(in: certificate).first,
            let key = CertificateFile.key(of: certificate)
        else { return nil }
        return ServerPin(.key, SHA2.digest(of: key))
    }

    /// The pin of a certificate as a whole.
    ///
    /// - Parameter certificate: A certificate in DER or PEM. If the PEM text has several, the first counts.
    /// - Returns: `nil` if it is no certificate.
    public static func certificate(_ certificate: Data) -> ServerPin? {
        guard let certificate = CertificateFile.certificates(in: certificate).first,
            CertificateFile.key(of: certificate) != nil
        else { return nil }
        return ServerPin(.certificate, SHA2.digest(of: certificate))
    }

    /// The pins of the keys in all `.cer`, `.crt`, `.der` and `.pem` files of a folder, such as the resources of a bundle.
    ///
    /// - Throws: A Foundation error if the folder or a file cannot be read. A file without a certificate is left out.
    public static func keys(inFolder folder: URL) throws -> [ServerPin] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try names.map { folder.appendingPathComponent($0) }
            .filter { ["cer", "crt", "der", "pem"].contains($0.pathExtension.lowercased()) }
            .flatMap { CertificateFile.certificates(in: try Data(contentsOf: $0)) }
            .compactMap { CertificateFile.key(of: $0).map { ServerPin(.key, SHA2.digest(of: $0)) } }
    }
}

extension ServerPin: ExpressibleByStringLiteral {
    /// The pin of a key from a literal such as `"sha256/…"`. Any other literal is a programmer's error.
    public init(stringLiteral text: String) {
        guard let pin = ServerPin(text) else {
            preconditionFailure("\(text) is not sha256/ and the Base64 of 32 bytes.")
        }
        self = pin
    }
}

extension ServerPin: CustomStringConvertible {
    /// `sha256/` and Base64 for a key. A certificate has the word `certificate` before it.
    public var description: String {
        (kind == .key ? "" : "certificate ") + "sha256/\(digest.base64EncodedString())"
    }
}

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

    /// Reads a pattern. `nil` if the text is not a pattern.
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
            // Other text after the bracket makes this no pattern: `none` is not a port.
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

/// Judges the verified chain of a server by the pins for its host. A pure value.
struct PinCheck: Sendable {
    /// A certificate of a chain.
    struct Certificate: Sendable, Hashable {
        let key: ServerPin
        let whole: ServerPin
    }

    struct Verdict: Sendable, Hashable {
        /// Why the connection fails; `nil` if it may be used.
        var failure: PinReport?
        /// The reports and the handlers that get them.
        var reports: [Message] = []

        struct Message: Sendable, Hashable {
            let report: PinReport
            let handler: PinReport.Handler
        }
    }

    private let pins: [HostPins]

    init(_ pins: [HostPins]) {
        self.pins = pins
    }

    /// Judges a chain. Enforced pins count together. Pins that only report are judged for each pattern separately, so that new
    /// pins can be tried beside the old ones.
    ///
    /// - Parameters:
    ///   - chain: The verified chain, the certificate of the server first.
    ///   - host: The host of the request.
    ///   - port: The port of the request.
    ///   - date: Now.
    func verdict(on chain: [Certificate], of host: String, port: Int, at date: Date) -> Verdict {
        func report(_ expected: [ServerPin]) -> PinReport? {
            let isPinned = chain.contains { expected.contains($0.key) || expected.contains($0.whole) }
            return isPinned ? nil : PinReport(host: host, presented: chain.map(\.key), expected: expected)
        }
        var (verdict, enforced, isEnforced) = (Verdict(), [ServerPin](), false)
        for pins in pins where pins.pattern.matches(host, port: port) && pins.expires.map({ date < $0 }) ?? true {
            guard let handler = pins.mode.handler else {
                isEnforced = true
                enforced += pins.pins
                continue
            }
            if let report = report(pins.pins) {
                verdict.reports.append(Verdict.Message(report: report, handler: handler))
            }
        }
        if isEnforced { verdict.failure = report(enforced) }
        return verdict
    }
}

extension PinCheck.Certificate {
    /// The pins of a certificate in DER; `nil` if the bytes are not a certificate.
    ///
    /// The bytes are those of a server. They are never searched for PEM: a field of a certificate may have the text of a
    /// pinned one in it.
    init?(der: Data) {
        guard let key = CertificateFile.key(of: der) else { return nil }
        self.init(key: ServerPin(.key, SHA2.digest(of: key)), whole: ServerPin(.certificate, SHA2.digest(of: der)))
    }
}
