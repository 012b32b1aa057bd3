#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Carries requests with the system's libcurl: the transport of Linux.
    ///
    /// One thread serves all transfers of a transport, whatever their number, and runs none of your code; a request that
    /// waits costs no thread. Tasks with a ``TransportTask/trust`` of their own have a thread and connections apart, for each
    /// policy; those of the last 16 policies are kept for later. Connections are kept and used again, with HTTP/2 by
    /// several requests at a time. Bodies stream both ways with back-pressure, and files never pass through memory as a
    /// whole. The thread reads regular files itself, and waits where one is written more slowly than it comes (a second thread
    /// writes them): a file system that blocks, one over a network say, holds up the other requests, and is better given a
    /// transport of its own.
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
    /// `Accept-Encoding` itself, or asks for a `Range`, gets the body as it came; any other gets it decompressed. A body in
    /// a coding that libcurl does not know comes as it is, and over libcurl 8.5 and later fails the request as
    /// ``RequestError/Code/undecodableContent``. So does a gzip body of several members (RFC 1952, section 2.2), which
    /// older ones have decoded. Credentials in a URL become an `Authorization` field. With them, with a proxy or with
    /// cookies, libcurl 8.8 to 8.20 leave out the mark of an empty query. Look-ups of one name and port at the same time
    /// are one look-up, unless a proxy is used.
    ///
    /// A request with `Connection: close` ends its connection: no other request follows over it, whatever the server does
    /// (RFC 9112, section 9.6). HTTP/2 has no such field (RFC 9113, section 8.2.2), so it is not sent there. The connection of
    /// HTTP/2 ends with the request if no other request uses it then.
    ///
    /// Of the properties of a `URLRequest` beside URL, method, fields and body, `timeoutInterval`, `cachePolicy`,
    /// `allowsCellularAccess` and `httpShouldHandleCookies` count: the article <doc:Transports> has a table.
    ///
    /// A request with a safe method (GET, HEAD, OPTIONS, TRACE, QUERY) whose reused connection turns out to be dead before
    /// a byte of the response arrived is sent once more, and ``TransferTimings/wasReplayed`` says so. That goes over a new
    /// connection, or, where one may serve many requests at a time (HTTP/2), over any that is left; there it is sent up to
    /// five times, since the server may have refused it (RFC 9113, section 8.7), which libcurl does not tell. A request
    /// with another method, with a body from a stream, or with a task that may not be sent again
    /// (``TransportTask/mayBeSentAgain``) is not. But a request whose expectation was added here may be refused with 417
    /// (Expectation Failed) before its body is sent. It is then sent again without the expectation.
    ///
    /// The head of a response whose body goes into memory is told when the body is whole or its first bytes show that it is
    /// large or of unknown length, and some 2 ms after the first byte of the response at the latest; that of any other at once.
    ///
    /// A body over TLS without a length counts as whole when its connection ends, also without the end that TLS has for that
    /// (RFC 9112, section 9.8): libcurl does not tell.
    ///
    /// Decompressed bytes that arrive for a transfer that is paused are kept by libcurl, up to 64 MiB, whatever its limits; more
    /// fail as ``RequestError/Code/bodyTooLarge``.
    ///
    /// Over libcurl before 8.1, an upload that may go over HTTP/2 has a connection to itself while it runs, and a thread apart serves
    /// such uploads, unless its body is of 16 KiB at most and in memory: the end of one could spoil other responses. A bound of
    /// connections counts them apart. There, too, two things may become known only with the next thing that comes over the
    /// connection, or at the idle limit: that a server which has answered an upload over HTTP/2 wants no more of it, and the end
    /// of a response without a length of which more than 64 KiB came at once over a connection that others use.
    ///
    /// The answer to an upload that is still going on may get lost over HTTP/2 with libcurl 7.87 to 8.3, if the server ends the
    /// stream with it: the request fails as ``RequestError/Code/connectionLost``. HTTP/1.1 has no such trouble.
    ///
    /// Over libcurl 8.13 to 8.15 requests over HTTP/2 wait for the first answer on a connection where no more connections may be
    /// made, and elsewhere for a fifth of a second or, after more such connections, up to a few.
    ///
    /// With HTTP/2 a transfer that is paused for its consumer may hold up others on the same connection once libcurl's
    /// window for it is full.
    public final class CurlTransport: BuiltInTransport {
        /// A transport with the default configuration, shared by all that name no other.
        public static let shared = CurlTransport()

        /// How this transport connects.
        public let configuration: Configuration

        private let drivers: DriverPool

        /// How a transport is shut down.
        public enum ShutdownMode: Sendable {
            /// Transfers that were begun go on to their end.
            case draining
            /// They fail as ``RequestError/Code/connectionLost``.
            case failing
        }

        /// Makes a transport with connections of its own. Its thread starts with the first request.
        ///
        /// A negative ``Configuration/keptConnections``, or a bound of connections below 1, is a programmer's error.
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

        /// Takes no more requests, which fail as ``RequestError/Code/unsupported``, ends those that run as the mode says,
        /// closes all connections, ends the threads, and writes the cookies if they have a file; then it returns. (The end of a
        /// file that has come whole may still be being written; its request has not ended then.)
        ///
        /// A second call waits as well; `failing` then takes the place of `draining`. A transport that is freed is shut
        /// down without that, its cookies written too: no request can be running.
        ///
        /// Over libcurl before 7.87 the end waits for look-ups that run. At the end of the process the threads stand still: who
        /// waits for this, or for a request, in a function for `atexit` may wait for ever.
        public func shutdown(_ mode: ShutdownMode = .draining) async {
            await drivers.shutDown(mode)
        }

        /// Sends a request and reads its response; see ``Transport/perform(_:onHead:)``.
        public func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            try Task.checkCancellation()
            if case .stream(let stream) = task.body, stream.length == 0 {
                return try await performWithoutBody(task, stream, onHead)
            }
            let flow = try begin(task, onHead)
            defer { end(task) }
            return try await flow.run()
        }

        /// Sends a request whose stream must have no byte, once its source has said so. libcurl would not ask the source,
        /// and a server must not take a broken body for whole.
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

        // Inlined, the temporaries of these two would be part of what every waiting operation keeps.
        @inline(never)
        private func begin(
            _ task: TransportTask, _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) throws -> TransferFlow {
            let submitted = CurlLibrary.now
            guard let driver = drivers.take(for: task) else {
                throw TransferFailure(TransferFlow.shutDownError, phase: .connect)
            }
            do {
                return try TransferFlow(task, driver: driver, submitted: submitted, onHead: onHead)
            } catch {
                end(task)
                throw TransferFailure(error, phase: .connect)
            }
        }

        @inline(never)
        private func end(_ task: TransportTask) {
            drivers.giveBack(task)
        }
    }
#endif
