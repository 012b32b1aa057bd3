/// A public key or a certificate that the verified chain of a server must contain.
///
/// A pin of a key (RFC 7469) stays good when the certificate is renewed with the same key. A pin of a certificate does not.
public struct ServerPin: Sendable, Hashable {
    /// What the digest is of.
    public enum Kind: Sendable, Hashable {
        /// The `SubjectPublicKeyInfo` of a certificate in DER (RFC 5280, section 4.1.2.7).
        case key
        /// The whole certificate in DER.
        case certificate
    }

    /// What the digest is of.
    public let kind: Kind

    /// The SHA-256 digest, 32 bytes.
    public let digest: Data

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
    /// - Parameter certificate: A certificate in DER, as in most `.cer` files, or in PEM. Of several in PEM, the first counts.
    /// - Returns: `nil` if it is no certificate.
    public static func key(of certificate: Data) -> ServerPin? {
        guard let certificate = CertificateFile.certificates(in: certificate).first,
            let key = CertificateFile.key(of: certificate)
        else { return nil }
        return ServerPin(.key, SHA2.digest(of: key))
    }

    /// The pin of a certificate as a whole.
    ///
    /// - Parameter certificate: A certificate in DER or PEM. Of several in PEM, the first counts.
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
