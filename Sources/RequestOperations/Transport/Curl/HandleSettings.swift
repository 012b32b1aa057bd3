#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The options that every easy handle of a transport has, from its configuration.
    // Unchecked: the C list is only read once it is made; the jar has a lock of its own.
    final class HandleSettings: @unchecked Sendable {
        private let configuration: CurlTransport.Configuration
        private let usesEnvironmentProxy: Bool
        private let addresses: UnsafeMutablePointer<curl_slist>?
        let cookies: CookieJar?

        init(_ configuration: CurlTransport.Configuration) {
            // The library is initialised before anything of it is used.
            _ = CurlLibrary.version
            self.configuration = configuration
            var addresses: UnsafeMutablePointer<curl_slist>?
            for entry in configuration.resolve { addresses = curl_slist_append(addresses, entry) }
            self.addresses = addresses
            usesEnvironmentProxy = configuration.proxy == .environment && Self.environmentNamesProxy
            cookies = CookieJar(configuration.cookies)
        }

        deinit {
            curl_slist_free_all(addresses)
        }

        private static var environmentNamesProxy: Bool {
            ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains { (name: String) in
                getenv(name) != nil
            }
        }

        /// Whether requests can go through a proxy.
        var mayUseProxy: Bool {
            switch configuration.proxy {
            case .environment: usesEnvironmentProxy
            case .none: false
            case .url: true
            }
        }

        func apply(to handle: EasyHandle) {
            handle.set(CURLOPT_NOSIGNAL, 1)
            handle.set(rocurl_option_protocols, rocurl_protocols_http_https)
            handle.set(CURLOPT_PATH_AS_IS, 1)
            handle.set(CURLOPT_ACCEPT_ENCODING, "")
            handle.set(CURLOPT_USERAGENT, configuration.userAgent.isEmpty ? nil : configuration.userAgent)
            handle.set(CURLOPT_TCP_KEEPALIVE, 1)
            handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            if CurlLibrary.version >= CurlLibrary.Version(7, 87) {
                // A handle that is removed during a look-up must not wait for it.
                handle.set(rocurl_option_quick_exit, 1)
            }
            switch configuration.addressFamily {
            case .any: break
            case .ipv4: handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
            case .ipv6: handle.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
            }
            if let path = configuration.unixSocketPath { handle.set(CURLOPT_UNIX_SOCKET_PATH, path) }
            if addresses != nil { _ = rocurl_set_pointer(handle.pointer, CURLOPT_RESOLVE, addresses) }
            cookies?.apply(to: handle.pointer)
            applyProxy(to: handle)
            applyTrust(to: handle)
        }

        /// The versions of HTTP depend on whether there is TLS: without it, a server could only refuse the upgrade to
        /// HTTP/2, and requests would wait for one another to find that out.
        func applyVersions(to handle: EasyHandle, isSecure: Bool) {
            switch configuration.httpVersions {
            case .automatic where isSecure:
                handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
                handle.set(CURLOPT_PIPEWAIT, 1)
            case .http2PriorKnowledge:
                handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
                handle.set(CURLOPT_PIPEWAIT, 1)
            case .automatic, .http11:
                handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
                handle.set(CURLOPT_PIPEWAIT, 0)
            }
        }

        private func applyProxy(to handle: EasyHandle) {
            switch configuration.proxy {
            case .environment:
                // An empty name keeps libcurl from searching the environment for each request.
                if !usesEnvironmentProxy { handle.set(CURLOPT_PROXY, "") }
            case .none:
                handle.set(CURLOPT_PROXY, "")
            case .url(let url, let exceptions):
                handle.set(CURLOPT_PROXY, url.absoluteString)
                handle.set(CURLOPT_NOPROXY, exceptions.joined(separator: ","))
            }
        }

        private func applyTrust(to handle: EasyHandle) {
            let trust = configuration.trust
            let minimum = trust.minimumTLSVersion == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
            handle.set(CURLOPT_SSLVERSION, Int(minimum))
            switch trust.roots {
            case .system:
                break
            case .file(let file):
                handle.set(CURLOPT_CAINFO, file.path)
                handle.set(CURLOPT_CAPATH, nil)
            case .pem(let certificates):
                set(CURLOPT_CAINFO_BLOB, certificates, handle)
                handle.set(CURLOPT_CAPATH, nil)
            case .insecureTrustingEveryServer:
                handle.set(CURLOPT_SSL_VERIFYPEER, 0)
                handle.set(CURLOPT_SSL_VERIFYHOST, 0)
            }
            if !trust.pinnedKeys.isEmpty {
                handle.set(CURLOPT_PINNEDPUBLICKEY, trust.pinnedKeys.joined(separator: ";"))
            }
            if let identity = trust.clientCertificate {
                set(CURLOPT_SSLCERT_BLOB, identity.certificate, handle)
                handle.set(CURLOPT_SSLCERTTYPE, "PEM")
                set(CURLOPT_SSLKEY_BLOB, identity.key, handle)
                handle.set(CURLOPT_SSLKEYTYPE, "PEM")
                handle.set(CURLOPT_KEYPASSWD, identity.passphrase)
            }
        }

        private func set(_ option: CURLoption, _ blob: Data, _ handle: EasyHandle) {
            _ = blob.withUnsafeBytes { rocurl_set_blob(handle.pointer, option, $0.baseAddress, $0.count) }
        }
    }

    /// The cookies of a transport, shared by its easy handles.
    // Unchecked: libcurl locks the jar.
    final class CookieJar: @unchecked Sendable {
        private let share: UnsafeMutableRawPointer
        private let file: String?

        /// `nil` if cookies are ignored.
        init?(_ cookies: CurlTransport.Cookies) {
            switch cookies {
            case .none: return nil
            case .inMemory: file = nil
            case .file(let url): file = url.path
            }
            guard let share = rocurl_cookies_create() else {
                // As everywhere in Swift, memory that is not there ends the process.
                preconditionFailure("There is no memory for cookies.")
            }
            self.share = share
            if let file {
                withHandle { easy in
                    _ = rocurl_set_string(easy, CURLOPT_COOKIEFILE, file)
                    _ = rocurl_set_string(easy, CURLOPT_COOKIELIST, "RELOAD")
                }
            }
        }

        deinit {
            rocurl_cookies_destroy(share)
        }

        func apply(to easy: UnsafeMutableRawPointer) {
            rocurl_set_cookies(easy, share)
            // No file, but without it the jar is not used.
            _ = rocurl_set_string(easy, CURLOPT_COOKIEFILE, "")
        }

        /// Writes the cookies to the file of the configuration, if it names one.
        func save() {
            guard let file else { return }
            withHandle { easy in
                _ = rocurl_set_string(easy, CURLOPT_COOKIEJAR, file)
                _ = rocurl_set_string(easy, CURLOPT_COOKIELIST, "FLUSH")
            }
        }

        private func withHandle(_ body: (UnsafeMutableRawPointer) -> Void) {
            guard let easy = curl_easy_init() else { return }
            rocurl_set_cookies(easy, share)
            body(easy)
            curl_easy_cleanup(easy)
        }
    }
#endif
