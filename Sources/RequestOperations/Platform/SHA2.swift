#if canImport(CryptoKit)
    import CryptoKit
#else
    import CRequestOperationsCrypto
#endif

/// A running SHA-2 digest (FIPS 180-4), computed by the system's library.
// Unchecked: only one thread uses it at a time. For a download that is the download's queue.
package final class SHA2: @unchecked Sendable {
    /// The functions that are in use for files.
    package enum Function: Sendable, Hashable {
        case sha256
        case sha512

        /// The length of the digest in bytes.
        var length: Int {
            switch self {
            case .sha256: 32
            case .sha512: 64
            }
        }
    }

    #if canImport(CryptoKit)
        private enum State {
            case sha256(SHA256)
            case sha512(SHA512)
        }

        private var state: State

        package init(_ function: Function) {
            state =
                switch function {
                case .sha256: .sha256(SHA256())
                case .sha512: .sha512(SHA512())
                }
        }

        package func update(_ data: Data) {
            switch state {
            case .sha256(var hash):
                hash.update(data: data)
                state = .sha256(hash)
            case .sha512(var hash):
                hash.update(data: data)
                state = .sha512(hash)
            }
        }

        /// The digest of the bytes so far.
        package var digest: Data {
            switch state {
            case .sha256(let hash): Data(hash.finalize())
            case .sha512(let hash): Data(hash.finalize())
            }
        }
    #else
        private let context: OpaquePointer

        package convenience init(_ function: Function) {
            // It fails only without memory, and then the process ends anyway.
            self.init(function == .sha256 ? EVP_sha256() : EVP_sha512())!
        }

        /// `nil` if the library refuses the function, as one in FIPS mode refuses MD5.
        fileprivate init?(_ function: OpaquePointer?) {
            context = EVP_MD_CTX_new()
            guard EVP_DigestInit_ex(context, function, nil) == 1 else { return nil }
        }

        deinit {
            EVP_MD_CTX_free(context)
        }

        package func update(_ data: Data) {
            _ = data.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        }

        /// The digest of the bytes so far.
        package var digest: Data {
            // The end of a digest changes its context, so it is that of a copy.
            let copy = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(copy) }
            EVP_MD_CTX_copy_ex(copy, context)
            var digest = Data(count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            _ = digest.withUnsafeMutableBytes {
                EVP_DigestFinal_ex(copy, $0.bindMemory(to: UInt8.self).baseAddress, &count)
            }
            return digest.prefix(Int(count))
        }
    #endif

    static func digest(of text: String, _ function: Function = .sha256) -> Data {
        digest(of: Data(text.utf8), function)
    }

    /// The digest of bytes in memory.
    static func digest(of data: Data, _ function: Function = .sha256) -> Data {
        let hash = SHA2(function)
        hash.update(data)
        return hash.digest
    }
}

/// Message authentication by a key and SHA-256 (RFC 2104), computed by the system's library.
enum MessageAuthentication {
    #if canImport(CryptoKit)
        /// The code of the parts, one after the other.
        static func code(of parts: [Data], key: Data) -> Data {
            var hash = HMAC<SHA256>(key: SymmetricKey(data: key))
            for part in parts { hash.update(data: part) }
            return Data(hash.finalize())
        }
    #else
        /// The code of the parts, one after the other.
        static func code(of parts: [Data], key: Data) -> Data {
            let secret = key.withUnsafeBytes {
                EVP_PKEY_new_raw_private_key(
                    EVP_PKEY_HMAC, nil, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
            }
            let context = EVP_MD_CTX_new()
            defer {
                EVP_MD_CTX_free(context)
                EVP_PKEY_free(secret)
            }
            var (code, count) = (Data(count: 32), 32)
            let isMade =
                EVP_DigestSignInit(context, nil, EVP_sha256(), nil, secret) == 1
                && parts.allSatisfy { part in
                    part.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) } == 1
                }
                && code.withUnsafeMutableBytes {
                    EVP_DigestSignFinal(context, $0.bindMemory(to: UInt8.self).baseAddress, &count)
                } == 1
            // A code that anybody could guess would be worse than none.
            precondition(isMade, "The system's library makes no code with HMAC and SHA-256.")
            return code
        }
    #endif
}

extension Data {
    /// Whether both have the same bytes. It looks at all of them, wherever the first difference is.
    package func isSameInConstantTime(as other: Data) -> Bool {
        count == other.count && zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The digests of the scheme `Digest`, computed by the system's library.
///
/// MD5 is no longer secure, but many servers support only MD5. Nothing else uses it.
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
            let hash = SHA2(function)
            hash?.update(data)
            return hash?.digest
        }
    #endif
}
