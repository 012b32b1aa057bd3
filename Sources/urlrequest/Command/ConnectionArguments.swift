#if CommandLineTool
    import ArgumentParser
    import RequestOperations

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
