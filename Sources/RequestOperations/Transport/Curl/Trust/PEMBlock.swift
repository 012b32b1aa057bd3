#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// A block of a PEM text (RFC 7468), the first of its kind.
    struct PEMBlock {
        /// Whether reading it needs a passphrase.
        let isEncrypted: Bool
        /// The decoded content between the first and the last line; `nil` if it is not base64 or is incomplete.
        private let content: Data?

        init?(in text: Data, labelEnding ending: String) {
            let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            let suffix = "\(ending)-----"
            guard let start = lines.firstIndex(where: { $0.hasPrefix("-----BEGIN ") && $0.hasSuffix(suffix) }) else {
                return nil
            }
            let body = lines[(start + 1)...].prefix { !$0.hasPrefix("-----") }
            // The older form starts with fields of RFC 1421.
            let fields = body.prefix { $0.contains(":") }
            let isOlderForm = fields.contains { $0.hasPrefix("Proc-Type:") && $0.hasSuffix("ENCRYPTED") }
            isEncrypted = isOlderForm || lines[start].contains(" ENCRYPTED ")
            let content = Data(base64Encoded: body.dropFirst(fields.count).joined())
            // The content that the older form encrypts cannot be checked.
            self.content = isOlderForm || content.map(Self.isWhole) == true ? content : nil
        }

        var isDamaged: Bool { content?.isEmpty ?? true }

        /// Whether the bytes are exactly one ASN.1 sequence (X.690), by its length.
        private static func isWhole(_ data: Data) -> Bool {
            let bytes = [UInt8](data)
            guard bytes.count > 2, bytes[0] == 0x30 else { return false }
            guard bytes[1] >= 0x80 else { return bytes.count == 2 + Int(bytes[1]) }
            let count = Int(bytes[1] & 0x7F)
            guard (1...4).contains(count), bytes.count > 2 + count else { return false }
            let length = bytes[2..<(2 + count)].reduce(0) { $0 << 8 | Int($1) }
            return bytes.count == 2 + count + length
        }
    }
#endif
