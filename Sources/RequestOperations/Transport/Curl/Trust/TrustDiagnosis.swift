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
            return message.contains("pkcs12") ? "the client certificate is no PKCS#12 file" : nil
        }

        private func diagnosisOfPEM(for message: String) -> String? {
            guard PEMBlock(in: certificate, labelEnding: "CERTIFICATE") != nil else {
                return "the client certificate has no certificate in PEM"
            }
            guard let block = PEMBlock(in: key, labelEnding: "PRIVATE KEY") else {
                return "the private key of the client certificate is no private key in PEM"
            }
            if block.isDamaged { return "the private key of the client certificate is damaged, or of an unknown form" }
            if message.contains("client certificate") { return "the client certificate cannot be read" }
            guard message.lowercased().contains("private key") else { return nil }
            // OpenSSL refuses a key that it cannot read in the same way as a key of another certificate.
            guard block.isEncrypted else {
                return "the private key does not belong to the client certificate, or cannot be read"
            }
            guard let passphrase, !passphrase.isEmpty else {
                return "the private key of the client certificate is encrypted, and there is no passphrase"
            }
            return "the passphrase does not open the private key, or the key is that of another certificate"
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
#endif
