#if canImport(CryptoKit)
    import CryptoKit
#else
    import CRequestOperationsCrypto
#endif

/// The digests of the scheme `Digest`, computed by the system's library.
///
/// MD5 is no protection any more, but many servers know only that one. Nothing else uses it.
enum MessageDigest: Sendable {
    case md5
    case sha256
    case sha512Truncated

    /// - Parameter name: The name of the algorithm in lower case (RFC 7616, section 6.1).
    init?(name: String) {
        switch name {
        case "md5": self = .md5
        case "sha-256": self = .sha256
        case "sha-512-256": self = .sha512Truncated
        default: return nil
        }
    }

    /// A stronger algorithm has a higher number.
    var strength: Int {
        switch self {
        case .md5: 1
        case .sha256: 2
        case .sha512Truncated: 3
        }
    }

    /// The digest of a text in hexadecimal digits; `nil` if the library does not have it.
    func hexadecimal(of text: String) -> String? { digest(of: Data(text.utf8))?.hexadecimal }

    #if canImport(CryptoKit)
        private func digest(of data: Data) -> Data? {
            switch self {
            case .md5: Data(Insecure.MD5.hash(data: data))
            case .sha256: Data(SHA256.hash(data: data))
            // CryptoKit has none.
            case .sha512Truncated: nil
            }
        }
    #else
        private func digest(of data: Data) -> Data? {
            let function =
                switch self {
                case .md5: EVP_md5()
                case .sha256: EVP_sha256()
                case .sha512Truncated: EVP_sha512_256()
                }
            var digest = Data(count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            // A library in FIPS mode refuses MD5.
            let isComputed = data.withUnsafeBytes { bytes in
                digest.withUnsafeMutableBytes {
                    EVP_Digest(
                        bytes.baseAddress, bytes.count, $0.bindMemory(to: UInt8.self).baseAddress, &count, function, nil
                    )
                }
            }
            return isComputed == 1 ? digest.prefix(Int(count)) : nil
        }
    #endif
}
