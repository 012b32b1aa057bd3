#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Glibc

    // What is wrong with our own side of the trust, where libcurl says only that it could not use it. Called after a
    // failure.

    extension TrustPolicy.ClientCertificate {
        /// Why the certificate or its key cannot be used; `nil` if only libcurl's message is known.
        func diagnosis(for message: String) -> String? {
            switch format {
            case .pem: diagnosisOfPEM(for: message)
            case .pkcs12: diagnosisOfPKCS12(for: message)
            }
        }

        private func diagnosisOfPKCS12(for message: String) -> String? {
            let message = message.lowercased()
            if message.contains("parse") {
                return "the passphrase does not open the PKCS#12 file, or OpenSSL cannot decrypt it: \(message)"
            }
            return message.contains("pkcs12") ? "the client certificate is not a PKCS#12 file" : nil
        }

        private func diagnosisOfPEM(for message: String) -> String? {
            guard PEMBlock(in: certificate, labelEnding: "CERTIFICATE") != nil else {
                return "the client certificate has no certificate in PEM"
            }
            guard let block = PEMBlock(in: key, labelEnding: "PRIVATE KEY") else {
                return "the private key of the client certificate is not in PEM"
            }
            if block.isDamaged { return "the private key of the client certificate is damaged, or has an unknown form" }
            if message.contains("client certificate") { return "the client certificate cannot be read" }
            guard message.lowercased().contains("private key") else { return nil }
            // OpenSSL refuses a key that it cannot read in the same way as a key of another certificate.
            guard block.isEncrypted else {
                return "the private key does not belong to the client certificate, or cannot be read"
            }
            guard let passphrase, !passphrase.isEmpty else {
                return "the private key of the client certificate is encrypted, and there is no passphrase"
            }
            return "the passphrase does not open the private key, or the key belongs to another certificate"
        }
    }

    extension TrustPolicy.Roots {
        /// Why the roots cannot be read; `nil` if only libcurl's message is known.
        var diagnosis: String? {
            switch self {
            case .file(let file):
                guard access(file.path, R_OK) == 0 else {
                    let reason = String(cString: strerror(errno))
                    return "the file of the trusted roots cannot be read: \(file.path): \(reason)"
                }
                return "the file of the trusted roots has no certificate that can be read: \(file.path)"
            case .pem:
                return "the trusted roots have no certificate in PEM that can be read"
            case .system, .insecureTrustingEveryServer:
                return nil
            }
        }
    }

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
            var file = DERReader(data)
            return file.enter(.sequence) != nil && file.isAtEnd
        }
    }
#endif
