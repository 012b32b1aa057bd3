/// What a transport is asked to do: a request, the source of its body, where the response body goes, and limits.
///
/// The result of the override point `makeTask(for:)`. The operation fills in the ``limits`` and ``onProgress`` from its
/// configuration when they are left as they are.
public struct TransportTask: Sendable {
    /// The request whose method, URL and fields are sent. Its `httpBody` and `httpBodyStream` do not count: ``body`` does.
    public var request: URLRequest

    /// The body to send.
    public var body: RequestBody

    /// Where the bytes of an accepted response go. ``Destination/memory`` by default.
    public var destination: Destination

    /// The limits that the transport keeps; `nil`, the default, takes those of the configuration.
    public var limits: TransferLimits?

    /// Called as bytes are sent and arrive, on the Task of the operation, at most about 20 times a second and once at the
    /// end; `nil`, the default, takes that of the configuration.
    public var onProgress: (@Sendable (TransferProgress) -> Void)?

    /// How the task is carried out; the transport's own way unless it was made by one of the `custom` functions.
    public var execution: Execution

    /// Where the body of an accepted response goes.
    public enum Destination: Sendable {
        /// Into ``TransportResponse/body``, up to ``TransferLimits/maximumBodySize``.
        case memory
        /// Into a file, which is created or emptied when the head has been accepted, and removed if the transfer fails.
        /// The bytes never pass through memory as a whole. Missing folders are an error.
        case file(URL)
        /// To a consumer, piece by piece, in order; while it works the transfer is paused, so that it sets the pace. It
        /// runs on the Task of the operation; an error out of it ends the transfer.
        case stream(@Sendable (Data) async throws -> Void)
    }

    /// Who carries the task out.
    public enum Execution: Sendable {
        /// The transport does.
        case standard
        /// A closure does, with the task, the configured transport and `onHead` at hand.
        case perform(
            @Sendable (
                _ task: TransportTask, _ transport: any Transport,
                _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
            ) async throws -> TransportResponse)
        /// A ``URLSessionTransport`` does, with the session task that the closure makes and does not resume.
        /// Any other transport fails with ``RequestError/Code/unsupported``.
        case urlSessionTask(@Sendable (URLSession, URLRequest) throws -> URLSessionTask)
    }

    /// Makes a task from its parts.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The body; by default the request's own `httpBody` or `httpBodyStream`.
    ///   - destination: Where the response body goes; into memory by default.
    public init(_ request: URLRequest, body: RequestBody? = nil, destination: Destination = .memory) {
        self.request = request
        self.body = body ?? RequestBody(of: request)
        self.destination = destination
        execution = .standard
    }

    /// Sends the request with its own body and reads the response into memory.
    public static func data(_ request: URLRequest) -> TransportTask {
        TransportTask(request)
    }

    /// Sends a body and reads the response into memory.
    public static func upload(_ request: URLRequest, from body: RequestBody) -> TransportTask {
        TransportTask(request, body: body)
    }

    /// Sends the request with its own body and writes an accepted response to a file.
    public static func download(_ request: URLRequest, to file: URL) -> TransportTask {
        TransportTask(request, destination: .file(file))
    }

    /// Sends the request with its own body and hands an accepted response to a consumer, which sets the pace.
    public static func stream(
        _ request: URLRequest, to consumer: @escaping @Sendable (Data) async throws -> Void
    ) -> TransportTask {
        TransportTask(request, destination: .stream(consumer))
    }

    /// A task that a closure carries out in place of the transport.
    ///
    /// The closure owes what ``Transport/perform(_:onHead:)`` owes, above all to call `onHead` exactly once. It may send
    /// a changed task through the transport that it is given.
    public static func custom(
        _ request: URLRequest,
        perform:
            @escaping @Sendable (
                _ task: TransportTask, _ transport: any Transport,
                _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
            ) async throws -> TransportResponse
    ) -> TransportTask {
        var task = TransportTask(request)
        task.execution = .perform(perform)
        return task
    }

    /// A task that a ``URLSessionTransport`` carries out with a session task of your making.
    ///
    /// - Parameters:
    ///   - request: The request, for the limiter, redirects and the retry policy.
    ///   - makeTask: Makes the session task, a data or an upload task, and must not resume it. Called once for each hop.
    public static func custom(
        _ request: URLRequest,
        makeTask: @escaping @Sendable (URLSession, URLRequest) throws -> URLSessionTask
    ) -> TransportTask {
        var task = TransportTask(request)
        task.execution = .urlSessionTask(makeTask)
        return task
    }
}

/// How far a transfer has come, in bytes of bodies.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request body handed to the network.
    public var bytesSent: Int64
    /// The length of the request body, where it is known.
    public var bytesToSend: Int64?
    /// Bytes of the response body received, after decompression.
    public var bytesReceived: Int64
    /// The length of the response body that its head declares, unless it is compressed.
    public var bytesToReceive: Int64?

    /// Makes a value; all zero and unknown by default.
    public init(
        bytesSent: Int64 = 0, bytesToSend: Int64? = nil, bytesReceived: Int64 = 0, bytesToReceive: Int64? = nil
    ) {
        self.bytesSent = bytesSent
        self.bytesToSend = bytesToSend
        self.bytesReceived = bytesReceived
        self.bytesToReceive = bytesToReceive
    }
}

/// What a transport keeps to while it carries out one task.
public struct TransferLimits: Sendable, Hashable {
    /// The longest time for name look-up, connection and TLS handshake together. 15 seconds by default; `nil` is none.
    public var connect: Duration?

    /// The longest time without a byte in either direction once connected. 60 seconds by default; `nil` is none.
    public var idle: Duration?

    /// The largest body of an accepted response, in bytes after decompression; beyond it the transfer ends with
    /// ``RequestError/Code/bodyTooLarge``. `nil` is none. 64 MiB by default.
    public var maximumBodySize: Int?

    /// How many bytes of a rejected response are read at most, to keep the connection usable. 64 KiB by default; at 0 the
    /// connection is closed at once.
    public var errorBodyLimit: Int

    /// How long a rejected response is read at most. 500 ms by default.
    public var errorBodyTimeLimit: Duration

    /// Makes limits; each has the default given at its property.
    public init(
        connect: Duration? = .seconds(15), idle: Duration? = .seconds(60), maximumBodySize: Int? = 64 << 20,
        errorBodyLimit: Int = 64 << 10, errorBodyTimeLimit: Duration = .milliseconds(500)
    ) {
        self.connect = connect
        self.idle = idle
        self.maximumBodySize = maximumBodySize
        self.errorBodyLimit = errorBodyLimit
        self.errorBodyTimeLimit = errorBodyTimeLimit
    }

    /// How much of a rejected response is kept in the error, in bytes.
    package static let keptErrorBody = 4 << 10
}
