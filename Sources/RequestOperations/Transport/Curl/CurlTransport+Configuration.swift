#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    extension CurlTransport {
        /// How a ``CurlTransport`` connects. Each transport has its own connections, and all of them use one proxy. If
        /// you need different ones, use several transports side by side.
        public struct Configuration: Sendable {
            /// Which servers are trusted by tasks that bring no ``TransportTask/trust`` of their own.
            /// ``TrustPolicy/system`` by default. An HTTPS proxy must be trusted by the same roots.
            public var trust = TrustPolicy.system

            /// The versions of HTTP that the transport speaks. ``HTTPVersions/automatic`` by default.
            public var httpVersions = HTTPVersions.automatic

            /// The proxy through which requests go. ``Proxy/environment`` by default.
            public var proxy = Proxy.environment

            /// How cookies are handled. ``Cookies/none`` by default. Tasks that bring their own ``TransportTask/trust``
            /// use a separate jar in memory for each policy. The transport forgets that jar together with the policy's
            /// connections.
            public var cookies = Cookies.none

            /// The address families that the transport connects to. ``AddressFamily/any`` by default.
            public var addressFamily = AddressFamily.any

            /// The addresses that the transport may connect to. ``AddressPolicy/any`` by default.
            ///
            /// Each address of a host is judged after its look-up, for each connection and each redirect. A request to a host
            /// none of whose addresses is allowed fails as ``RequestError/Code/addressNotAllowed``. A proxy would hide the
            /// addresses, so with a proxy and another policy than ``AddressPolicy/any``, requests fail as
            /// ``RequestError/Code/unsupported``.
            public var addresses = AddressPolicy.any

            /// The path of a Unix-domain socket to which all requests go, regardless of the host in their URL. `nil`,
            /// none, by default.
            public var unixSocketPath: String?

            /// Addresses that replace look-ups, each as `host:port:address`, for tests and special routes. Empty by
            /// default.
            public var resolve: [String] = []

            /// The maximum number of connections to one host, for each trust policy. 64 by default; `nil` means no
            /// limit.
            ///
            /// Requests beyond it wait for a connection. That time does not count toward the limits of an attempt
            /// (``TransferLimits/connect``, ``TransferLimits/idle``, ``RequestConfiguration/attemptTimeLimit``). It
            /// counts only toward the ``RequestConfiguration/deadline``.
            public var maximumConnectionsPerHost: Int? = 64

            /// The maximum number of connections in total, for each trust policy. `nil` by default: as many as the
            /// limit of open files allows (`RLIMIT_NOFILE`, the soft limit).
            ///
            /// Independent of this value, all transports of the process together leave some descriptors free for files,
            /// look-ups and the Swift runtime. They leave an eighth of the limit, at least 24 and at most 256, but
            /// never more than half of it. Requests beyond it wait as they do for ``maximumConnectionsPerHost``.
            public var maximumConnections: Int?

            /// How many connections are kept for later requests, for each trust policy. 512 by default; 0 keeps none.
            public var keptConnections = 512

            /// For how long a connection is used for new requests, to the second. `nil` by default: without limit.
            ///
            /// A connection that is older and serves no request is closed instead of being used again. A busy connection of
            /// HTTP/2 still takes requests, because libcurl offers no way to prevent that. It is closed when a request finds
            /// it idle.
            public var maximumConnectionLifetime: Duration?

            /// The value of `User-Agent` for requests that have none. An empty value sends no field.
            /// `RequestOperations/1` by default.
            public var userAgent = "RequestOperations/1"

            /// Makes a configuration with the defaults given at each property.
            public init() {}
        }

        /// The versions of HTTP that a transport speaks.
        public enum HTTPVersions: Sendable, Hashable {
            /// HTTP/2 where the server offers it in the TLS handshake (ALPN), otherwise HTTP/1.1; HTTP/1.1 without TLS.
            ///
            /// Over libcurl before 8.4 this is HTTP/1.1, since those versions have faults with requests that share a
            /// connection. The article <doc:Transports> lists them.
            case automatic
            /// HTTP/1.1.
            case http11
            /// As ``automatic``, also over libcurl before 8.4. There, a connection carries one request at a time.
            case http2
            /// HTTP/2 without TLS as well, by prior knowledge (RFC 9113, section 3.3), over every version of libcurl. Before
            /// 8.4, a connection carries one request at a time.
            case http2PriorKnowledge
        }

        /// The proxy that requests go through.
        public enum Proxy: Sendable, Hashable {
            /// The proxy that the environment names.
            ///
            /// The variables are `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` (also `HTTPS_PROXY`,
            /// `ALL_PROXY` and `NO_PROXY`). `HTTP_PROXY` does not count, since the client of a CGI program can set it.
            /// The transport checks whether there is any when it is made. For a task's own trust policy, it checks with
            /// the first request under that policy, and again after the policy's connections were discarded. In
            /// `no_proxy`, an entry with a port matches no host. A range of IPv6 addresses matches none with libcurl
            /// 7.88.
            case environment
            /// No proxy, regardless of the environment.
            case none
            /// This proxy. Its scheme is `http`, `https`, `socks4`, `socks4a`, `socks5` (names are looked up here) or
            /// `socks5h` (the proxy looks them up). Credentials go in the URL. Hosts in `except` (whole names or their
            /// last parts) are reached without the proxy.
            case url(URL, except: [String] = [])
        }

        /// How cookies that responses set are handled.
        public enum Cookies: Sendable, Hashable {
            /// They are ignored; a `Cookie` field that a request has is sent as it is.
            case none
            /// They are kept for the life of the transport and sent with later requests.
            case inMemory
            /// Like `inMemory`, but starts with the cookies in a file, in the Netscape format that curl uses.
            /// ``CurlTransport/shutdown(draining:)`` writes them back. Failures to read or write the file are not reported.
            case file(URL)
        }

        /// The address families that a transport connects to.
        public enum AddressFamily: Sendable, Hashable {
            /// IPv6 and IPv4, whichever answers first (RFC 8305).
            case any
            /// IPv4 only.
            case ipv4
            /// IPv6 only.
            case ipv6
        }
    }

    extension CurlTransport.Proxy: CustomStringConvertible, OpaqueReflectable {
        /// `environment`, `none`, or scheme, host and port of the proxy, without user and password.
        public var description: String {
            switch self {
            case .environment: return "environment"
            case .none: return "none"
            case .url(let url, let exceptions):
                let text = Redaction.location(of: url)
                return exceptions.isEmpty ? text : "\(text) but for \(exceptions.joined(separator: ", "))"
            }
        }
    }

    extension CurlTransport: CustomReflectable {
        /// The configuration.
        public var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
    }
#endif
