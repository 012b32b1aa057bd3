/// Carries one attempt of a request over the network.
///
/// This package has two real transports, ``CurlTransport`` and ``URLSessionTransport``. `RequestOperationsTesting` has
/// a scripted transport, and a suite of expectations that every transport must meet. Write your own transport to send
/// requests by other means.
///
/// A transport does not retry, follow redirects or validate. The operation does that.
public protocol Transport: Sendable {
    /// Sends a request and reads its response.
    ///
    /// Called once for each hop of each attempt, on the Task of the operation.
    ///
    /// - Parameters:
    ///   - task: What to send, where the response body goes, the limits to keep (``TransportTask/effectiveLimits``),
    ///     and which servers to trust. If a transport cannot apply a task's ``TransportTask/trust``, it must fail with
    ///     ``RequestError/Code/unsupported`` and the phase `connect`. It must never go on without it.
    ///   - onHead: The transport must call this exactly once, before it delivers any byte of the body. If the Task was
    ///     cancelled before, the transport does not call it. The transport must call it on the Task that called
    ///     `perform`, never on a thread that serves other transfers, because it runs user code. The transport does not
    ///     report the heads of informational responses (1xx). If `onHead` throws, the response is rejected. The
    ///     transport then delivers nothing of the body. It reads on within ``TransferLimits/errorBodyLimit`` and
    ///     ``TransferLimits/errorBodyTimeLimit``, to keep the connection usable. Then it throws a ``TransferFailure``
    ///     whose `error` is the one that `onHead` threw.
    /// - Returns: The response, when its last byte has arrived and been delivered.
    /// - Throws: A ``TransferFailure``, or `CancellationError` if the Task was cancelled. After a cancel the transport
    ///   closes the connection (with HTTP/2 the stream) at once and sends nothing more. A transport may also throw a
    ///   failure whose `error` is a `CancellationError`. After a time-out of the attempt, the operation learns from it
    ///   whether the request may have been processed.
    func perform(
        _ task: TransportTask,
        onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse
}

/// The transport of a configuration that does not name one.
public enum PlatformTransport {
    #if canImport(CRequestOperationsCurl) && canImport(Glibc)
        /// ``CurlTransport/shared`` here, on Linux with glibc; ``URLSessionTransport/shared`` on other systems.
        public static var shared: any Transport { CurlTransport.shared }
    #else
        /// ``URLSessionTransport/shared`` here; `CurlTransport.shared` on Linux with glibc.
        public static var shared: any Transport { URLSessionTransport.shared }
    #endif
}

/// A complete response, as a transport delivers it.
public struct TransportResponse: Sendable {
    /// The head that `onHead` accepted.
    public var head: ResponseHead

    /// The body if it went to memory, otherwise empty. Setting it also sets ``bodySize``.
    public var body: Data { didSet { bodySize = Int64(body.count) } }

    /// The file that holds the body; `nil` if the body did not go to a file.
    public var file: URL?

    /// The length of the body in bytes, after decompression, for every destination.
    public var bodySize: Int64

    /// When the stages of the transfer took place; `nil` if the transport does not measure them.
    public var timings: TransferTimings? {
        get { boxedTimings?.value }
        set { boxedTimings = newValue.map(Box.init) }
    }

    private(set) var boxedTimings: Box<TransferTimings>?

    /// Makes a response.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - body: The body, if it went to memory. Empty by default.
    ///   - file: The file, if the body went to one. `nil` by default.
    ///   - bodySize: The length of the body in bytes. By default the length of `body`.
    ///   - timings: The timings, if measured. `nil` by default.
    public init(
        head: ResponseHead, body: Data = Data(), file: URL? = nil, bodySize: Int64? = nil,
        timings: TransferTimings? = nil
    ) {
        (self.head, self.body, self.file) = (head, body, file)
        self.bodySize = bodySize ?? Int64(body.count)
        boxedTimings = timings.map(Box.init)
    }
}

extension TransportResponse: CustomStringConvertible, OpaqueReflectable {
    /// One line: the description of the head, and the size of the body.
    public var description: String { "\(head), \(bodySize) bytes" }
}

/// How far a transfer has come, in bytes of bodies.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request body that the layer below has taken. It may not have sent all of them yet.
    public var bytesSent: Int64
    /// The length of the request body in bytes; `nil` if it is unknown.
    public var bytesToSend: Int64?
    /// Bytes of the response body received, after decompression.
    public var bytesReceived: Int64
    /// The length of the response body that its head declares, in bytes; `nil` if none or if it is compressed.
    public var bytesToReceive: Int64?

    /// Makes a value. By default all counts are zero and all lengths are unknown.
    public init(
        bytesSent: Int64 = 0, bytesToSend: Int64? = nil, bytesReceived: Int64 = 0, bytesToReceive: Int64? = nil
    ) {
        self.bytesSent = bytesSent
        self.bytesToSend = bytesToSend
        self.bytesReceived = bytesReceived
        self.bytesToReceive = bytesToReceive
    }
}

/// When the stages of one transfer took place. Each time counts from the call that asked the transport to perform it.
public struct TransferTimings: Sendable, Hashable {
    /// Until the transport began the transfer.
    public var queue: Duration?
    /// Until the name was resolved. `nil` on a reused connection, and if the host is an address.
    public var nameLookup: Duration?
    /// Until the TCP connection was open. `nil` on a reused connection, and if TLS failed.
    public var connect: Duration?
    /// Until the TLS handshake was done. `nil` without TLS, and on a reused connection.
    public var secureConnect: Duration?
    /// Until the transport began to send the request. The connection was then open and served no other request.
    public var requestSent: Duration?
    /// Until the first byte of the response arrived. Informational responses (RFC 9110, section 15.2) do not count.
    public var firstByte: Duration?
    /// Until the last byte of the response arrived, or the transfer ended without it.
    public var total: Duration?
    /// Whether the connection had served another request before.
    public var connectionWasReused: Bool?
    /// Whether the transport sent the request again by itself. The retry policy does not count this.
    ///
    /// The transport does so in two cases: a reused connection was dead before a byte of the response arrived, or the
    /// server refused to process the request.
    public var wasReplayed: Bool
    /// The HTTP version of the response; `nil` if no response came.
    public var httpVersion: HTTPVersion?
    /// The address of the server (or proxy), without a port.
    public var remoteAddress: String?
    /// How many bytes of the request body were sent.
    public var bytesSent: Int64?
    /// How many bytes of the response body were received, before decompression.
    public var bytesReceived: Int64?

    /// Makes timings with every value unknown.
    public init() {
        wasReplayed = false
    }
}
