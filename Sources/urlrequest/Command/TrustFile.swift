import RequestOperations

/// Reads files of certificates and keys. What it throws is ``UnusableInput``.
enum TrustFile {
    /// The roots in a file: any number in PEM (RFC 7468), or one in DER.
    static func roots(_ path: String) throws -> TrustPolicy.Roots {
        let data = try read(path)
        guard has("CERTIFICATE", data) || isDER(data) else {
            throw UnusableInput("\(path): it has no CERTIFICATE in PEM, and is none in DER")
        }
        return .file(URL(fileURLWithPath: path))
    }

    /// A certificate with its key.
    ///
    /// - Parameters:
    ///   - certificate: A file in PEM, or one in PKCS#12, which has the key as well.
    ///   - key: The file of the key; `nil` if it is in that of the certificate.
    ///   - passphrase: A file whose first line is the passphrase of the key; `nil` without one.
    static func identity(
        _ certificate: String, key: String?, passphrase: String?
    ) throws -> TrustPolicy.ClientCertificate {
        let data = try read(certificate)
        let passphrase = try passphrase.map { path in
            String(
                decoding: try read(path).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        }
        if isDER(data) {
            guard key == nil else {
                throw UnusableInput("\(certificate): a file in PKCS#12 has its own key, so --cert-key has no use")
            }
            return TrustPolicy.ClientCertificate(pkcs12: data, passphrase: passphrase)
        }
        let keyData = try key.map(read) ?? data
        guard has("CERTIFICATE", data) else {
            throw UnusableInput("\(certificate): it has no CERTIFICATE in PEM, and is no PKCS#12")
        }
        guard has("PRIVATE KEY", keyData) else {
            throw UnusableInput("\(key ?? certificate): it has no PRIVATE KEY in PEM")
        }
        return TrustPolicy.ClientCertificate(certificate: data, key: keyData, passphrase: passphrase)
    }

    private static func read(_ path: String) throws -> Data {
        guard access(path, R_OK) == 0 else { throw UnusableInput("\(path): \(errorText(errno))") }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw UnusableInput("\(path): it is no file that can be read")
        }
        return data
    }

    /// Whether a file has a block whose label ends with a text.
    private static func has(_ label: String, _ file: Data) -> Bool {
        file.range(of: Data("\(label)-----".utf8)) != nil
    }

    /// Whether a file begins as a sequence in DER does (ITU-T X.690, section 8.9).
    private static func isDER(_ file: Data) -> Bool { file.first == 0x30 }
}
