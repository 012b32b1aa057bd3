#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Carries requests with the system's libcurl: the transport of Linux.
    ///
    /// One thread serves all transfers of a transport, however many there are. It runs none of your code, and a waiting
    /// request costs no thread. Tasks that bring their own ``TransportTask/trust`` use a separate thread and separate
    /// connections for each policy. The transport keeps those of the last 16 policies for later. It keeps connections
    /// and uses them again; over HTTP/2, several requests share one connection at a time. Bodies stream both ways with
    /// back-pressure, and files never pass through memory as a whole.
    ///
    /// The thread reads and writes regular files itself. So a file system that blocks, such as one over a network, holds
    /// up the other requests. Give it a transport of its own.
    ///
    /// ```swift
    /// var configuration = CurlTransport.Configuration()
    /// configuration.trust.roots = .file(companyRoots)
    /// let transport = CurlTransport(configuration: configuration)
    /// ```
    ///
    /// The transport needs libcurl 7.81 or later. It uses improvements of newer versions where they are available. It
    /// adds the fields `Host`, `User-Agent`, `Accept` and `Accept-Encoding` where the request has none, and the fields
    /// that frame a body. In HTTP/1.1 it announces a body of more than 1 MiB with `Expect: 100-continue` (RFC 9110,
    /// section 10.1.1).
    ///
    /// A request that sets `Accept-Encoding` itself, or asks for a `Range`, gets the body as it came. Any other request
    /// gets it decompressed. If libcurl does not know the coding, the body comes as it is. Over libcurl 8.5 and later,
    /// the request fails as ``RequestError/Code/undecodableContent`` instead. A gzip body of several members (RFC 1952,
    /// section 2.2) fails in the same way there; with older versions, it is decoded.
    ///
    /// Credentials in a URL become an `Authorization` field.
    ///
    /// A request with `Connection: close` ends its connection. No other request follows over it, no matter what the
    /// server does (RFC 9112, section 9.6). HTTP/2 has no such field (RFC 9113, section 8.2.2), so it is not sent
    /// there. An HTTP/2 connection ends with the request if no other request uses it then.
    ///
    /// Besides URL, method, fields and body, the transport uses these properties of a `URLRequest`: `timeoutInterval`,
    /// `cachePolicy`, `allowsCellularAccess` and `httpShouldHandleCookies`. The article <doc:Transports> has a table.
    ///
    /// A reused connection may turn out to be dead before a byte of the response arrives. If the request has a safe method
    /// (GET, HEAD, OPTIONS, TRACE, QUERY), the transport sends it once more over a new connection and sets
    /// ``TransferTimings/wasReplayed``. Over HTTP/2, the request fails as ``RequestError/Code/connectionLost`` instead, and
    /// ``RetryPolicy`` sends it again at once. If a server refuses a request over HTTP/2 (RFC 9113, section 8.7), the
    /// transport sends it up to five times. It repeats no other request, and no task that may not be sent again
    /// (``TransportTask/mayBeSentAgain``). The exception is a 417 to an expectation that the transport added.
    ///
    /// A body over TLS without a length counts as complete when its connection ends, even without the TLS closing
    /// message (RFC 9112, section 9.8). libcurl does not report the difference.
    ///
    /// While a transfer is paused, libcurl keeps up to 64 MiB of its decompressed bytes, regardless of the transfer's
    /// limits. More than that fails as ``RequestError/Code/bodyTooLarge``.
    ///
    /// Over TLS the transport speaks HTTP/2 by default from libcurl 8.4 on; see ``Configuration/httpVersions``. The article
    /// <doc:Transports> lists what depends on the version of libcurl.
    ///
    /// Over HTTP/2, a transfer that is paused for its consumer may hold up others on the same connection. That happens
    /// once libcurl's window for the transfer is full.
    public final class CurlTransport: Transport {
        /// A transport with the default configuration, shared by all code that names no other.
        public static let shared = CurlTransport()

        /// How this transport connects.
        public let configuration: Configuration

        private let drivers: DriverPool

        /// How a transport is shut down.
        enum ShutdownMode: Sendable {
            /// Running transfers go on to their end.
            case draining
            /// Running transfers fail as ``RequestError/Code/connectionLost``.
            case failing
        }

        /// Makes a transport with its own connections. Its thread starts with the first request.
        ///
        /// It traps if ``Configuration/keptConnections`` is negative or a connection limit is below 1.
        public init(configuration: Configuration = .init()) {
            precondition(configuration.keptConnections >= 0, "No fewer than 0 connections are kept.")
            precondition(
                (configuration.maximumConnections ?? 1) >= 1 && (configuration.maximumConnectionsPerHost ?? 1) >= 1,
                "Without a connection no request is sent.")
            self.configuration = configuration
            drivers = DriverPool(configuration)
        }

        deinit {
            drivers.shutDownUnused()
        }

        /// Shuts the transport down, and returns when that is done.
        ///
        /// New requests fail as ``RequestError/Code/unsupported``. Running requests end as `draining` says. The transport
        /// then closes all connections, ends its threads, and writes the cookies if they have a file. A download
        /// whose body has arrived may still write its last bytes when this returns.
        ///
        /// A second call waits as well; if it does not drain, that holds for the first one too. A transport that is freed
        /// shuts down without this call and also writes its cookies, since no request can be running then.
        ///
        /// Over libcurl before 7.87, the shutdown waits for running look-ups. When the process exits, the
        /// threads stop. A function for `atexit` that waits for this call, or for a request, may then wait forever.
        ///
        /// - Parameter draining: Whether running requests go on to their end. `true` by default. If `false`, they fail as
        ///   ``RequestError/Code/connectionLost``.
        public func shutdown(draining: Bool = true) async {
            await drivers.shutDown(draining ? .draining : .failing)
        }

        /// Sends a request and reads its response; see ``Transport/perform(_:onHead:)``.
        public func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            try Task.checkCancellation()
            if case .stream(let stream) = task.body, stream.length == 0 {
                return try await performWithoutBody(task, stream, onHead)
            }
            let submitted = CurlLibrary.now
            guard let driver = drivers.take(for: task) else {
                throw TransferFailure(CurlTransferTask.shutDownError, phase: .connect)
            }
            defer { drivers.release(task) }
            let transferTask: CurlTransferTask
            do {
                transferTask = try CurlTransferTask(task, driver: driver, submitted: submitted, onHead: onHead)
            } catch {
                throw TransferFailure(error, phase: .connect)
            }
            return try await transferTask.run()
        }

        /// Sends a request whose stream must be empty, after its source has confirmed that. libcurl would not ask the
        /// source, and a server must not take a broken body for a complete one.
        private func performWithoutBody(
            _ task: TransportTask, _ stream: BodyStream, _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            do {
                try await stream.expectNothing(within: task.effectiveLimits.idle)
            } catch let error where !(error is CancellationError && Task.isCancelled) {
                throw TransferFailure(error, phase: .connect)
            }
            var task = task
            task.body = .data(Data())
            return try await perform(task, onHead: onHead)
        }
    }
#endif
