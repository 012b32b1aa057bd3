#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The options that every easy handle of a transport has, from the transport's configuration.
    // Unchecked: the C list is only read once it is made. The jar has its own lock.
    final class HandleSettings: @unchecked Sendable {
        let configuration: CurlTransport.Configuration
        /// Whether requests can go through a proxy.
        let mayUseProxy: Bool
        private let addresses: CurlList?
        /// `User-Agent` and `Accept-Encoding`, for requests that do not set them. (From its options, libcurl would make
        /// these lines again for each request, and write each byte twice.)
        let userAgentLine: String?
        static let codingsLine: String? = {
            let codings = CurlLibrary.decodedCodings
            return codings.isEmpty ? nil : "Accept-Encoding: \(codings)"
        }()
        /// Both lines, for requests without fields of their own.
        let fields: CurlList?
        let cookies: CookieJar?
        /// Memory that the easy handles read without copying it. They keep this object alive.
        private let roots: TrustedRoots
        private let identity: (certificate: PEMMemory, key: PEMMemory)?
        /// Judges chains by the pins for hosts; `nil` without such pins.
        let chainJudge: ChainJudge?
        /// Why no request can be sent at all, if that is known without asking libcurl.
        let objection: RequestError?

        init(_ configuration: CurlTransport.Configuration, cookies: CookieJar?) {
            // This initialises the library before anything of it is used.
            _ = CurlLibrary.version
            self.configuration = configuration
            addresses = CurlList?(configuration.resolve)
            userAgentLine = configuration.userAgent.isEmpty ? nil : "User-Agent: \(configuration.userAgent)"
            fields = CurlList?([userAgentLine, Self.codingsLine].compactMap(\.self))
            let proxies = configuration.proxy.all
            mayUseProxy = !proxies.isEmpty
            self.cookies = cookies
            roots = TrustedRoots(configuration.trust)
            identity = configuration.trust.clientCertificate.map { (PEMMemory($0.certificate), PEMMemory($0.key)) }
            let pins = configuration.trust.pins
            let mayUseSecureProxy = proxies.contains { $0.lowercased().hasPrefix("https:") }
            chainJudge = pins.isEmpty ? nil : ChainJudge(pins, mayUseSecureProxy: mayUseSecureProxy)
            objection = Self.objection(to: configuration, mayUseProxy: mayUseProxy)
        }

        private static func objection(
            to configuration: CurlTransport.Configuration, mayUseProxy: Bool
        ) -> RequestError? {
            let trust = configuration.trust
            if mayUseProxy, !configuration.addresses.allowsAll {
                return RequestError(.unsupported, "an address policy cannot be applied through a proxy")
            }
            if let objection = CurlLibrary.objection(to: CurlLibrary.version) {
                return RequestError(.unsupported, objection)
            }
            if trust.clientCertificate != nil, let name = CurlLibrary.tlsLibraryWithoutIdentities {
                return RequestError(.unsupported, "libcurl over \(name) takes no client certificate from memory")
            }
            if !trust.additionalRoots.allSatisfy(CertificateFile.hasCertificate) {
                return RequestError(.untrustedCertificate, "an additional root is not a certificate in PEM or DER")
            }
            if !trust.pins.isEmpty, !CurlLibrary.reportsChains {
                return RequestError(
                    .unsupported, "pins for hosts need libcurl over OpenSSL; pinnedKeys work over every TLS library")
            }
            if !trust.pins.isEmpty, trust.roots == .insecureTrustingEveryServer {
                return RequestError(.unsupported, "pins for hosts need a verified chain")
            }
            if !RequestPreflight.isFieldValue(configuration.userAgent) {
                return RequestError(.invalidField, "the User-Agent of the transport has a CR, LF or NUL")
            }
            return nil
        }

        deinit {
            curl_slist_free_all(addresses)
            curl_slist_free_all(fields)
        }

        var keepsCookies: Bool { cookies != nil }

        /// Whether connections are used for more than one request.
        var keepsConnections: Bool { configuration.keptConnections > 0 }

        func apply(to handle: EasyHandle) {
            handle.set(CURLOPT_NOSIGNAL, 1)
            handle.set(rocurl_option_protocols, rocurl_protocols_http_https)
            handle.set(CURLOPT_PATH_AS_IS, 1)
            handle.set(CURLOPT_ACCEPT_ENCODING, "")
            // Servers get this value among the fields. The option is for proxies.
            if mayUseProxy, !configuration.userAgent.isEmpty { handle.set(CURLOPT_USERAGENT, configuration.userAgent) }
            handle.set(CURLOPT_TCP_KEEPALIVE, 1)
            handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            if !CurlLibrary.waitsForLookups {
                // A handle that is removed during a look-up must not wait for it.
                handle.set(rocurl_option_quick_exit, 1)
            }
            switch configuration.addressFamily {
            case .any: break
            case .ipv4: handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
            case .ipv6: handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
            }
            if let lifetime = configuration.maximumConnectionLifetime {
                // 0 would be no limit.
                handle.set(CURLOPT_MAXLIFETIME_CONN, Int(max(lifetime.nanoseconds / 1_000_000_000, 1)))
            }
            if let path = configuration.unixSocketPath { handle.set(CURLOPT_UNIX_SOCKET_PATH, path) }
            if addresses != nil { handle.set(CURLOPT_RESOLVE, pointer: addresses) }
            cookies?.apply(to: handle.pointer)
            applyProxy(to: handle)
            applyTrust(to: handle)
        }

        /// Whether a connection may speak HTTP/2.
        func mayUseHTTP2(isSecure: Bool) -> Bool {
            switch configuration.httpVersions {
            case .automatic: isSecure && CurlLibrary.has(CURL_VERSION_HTTP2) && CurlLibrary.sharesConnections
            case .http2: isSecure && CurlLibrary.has(CURL_VERSION_HTTP2)
            case .http11: false
            case .http2PriorKnowledge: isSecure || !usesProxyForAll
            }
        }

        /// Whether every request without TLS goes through an HTTP proxy, where libcurl speaks HTTP/1.1.
        private var usesProxyForAll: Bool {
            guard case .url(let url, let exceptions) = configuration.proxy else { return false }
            return exceptions.isEmpty && ["http", "https"].contains(url.scheme?.lowercased())
        }

        /// The versions of HTTP for a connection, in libcurl's form. They depend on TLS: without it, a server could only
        /// refuse the upgrade to HTTP/2.
        func versions(isSecure: Bool) -> Int {
            if configuration.httpVersions == .http2PriorKnowledge, !beginsHTTP2Twice(isSecure: isSecure) {
                return Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
            }
            return Int(mayUseHTTP2(isSecure: isSecure) ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        }

        private func applyProxy(to handle: EasyHandle) {
            if case .url(let url, let exceptions) = configuration.proxy {
                handle.set(CURLOPT_PROXY, url.absoluteString)
                handle.set(CURLOPT_NOPROXY, exceptions.joined(separator: ","))
            } else if !mayUseProxy {
                // Empty names keep libcurl from searching the environment for each request. A library that refuses them
                // supports no proxies.
                _ = rocurl_set_pointer(handle.pointer, CURLOPT_PROXY, "")
                _ = rocurl_set_pointer(handle.pointer, CURLOPT_NOPROXY, "")
            }
        }

        private func applyTrust(to handle: EasyHandle) {
            // Without TLS there is no server to trust, and https is an unsupported scheme.
            guard CurlLibrary.has(CURL_VERSION_SSL) else { return }
            let trust = configuration.trust
            let minimum = Int(trust.minimumTLSVersion == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2)
            handle.set(CURLOPT_SSLVERSION, minimum)
            if CurlLibrary.keepsRoots {
                // By default, libcurl keeps the roots that it has read from a file for a day. If it keeps none with a
                // TLS library, it refuses this option.
                _ = rocurl_set_long(handle.pointer, rocurl_option_root_lifetime, Self.rootLifetime)
            }
            applyRoots(to: handle, .server)
            if mayUseProxy, CurlLibrary.has(CURL_VERSION_HTTPS_PROXY) {
                // Proxies use the same roots. Pins and the client certificate apply only to servers.
                handle.set(CURLOPT_PROXY_SSLVERSION, minimum)
                applyRoots(to: handle, .proxy)
            }
            if !trust.pinnedKeys.isEmpty {
                handle.set(CURLOPT_PINNEDPUBLICKEY, trust.pinnedKeys.joined(separator: ";"))
            }
            chainJudge?.apply(to: handle)
            if let identity { applyIdentity(identity, to: handle) }
        }

        private func applyIdentity(_ identity: (certificate: PEMMemory, key: PEMMemory), to handle: EasyHandle) {
            let client = configuration.trust.clientCertificate
            handle.set(CURLOPT_SSLCERT_BLOB, identity.certificate.bytes)
            switch client?.format {
            case .pkcs12: handle.set(CURLOPT_SSLCERTTYPE, "P12")
            case .pem, nil:
                handle.set(CURLOPT_SSLCERTTYPE, "PEM")
                handle.set(CURLOPT_SSLKEY_BLOB, identity.key.bytes)
                handle.set(CURLOPT_SSLKEYTYPE, "PEM")
            }
            // Without a passphrase, libcurl before 8.13 reads from a null pointer if the key is encrypted.
            handle.set(CURLOPT_KEYPASSWD, client?.passphrase ?? "")
        }

        /// The options that say which roots are trusted for one kind of peer.
        private struct RootOptions {
            let file, folder, memory, verifiesPeer, verifiesHost: CURLoption

            static let server = RootOptions(
                file: CURLOPT_CAINFO, folder: CURLOPT_CAPATH, memory: CURLOPT_CAINFO_BLOB,
                verifiesPeer: CURLOPT_SSL_VERIFYPEER, verifiesHost: CURLOPT_SSL_VERIFYHOST)
            static let proxy = RootOptions(
                file: CURLOPT_PROXY_CAINFO, folder: CURLOPT_PROXY_CAPATH, memory: CURLOPT_PROXY_CAINFO_BLOB,
                verifiesPeer: CURLOPT_PROXY_SSL_VERIFYPEER, verifiesHost: CURLOPT_PROXY_SSL_VERIFYHOST)
        }

        private func applyRoots(to handle: EasyHandle, _ options: RootOptions) {
            switch roots {
            case .asBuilt:
                break
            case .places(let places):
                // Without a file, a libcurl that restores its own one would add that to the folder.
                handle.set(options.file, places.file)
                setFolder(places.folder, options.folder, handle)
            case .memory(let pem, let folder):
                handle.set(options.file, nil)
                handle.set(options.memory, pem.bytes)
                setFolder(folder, options.folder, handle)
            case .unchecked:
                handle.set(options.verifiesPeer, 0)
                handle.set(options.verifiesHost, 0)
            }
        }

        /// In seconds.
        private static let rootLifetime = 600

        /// Sets or removes the folder of roots. A TLS library that refuses the removal supports no such folders. (If a missing
        /// folder is an error for the library, as it may be for mbedTLS, no server is trusted then.)
        private func setFolder(_ folder: String?, _ option: CURLoption, _ handle: EasyHandle) {
            if let folder { return handle.set(option, folder) }
            let isRestored = CurlLibrary.restoresRoots && CurlLibrary.build.rootFolder != nil
            _ = rocurl_set_pointer(handle.pointer, option, isRestored ? Self.noFolder : nil)
        }

        /// A path that cannot contain anything.
        private static let noFolder = "/dev/null"
    }

    extension CurlTransport.Proxy {
        /// The proxies that requests may go through.
        fileprivate var all: [String] {
            switch self {
            case .none: []
            case .url(let url, _): [url.absoluteString]
            case .environment:
                ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].compactMap { (name: String) in
                    getenv(name).map { String(cString: $0) }
                }
            }
        }
    }
#endif
