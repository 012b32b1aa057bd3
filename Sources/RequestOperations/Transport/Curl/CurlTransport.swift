#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Carries requests with the system's libcurl: the transport of Linux.
    ///
    /// One thread serves all transfers of a transport, whatever their number, and runs none of your code; a request that
    /// waits costs no thread. Connections are kept and used again, with HTTP/2 by several requests at a time. Bodies stream
    /// both ways with back-pressure, and files never pass through memory as a whole.
    ///
    /// ```swift
    /// var configuration = CurlTransport.Configuration()
    /// configuration.trust.roots = .file(companyRoots)
    /// let transport = CurlTransport(configuration: configuration)
    /// ```
    ///
    /// It needs libcurl 7.81 or later; what newer ones do better is used where they run. It adds the fields `Host`,
    /// `User-Agent`, `Accept` and `Accept-Encoding` where the request has none, and those that frame a body; a body of more
    /// than 1 MiB is announced with `Expect: 100-continue` (RFC 9110, section 10.1.1) in HTTP/1.1. A request that sets
    /// `Accept-Encoding` itself, or asks for a `Range`, gets the body as it came; any other gets it decompressed. Credentials
    /// in a URL become an `Authorization` field. Look-ups of one name at the same time are one look-up.
    ///
    /// A request with a safe method (GET, HEAD, OPTIONS, TRACE, QUERY) whose reused connection turns out to be dead before
    /// a byte of the response arrived is sent once more over a new connection, and ``TransferTimings/wasReplayed`` says so.
    /// A request with another method is never sent twice.
    ///
    /// With HTTP/2 a transfer that is paused for its consumer may hold up others on the same connection once libcurl's
    /// window for it is full.
    public final class CurlTransport: Transport {
        /// A transport with the default configuration, shared by all that name no other.
        public static let shared = CurlTransport()

        /// How this transport connects.
        public let configuration: Configuration

        private let driver: CurlDriver

        /// How a transport is shut down.
        public enum ShutdownMode: Sendable {
            /// Transfers that were begun go on to their end.
            case draining
            /// They fail as ``RequestError/Code/connectionLost``.
            case failing
        }

        /// Makes a transport with connections of its own. Its thread starts with the first request.
        public init(configuration: Configuration = .init()) {
            self.configuration = configuration
            driver = CurlDriver(configuration)
        }

        deinit {
            driver.shutDown(.failing)
        }

        /// Takes no more requests, which fail as ``RequestError/Code/unsupported``, ends those that run as the mode says,
        /// closes all connections, writes the cookies if they have a file, and ends the thread; then it returns.
        ///
        /// A second call waits as well; `failing` then takes the place of `draining`. A transport that is freed is shut
        /// down without that: no request can be running.
        public func shutdown(_ mode: ShutdownMode = .draining) async {
            await driver.shutDown(mode)
        }

        /// Sends a request and reads its response; see ``Transport/perform(_:onHead:)``.
        public func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            let submitted = CurlLibrary.now
            try Task.checkCancellation()
            let flow: TransferFlow
            do {
                flow = try TransferFlow(task, driver: driver, submitted: submitted, onHead: onHead)
            } catch {
                throw TransferFailure(error, phase: .connect)
            }
            return try await flow.run()
        }
    }
#endif
