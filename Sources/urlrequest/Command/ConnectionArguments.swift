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

#if CommandLineTool
    import ArgumentParser

    /// The arguments that say which servers are trusted and how connections are made.
    struct ConnectionArguments: ParsableArguments {
        @Option(
            help: ArgumentHelp("Trusts the roots in a file, in PEM or one in DER, and no others.", valueName: "file"))
        var cacert: String?

        @Option(
            help: ArgumentHelp(
                "Shows the certificate in a file to servers that ask for one, in PEM or PKCS#12.", valueName: "file"))
        var cert: String?

        @Option(
            help: ArgumentHelp(
                "The PEM key of that certificate. (default: in the file of --cert)", valueName: "file"))
        var certKey: String?

        @Option(help: ArgumentHelp("The passphrase of that key is the first line of a file.", valueName: "file"))
        var passphraseFile: String?

        @Option(
            name: .customLong("pin"), parsing: .singleValue,
            help: ArgumentHelp(
                "A public key that must be in the server's chain; with several, one of them.",
                valueName: "sha256/base64"),
            transform: OptionValue.pin)
        var pins: [ServerPin] = []

        @Flag(help: "Checks no certificates: anybody on the way can read and change everything.")
        var insecure = false

        @Flag(
            help:
                "Speaks HTTP/2 without TLS as well. (With TLS it is spoken from libcurl 8.4 on where the server offers it.)"
        )
        var http2 = false

        func validate() throws {
            guard !insecure || cacert == nil else {
                throw ValidationError("--insecure checks no certificates, so --cacert has no use.")
            }
            guard cert != nil || certKey == nil && passphraseFile == nil else {
                throw ValidationError("--cert-key and --passphrase-file belong to --cert, which is missing.")
            }
        }

        /// The options, with the content of the files.
        ///
        /// - Throws: ``UnusableInput`` if a file cannot be used or the transport does not support an option.
        func options(over transport: TransportChoice) throws -> ConnectionOptions {
            var options = ConnectionOptions()
            if insecure { options.trust.roots = .insecureTrustingEveryServer }
            if let cacert { options.trust.roots = try TrustFile.roots(cacert) }
            options.trust.clientCertificate = try cert.map {
                try TrustFile.identity($0, key: certKey, passphrase: passphraseFile)
            }
            if insecure {
                // No chain is verified, so only the server's own key counts.
                options.trust.pinnedKeys = pins.map { "sha256//\($0.digest.base64EncodedString())" }
            } else if !pins.isEmpty {
                options.trust.pins = [.host("**", keys: pins)]
            }
            options.wantsHTTP2 = http2
            guard options == ConnectionOptions() || transport != .urlsession else {
                throw UnusableInput(
                    "--cacert, --cert, --cert-key, --pin, --insecure and --http2 need another transport than urlsession"
                )
            }
            return options
        }
    }
#endif
