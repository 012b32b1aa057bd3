/// The parts of a certificate that pins are made of (RFC 5280, section 4.1).
///
/// Files come from the program, and may be in PEM. Only ``key(of:)`` also reads what a server sent, which is in DER.
enum CertificateFile {
    /// The certificates of a file in DER. The file is one certificate in DER, or any number in PEM (RFC 7468).
    ///
    /// A certificate in DER is not searched for PEM. A file with neither is returned unchanged, and has no key.
    static func certificates(in file: Data) -> [Data] {
        guard !file.isEmpty else { return [] }
        guard key(of: file) == nil else { return [file] }
        let begin = "-----BEGIN CERTIFICATE-----"
        let text = String(decoding: file, as: UTF8.self)
        guard text.contains(begin) else { return [file] }
        return text.components(separatedBy: begin).dropFirst().compactMap { part in
            let base64 = part.components(separatedBy: "-----END CERTIFICATE-----")[0]
            return Data(base64Encoded: base64, options: .ignoreUnknownCharacters)
        }
    }

    static func hasCertificate(_ file: Data) -> Bool { certificates(in: file).contains { key(of: $0) != nil } }

    /// The file as PEM. A file in PEM, or without a certificate, stays unchanged.
    static func pem(of file: Data) -> Data {
        guard key(of: file) != nil else { return file }
        let text = file.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Data("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n".utf8)
    }

    /// The `SubjectPublicKeyInfo` of a certificate in DER; `nil` if the bytes are not a certificate.
    static func key(of certificate: Data) -> Data? {
        var file = DERReader(certificate)
        guard var outer = file.enter(.sequence), file.isAtEnd, var signed = outer.enter(.sequence) else { return nil }
        // The version is there from version 2 on.
        if signed.nextTag == DERReader.Tag.version.rawValue { signed.skip() }
        // Serial number, signature algorithm, issuer, validity, subject.
        for _ in 0..<5 { signed.skip() }
        guard signed.nextTag == DERReader.Tag.sequence.rawValue else { return nil }
        return signed.take()
    }
}

/// Reads the elements of a DER encoding one after the other (ITU-T X.690). An encoding that is cut short has no more elements.
struct DERReader {
    enum Tag: UInt8 {
        case sequence = 0x30
        case version = 0xA0
    }

    private var rest: Data

    init(_ data: Data) {
        rest = data
    }

    var isAtEnd: Bool { rest.isEmpty }
    var nextTag: UInt8? { rest.first }

    /// The content of the next element, if it has this tag. The element is passed.
    mutating func enter(_ tag: Tag) -> DERReader? {
        guard nextTag == tag.rawValue, let (header, length) = size else { return nil }
        defer { rest = rest.dropFirst(header + length) }
        return DERReader(rest.dropFirst(header).prefix(length))
    }

    mutating func skip() { _ = take() }

    /// The next element with its header. The element is passed.
    mutating func take() -> Data? {
        guard let (header, length) = size else {
            rest = Data()
            return nil
        }
        defer { rest = rest.dropFirst(header + length) }
        return Data(rest.prefix(header + length))
    }

    /// The lengths of the header and of the content of the next element.
    private var size: (header: Int, content: Int)? {
        let bytes = rest.prefix(6).map { Int($0) }
        guard bytes.count >= 2 else { return nil }
        var (header, length) = (2, bytes[1])
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...4).contains(count), bytes.count >= 2 + count else { return nil }
            header += count
            length = bytes[2..<(2 + count)].reduce(0) { $0 << 8 | $1 }
        }
        return header + length <= rest.count ? (header, length) : nil
    }
}
