/// Which servers are trusted, and how this program identifies itself to them.
///
/// You can set a policy for one task (``TransportTask/trust``), for all requests of a configuration
/// (``RequestConfiguration/trust``), or for a whole transport (`CurlTransport.Configuration.trust`). The first of these
/// that is set counts. It applies to every hop of a request. So a server that a redirect leads to also sees the client
/// certificate if it asks for one.
///
/// ```swift
/// var trust = TrustPolicy.system
/// trust.pinnedKeys = ["sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="]
/// ```
public struct TrustPolicy: Sendable, Hashable {
    /// The certificates that are accepted as roots of a server's chain. ``Roots/system`` by default.
    public var roots: Roots

    /// Certificates that are accepted as roots beside ``roots``. Empty by default.
    ///
    /// Each element is one certificate in DER, or any number in PEM. A transport then reads files of roots once, when it first
    /// uses the policy. Data without a certificate fails requests as ``RequestError/Code/untrustedCertificate``.
    public var additionalRoots: [Data]

    /// The allowed public keys: the key of the server must be one of them. Empty by default, which allows every key.
    ///
    /// Each key is `sha256//` and the Base64 of the SHA-256 of the key's `SubjectPublicKeyInfo` in DER. The certificate
    /// is checked as well. Another key fails as ``RequestError/Code/pinningFailed``. A text in another form is a
    /// programmer's error. Call ``isPin(_:)`` to check a text that comes from outside.
    public var pinnedKeys: [String] {
        didSet { Self.check(pinnedKeys) }
    }

    /// Pins for some hosts, which the verified chain of a server must contain. Empty by default. See ``HostPins``.
    ///
    /// Only libcurl over OpenSSL reports the chain. Over another TLS library, a request under such a policy fails as
    /// ``RequestError/Code/unsupported`` before anything is sent. ``pinnedKeys`` work over all of them.
    public var pins: [HostPins] = []

    /// The certificate and key to show to a server that asks for one. `nil` by default: no certificate.
    public var clientCertificate: ClientCertificate?

    /// The lowest accepted version of TLS. ``TLSVersion/tls12`` by default.
    public var minimumTLSVersion: TLSVersion

    /// Makes a policy. Each parameter has the default of its property.
    public init(
        roots: Roots = .system, additionalRoots: [Data] = [], pinnedKeys: [String] = [],
        clientCertificate: ClientCertificate? = nil,
        minimumTLSVersion: TLSVersion = .tls12
    ) {
        Self.check(pinnedKeys)
        self.roots = roots
        self.additionalRoots = additionalRoots
        self.pinnedKeys = pinnedKeys
        self.clientCertificate = clientCertificate
        self.minimumTLSVersion = minimumTLSVersion
    }

    /// Whether a text has the form of ``pinnedKeys``: `sha256//` and the Base64 of 32 bytes.
    public static func isPin(_ text: String) -> Bool {
        let mark = "sha256//"
        // libcurl reads other texts as file names.
        return text.hasPrefix(mark) && Data(base64Encoded: String(text.dropFirst(mark.count)))?.count == 32
    }

    private static func check(_ pins: [String]) {
        precondition(pins.allSatisfy(isPin), "A pinned key is not sha256// and the Base64 of 32 bytes.")
    }

    /// The system's roots, no pinning, no client certificate, TLS 1.2 or later.
    public static let system = TrustPolicy()

    /// The certificates that are accepted as roots of a chain.
    public enum Roots: Sendable, Hashable {
        /// The roots of the system. They may be used for ten minutes after they are read. Whether they are a file or a
        /// folder is determined only once.
        ///
        /// As with curl, environment variables can replace them. `CURL_CA_BUNDLE` names a file of PEM certificates.
        /// Otherwise `SSL_CERT_FILE` names such a file, `SSL_CERT_DIR` names a folder with names that OpenSSL finds, or
        /// both are set. Only the named certificates are trusted then. ``CurlTransport`` reads these variables once,
        /// with its first request.
        case system
        /// The certificates in a file, and no others. The file is one certificate in DER, or any number in PEM. They may be
        /// used for ten minutes after they are read. A certificate in DER may be used as long as the transport exists.
        case file(URL)
        /// These certificates, and no others: any number in PEM, or one in DER.
        case pem(Data)
        /// No root is needed, and certificates and host names are **not checked**. Anybody between this program and the
        /// server can read and change everything. Use this case for tests on your own machine. Pinned keys are still
        /// checked.
        case insecureTrustingEveryServer
    }

    /// A certificate with its private key.
    public struct ClientCertificate: Sendable, Hashable {
        /// How the certificate and its key are encoded.
        enum Format: Sendable, Hashable {
            /// Two PEM texts (RFC 7468): the certificate and its key.
            case pem
            /// One PKCS#12 file (RFC 7292) with both: `.p12` or `.pfx`.
            case pkcs12
        }

        /// The certificate, and the chain up to the root if the server needs it. A PKCS#12 file also has the key.
        public var certificate: Data
        /// The private key, in PEM. Empty if the certificate is a PKCS#12 file.
        public var key: Data
        /// The passphrase of the key or of the PKCS#12 file. `nil` by default: no passphrase.
        public var passphrase: String?
        /// How the certificate and its key are encoded.
        let format: Format

        /// Makes an identity from PEM texts.
        public init(certificate: Data, key: Data, passphrase: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.passphrase = passphrase
            format = .pem
        }

        /// Makes an identity from a PKCS#12 file.
        ///
        /// OpenSSL 3 opens files that are encrypted with AES. Older files use RC2, which needs OpenSSL's legacy provider.
        /// `openssl pkcs12 -legacy` reads such a file, so that you can convert it.
        public init(pkcs12: Data, passphrase: String? = nil) {
            certificate = pkcs12
            key = Data()
            self.passphrase = passphrase
            format = .pkcs12
        }
    }

    /// A version of TLS.
    public enum TLSVersion: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }
}

extension TrustPolicy: CustomStringConvertible {
    /// The roots, the number of pinned keys, whether there is a client certificate, and the lowest version of TLS.
    public var description: String {
        let parts = [
            "roots: \(roots)", additionalRoots.isEmpty ? nil : "\(additionalRoots.count) additional roots",
            pinnedKeys.isEmpty ? nil : "\(pinnedKeys.count) pinned keys",
            pins.isEmpty ? nil : "pins for " + pins.map(\.host).joined(separator: " "),
            clientCertificate.map(\.description), "TLS 1.\(minimumTLSVersion == .tls12 ? 2 : 3) or later",
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension TrustPolicy.Roots: CustomStringConvertible {
    /// `system`, the path of the file, the size of the certificates in memory, or `insecureTrustingEveryServer`.
    public var description: String {
        switch self {
        case .system: "system"
        case .file(let file): "file \(file.path)"
        case .pem(let data): "PEM, \(data.count) bytes"
        case .insecureTrustingEveryServer: "insecureTrustingEveryServer"
        }
    }
}

extension TrustPolicy.ClientCertificate: CustomStringConvertible, OpaqueReflectable {
    /// The words `client certificate`, and whether there is a passphrase, but neither the key nor the passphrase
    /// itself.
    public var description: String { "client certificate" + (passphrase == nil ? "" : " with a passphrase") }
}
