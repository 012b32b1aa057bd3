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
        private let roots: (pem: PEMMemory, folder: String?)?
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
            mayUseProxy = configuration.proxy.isSome
            self.cookies = cookies
            roots = RootsInMemory(configuration.trust).map { (PEMMemory($0.pem), $0.folder) }
            identity = configuration.trust.clientCertificate.map { (PEMMemory($0.certificate), PEMMemory($0.key)) }
            let pins = configuration.trust.pins
            chainJudge = pins.isEmpty ? nil : ChainJudge(pins, mayUseSecureProxy: configuration.proxy.maySpeakTLS)
            let hidesAddresses = mayUseProxy && !configuration.addresses.allowsAll
            objection =
                hidesAddresses
                ? RequestError(
                    .unsupported, stage: .transfer, reason: "an address policy cannot be applied through a proxy")
                : Self.objection(to: configuration)
        }

        private static func objection(to configuration: CurlTransport.Configuration) -> RequestError? {
            if let objection = CurlLibrary.objection(to: CurlLibrary.version) {
                return RequestError(.unsupported, stage: .transfer, reason: objection)
            }
            if configuration.trust.clientCertificate != nil, let name = CurlLibrary.tlsLibraryWithoutIdentities {
                return RequestError(
                    .unsupported, stage: .transfer,
                    reason: "libcurl over \(name) takes no client certificate from memory")
            }
            guard configuration.trust.additionalRoots.allSatisfy(CertificateFile.hasCertificate) else {
                return RequestError(
                    .untrustedCertificate, stage: .transfer,
                    reason: "an additional root is not a certificate in PEM or DER")
            }
            if !configuration.trust.pins.isEmpty {
                guard CurlLibrary.reportsChains else {
                    return RequestError(
                        .unsupported, stage: .transfer,
                        reason: "pins for hosts need libcurl over OpenSSL; pinnedKeys work over every TLS library")
                }
                guard configuration.trust.roots != .insecureTrustingEveryServer else {
                    return RequestError(
                        .unsupported, stage: .transfer, reason: "pins for hosts need a verified chain")
                }
            }
            guard RequestPreflight.isFieldValue(configuration.userAgent) else {
                return RequestError(
                    .invalidField, stage: .transfer, reason: "the User-Agent of the transport has a CR, LF or NUL")
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
            handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            if !CurlLibrary.waitsForLookups {
                // A handle that is removed during a look-up must not wait for it.
                handle.set(rocurl_option_quick_exit, 1)
            }
            switch configuration.addressFamily {
            case .any: break
            case .ipv4: handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
            case .ipv6: handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
            }
            if !keepsConnections { handle.set(CURLOPT_FORBID_REUSE, 1) }
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
            switch configuration.httpVersions {
            case .automatic, .http2: mayUseHTTP2(isSecure: isSecure) ? Int(CURL_HTTP_VERSION_2TLS) : Self.http11
            case .http2PriorKnowledge where beginsHTTP2Twice(isSecure: isSecure): Int(CURL_HTTP_VERSION_2TLS)
            case .http2PriorKnowledge: Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
            case .http11: Self.http11
            }
        }

        static let http11 = Int(CURL_HTTP_VERSION_1_1)

        private func applyProxy(to handle: EasyHandle) {
            switch configuration.proxy {
            case .environment:
                // Empty names keep libcurl from searching the environment for each request.
                if !mayUseProxy { useNoProxy(handle) }
            case .none:
                useNoProxy(handle)
            case .url(let url, let exceptions):
                handle.set(CURLOPT_PROXY, url.absoluteString)
                handle.set(CURLOPT_NOPROXY, exceptions.joined(separator: ","))
            }
        }

        /// Empties the proxy options. A library that refuses them supports no proxies.
        private func useNoProxy(_ handle: EasyHandle) {
            _ = rocurl_set_string(handle.pointer, CURLOPT_PROXY, "")
            _ = rocurl_set_string(handle.pointer, CURLOPT_NOPROXY, "")
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
            if let roots {
                handle.set(options.file, nil)
                handle.set(options.memory, roots.pem.bytes)
                if let folder = roots.folder {
                    handle.set(options.folder, folder)
                } else {
                    forgetFolder(options.folder, handle)
                }
                return
            }
            switch (configuration.trust.roots, SystemRoots.present) {
            case (.system, .asBuilt):
                break
            case (.system, .fileAlone):
                forgetFolder(options.folder, handle)
            case (.system, .named(let file, let folder)):
                // Without a file, a libcurl that restores its own one would add that to the folder.
                handle.set(options.file, file)
                if let folder { handle.set(options.folder, folder) } else { forgetFolder(options.folder, handle) }
            case (.file(let file), _):
                handle.set(options.file, file.path)
                forgetFolder(options.folder, handle)
            case (.pem, _):
                // They are in memory, above.
                break
            case (.insecureTrustingEveryServer, _):
                handle.set(options.verifiesPeer, 0)
                handle.set(options.verifiesHost, 0)
            }
        }

        /// In seconds.
        private static let rootLifetime = 600

        /// Removes the folder of roots. A TLS library that refuses this supports no such folders. (If a missing folder
        /// is an error for the library, as it may be for mbedTLS, no server is trusted then.)
        private func forgetFolder(_ option: CURLoption, _ handle: EasyHandle) {
            let isRestored = CurlLibrary.restoresRoots && CurlLibrary.build.rootFolder != nil
            _ = rocurl_set_string(handle.pointer, option, isRestored ? Self.noFolder : nil)
        }

        /// A path that cannot contain anything.
        private static let noFolder = "/dev/null"
    }

    extension CurlTransport.Proxy {
        /// The proxies that the environment names.
        fileprivate static var ofEnvironment: [String] {
            ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].compactMap { (name: String) in
                getenv(name).map { String(cString: $0) }
            }
        }

        /// Whether a connection to a proxy may be one over TLS.
        fileprivate var maySpeakTLS: Bool {
            switch self {
            case .none: false
            case .url(let url, _): url.scheme?.lowercased() == "https"
            case .environment: Self.ofEnvironment.contains { $0.lowercased().hasPrefix("https:") }
            }
        }

        /// Whether requests can go through a proxy.
        fileprivate var isSome: Bool {
            switch self {
            case .environment: !Self.ofEnvironment.isEmpty
            case .none: false
            case .url: true
            }
        }
    }

    /// Bytes at an address of their own.
    // Unchecked: they are only read once they are made.
    private final class PEMMemory: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer

        init(_ data: Data) {
            // libcurl treats NULL as no data set, and from 8.19 on refuses data without bytes. The end of a line is no
            // certificate either.
            let data = data.isEmpty ? Data("\n".utf8) : data
            bytes = .allocate(byteCount: data.count, alignment: 1)
            data.copyBytes(to: bytes)
        }

        deinit {
            bytes.deallocate()
        }
    }
#endif
