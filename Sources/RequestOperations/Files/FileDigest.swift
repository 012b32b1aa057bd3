/// The SHA-2 digest that a file must have.
public struct FileDigest: Sendable, Hashable {
    /// The function that computes a digest.
    public enum Algorithm: String, Sendable, Hashable {
        /// SHA-256, with digests of 32 bytes.
        case sha256 = "sha-256"
        /// SHA-512, with digests of 64 bytes.
        case sha512 = "sha-512"
    }

    /// The function that computes the digest.
    public let algorithm: Algorithm

    /// The digest. Empty if it was given as a text that is not a digest of this algorithm.
    public let bytes: Data

    /// A SHA-256 digest in the form that `sha256sum` prints.
    ///
    /// - Parameter hex: 64 hexadecimal digits of any case. A download with any other text fails before it sends anything,
    ///   with ``RequestError/Code/invalidDigest``.
    public static func sha256(hex: String) -> FileDigest {
        FileDigest(.sha256, Data(hexadecimal: hex) ?? Data())
    }

    /// A SHA-512 digest in the form that `sha512sum` prints.
    ///
    /// - Parameter hex: 128 hexadecimal digits of any case. A download with any other text fails before it sends anything,
    ///   with ``RequestError/Code/invalidDigest``.
    public static func sha512(hex: String) -> FileDigest {
        FileDigest(.sha512, Data(hexadecimal: hex) ?? Data())
    }

    /// Makes a digest from its bytes.
    init(_ algorithm: Algorithm, _ bytes: Data) {
        self.algorithm = algorithm
        self.bytes = bytes.count == algorithm.function.length ? bytes : Data()
    }

    /// Whether this can be the digest of a file.
    var isValid: Bool { !bytes.isEmpty }
}

extension FileDigest {
    /// Whether a file has this digest. It is read for that, so the call blocks on the disk.
    package func matches(fileAt path: String) throws -> Bool {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let digest = SHA2(algorithm.function)
        while let piece = try handle.read(upToCount: 256 << 10), !piece.isEmpty { digest.update(piece) }
        return digest.digest == bytes
    }
}

extension FileDigest: CustomStringConvertible {
    /// The algorithm and the digest in hexadecimal digits.
    public var description: String { "\(algorithm.rawValue):\(bytes.hexadecimal)" }
}

extension FileDigest.Algorithm {
    package var function: SHA2.Function {
        switch self {
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}

extension FileDigest {
    /// The strongest digest in a `Repr-Digest` or `Content-Digest` field (RFC 9530, sections 2 and 3).
    ///
    /// The field is a dictionary of byte sequences (RFC 8941, section 3.2). Members that are not SHA-2, or that cannot be
    /// read, are skipped: a client may ignore digests.
    static func strongest(inField field: String) -> FileDigest? {
        var (rest, digests) = (Substring(field).unicodeScalars, [FileDigest]())
        while !rest.isEmpty {
            if let digest = member(rest.takeListElement()) { digests.append(digest) }
            rest = rest.dropFirst()
        }
        return digests.last { $0.algorithm == .sha512 } ?? digests.last
    }

    /// Reads `sha-256=:` base 64 `:`, which parameters may follow. The padding of the Base64 may be missing.
    private static func member(_ text: String) -> FileDigest? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let algorithm = Algorithm(rawValue: parts[0].trimmingCharacters(in: .whitespaces)),
            parts[1].first == ":"
        else { return nil }
        let value = parts[1].dropFirst()
        guard let end = value.firstIndex(of: ":") else { return nil }
        var base64 = String(value[..<end])
        while base64.last == "=" { base64.removeLast() }
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: base64 + padding) else { return nil }
        let digest = FileDigest(algorithm, bytes)
        return digest.isValid ? digest : nil
    }
}

extension RequestError.Code {
    /// The bytes of a download do not have the digest that the caller or the server named.
    public static let digestMismatch = Self("digestMismatch")

    /// The checksum that the caller gave is not a digest of its algorithm. Nothing was sent.
    public static let invalidDigest = Self("invalidDigest")
}

extension Data {
    /// Reads hexadecimal digits of any case; `nil` for any other text.
    init?(hexadecimal text: String) {
        let digits = text.utf8.map { UInt8(Character(UnicodeScalar($0)).hexDigitValue ?? 0xFF) }
        guard digits.count.isMultiple(of: 2), digits.allSatisfy({ $0 < 16 }) else { return nil }
        self.init(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// The bytes in hexadecimal digits of lower case.
    package var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
