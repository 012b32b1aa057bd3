#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    extension CurlTransport {
        /// How a ``CurlTransport`` connects. Each transport has connections of its own, which belong to one proxy: use several
        /// transports side by side where that differs.
        public struct Configuration: Sendable {
            /// Which servers are trusted, by tasks that bring no ``TransportTask/trust`` of their own.
            /// ``TrustPolicy/system`` by default. An HTTPS proxy must be trusted by the same roots.
            public var trust = TrustPolicy.system

            /// The versions of HTTP that are spoken. ``HTTPVersions/automatic`` by default.
            public var httpVersions = HTTPVersions.automatic

            /// The proxy through which requests go. ``Proxy/environment`` by default.
            public var proxy = Proxy.environment

            /// What becomes of cookies. ``Cookies/none`` by default. Tasks with a ``TransportTask/trust`` of their own have a jar
            /// apart, in memory, for each policy, which is forgotten with its connections.
            public var cookies = Cookies.none

            /// The families of addresses that are connected to. ``AddressFamily/any`` by default.
            public var addressFamily = AddressFamily.any

            /// The path of a Unix-domain socket to which all requests go, whatever the host of their URL; `nil`, none, by
            /// default.
            public var unixSocketPath: String?

            /// Addresses in place of look-ups, each as `host:port:address`, for tests and special routes. Empty by default.
            public var resolve: [String] = []

            /// How many connections to one host there may be, for each trust policy. 64 by default; `nil` is no bound.
            ///
            /// Requests beyond it wait for a connection. That time counts for none of the limits of an attempt
            /// (``TransferLimits/connect``, ``TransferLimits/idle``, ``RequestConfiguration/attemptTimeLimit``), only for
            /// the ``RequestConfiguration/deadline``.
            public var maximumConnectionsPerHost: Int? = 64

            /// How many connections there may be in all, for each trust policy. `nil` by default: as many as the limit of
            /// open files allows (`RLIMIT_NOFILE`, the soft limit).
            ///
            /// Whatever is set here, all transports of the process together leave some descriptors free for files, look-ups
            /// and the Swift runtime. They leave an eighth of the limit, at least 24 and at most 256, but never more than
            /// half of it. Requests beyond wait as they do for ``maximumConnectionsPerHost``.
            public var maximumConnections: Int?

            /// How many connections are kept for later requests, for each trust policy. 512 by default; 0 keeps none.
            public var keptConnections = 512

            /// The value of `User-Agent` for requests that have none; empty sends none. `RequestOperations/1` by default.
            public var userAgent = "RequestOperations/1"

            /// How long a thread of the transport looks out for the first bytes of a response, or for the next request, before
            /// it sleeps.
            ///
            /// It looks out only while no more than one request is in flight and the last waits of the kind were not longer. That
            /// saves the time to be woken, twice for each of many requests in a row to a server near by, and takes all of a
            /// processor for as long. 200 µs by default; with zero or less the thread always sleeps. One processor of those that
            /// the process may use, by its affinity and the quota of its container, is left free, whatever the number of
            /// transports; where there is one only, the thread always sleeps.
            public var busyPolling = Duration.microseconds(200)

            /// Makes a configuration with the defaults given at each property.
            public init() {}

            /// Whether a request may have to wait for a connection of others to become free.
            var boundsConnections: Bool { maximumConnectionsPerHost != nil || maximumConnections != nil }
        }

        /// Which versions of HTTP are spoken.
        public enum HTTPVersions: Sendable, Hashable {
            /// HTTP/2 where the server offers it in the TLS handshake (ALPN), otherwise HTTP/1.1; HTTP/1.1 without TLS.
            case automatic
            /// HTTP/1.1.
            case http11
            /// HTTP/2 without TLS as well, by prior knowledge (RFC 9113, section 3.3).
            case http2PriorKnowledge
        }

        /// Through what requests go.
        public enum Proxy: Sendable, Hashable {
            /// What the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say (`HTTPS_PROXY`, `ALL_PROXY`
            /// and `NO_PROXY` too; `HTTP_PROXY` does not count, since a CGI program's client can set it). Whether there is
            /// any is found out when the transport is made, and for a task's own trust policy with the first request under it,
            /// and again once its connections were not kept. In `no_proxy` an entry with a port matches no host, and a range of
            /// IPv6 none with libcurl 7.88.
            case environment
            /// No proxy, whatever the environment says.
            case none
            /// This proxy: its scheme is `http`, `https`, `socks4`, `socks4a`, `socks5` (names are looked up here) or
            /// `socks5h` (by the proxy). Credentials stand in the URL. Hosts of `except`, names or their last parts, are
            /// connected to without it.
            case url(URL, except: [String] = [])
        }

        /// What becomes of the cookies that responses set.
        public enum Cookies: Sendable, Hashable {
            /// They are ignored; a `Cookie` field that a request has is sent as it is.
            case none
            /// They are kept for the life of the transport, and sent.
            case inMemory
            /// As `inMemory`, beginning with those in a file, in the format of Netscape that curl uses, to which they are
            /// written by ``CurlTransport/shutdown(_:)``. That a file cannot be read or written is not told.
            case file(URL)
        }

        /// Which addresses are connected to.
        public enum AddressFamily: Sendable, Hashable {
            /// IPv6 and IPv4, whichever answers first (RFC 8305).
            case any
            /// IPv4 only.
            case ipv4
            /// IPv6 only.
            case ipv6
        }
    }

    extension CurlTransport.Proxy: CustomStringConvertible, CustomReflectable {
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

        /// No children, so that `dump` does not show a password.
        public var customMirror: Mirror { Mirror(opaque: self) }
    }

    extension CurlTransport: CustomReflectable {
        /// The configuration.
        public var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
    }
#endif
