/// What a transport is asked to do: a request, the source of its body, where the response body goes, and limits.
///
/// The result of the override point `makeTask(for:)`. The operation fills in from its configuration each of the ``limits``,
/// the ``trust`` and ``onProgress`` that is left as it is.
public struct TransportTask: Sendable {
    /// All values, in one object: a task is passed on at every step of an attempt.
    private var values: Box<Values>

    /// The request whose method, URL and fields are sent. Its `httpBody` and `httpBodyStream` do not count: ``body`` does. What
    /// becomes of its other properties, such as `cachePolicy`, is in the article <doc:Transports>.
    public var request: URLRequest {
        get { values.value.request }
        set { values.edit { $0.request = newValue } }
    }

    /// The body to send.
    public var body: RequestBody {
        get { values.value.body }
        set { values.edit { $0.body = newValue } }
    }

    /// Where the bytes of an accepted response go. ``Destination/memory`` by default.
    public var destination: Destination {
        get { values.value.destination }
        set { values.edit { $0.destination = newValue } }
    }

    /// The limits of this task. Each that is set takes the place of the configuration's (and of the request's
    /// `timeoutInterval`), the others are those of the configuration; none is set by default.
    public var limits: TransferLimits {
        get { values.value.limits }
        set { values.edit { $0.limits = newValue } }
    }

    /// Called as bytes are sent and arrive, on the Task of the operation, at most about 20 times a second and once when the
    /// transfer has succeeded; `nil`, the default, takes that of the configuration.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        get { values.value.onProgress }
        set { values.edit { $0.onProgress = newValue } }
    }

    /// Which servers are trusted, and how this side identifies itself to them, for this task and its redirects; `nil`, the
    /// default, takes that of the configuration, and if that has none, that of the transport.
    ///
    /// A transport that cannot keep to it fails the task as ``RequestError/Code/unsupported``.
    public var trust: TrustPolicy? {
        get { values.value.trust?.value }
        set { values.edit { $0.trust = newValue.map(Box.init) } }
    }

    /// Whether the transport may send the request a second time by itself, without a new attempt.
    ///
    /// A transport does so with a safe method (RFC 9110, section 9.2.1), when the connection that it used again is lost before
    /// a byte of the response has come. With `false` the task fails instead, as ``RequestError/Code/connectionLost``. The retry
    /// policy then decides, and a retry is processed afresh: a one-time token in the request is not sent twice.
    ///
    /// `nil` by default. An operation then sets `true` if each of its adapters ``RequestAdapter/isRepeatable`` and no stage is
    /// overridden. A task that is given to a transport without an operation counts as `true`.
    public var mayBeSentAgain: Bool? {
        get { values.value.mayBeSentAgain }
        set { values.edit { $0.mayBeSentAgain = newValue } }
    }

    /// Whether the request goes over a connection that no other request has used before the last loss of one. The attempt
    /// before this one lost such a connection, and others as old may be lost as well.
    var wantsNewConnection: Bool {
        get { values.value.wantsNewConnection }
        set { values.edit { $0.wantsNewConnection = newValue } }
    }

    /// Where a transport of this package notes how far it came, should the task be cancelled.
    var trace: TransferTrace? {
        get { values.value.trace }
        set { values.edit { $0.trace = newValue } }
    }

    /// How the task is carried out; the transport's own way unless it was made by one of the `custom` functions.
    public var execution: Execution {
        get { values.value.execution }
        set { values.edit { $0.execution = newValue } }
    }

    /// Where the body of an accepted response goes.
    public enum Destination: Sendable {
        /// Into ``TransportResponse/body``, up to ``TransferLimits/maximumBodySize``, 64 MiB by default.
        case memory
        /// Into a file, which appears, or takes the place of an older one, when the body is whole: a transfer that fails
        /// leaves what was there. Until then it grows under a hidden name, that begins with `.RequestOperations-`, in the
        /// same folder, where files must be allowed to be made. A link is followed, and the permissions of an older file
        /// are kept. The bytes never pass through memory as a whole. Missing folders are an error.
        ///
        /// A pipe or a device is written to piece by piece as the bytes arrive, and sets the pace.
        case file(URL)
        /// To a consumer, piece by piece, in order; while it works the transfer is paused, so that it sets the pace. It
        /// runs on the Task of the operation; an error out of it ends the transfer.
        ///
        /// What it has taken of a transfer that fails is not taken back: another attempt begins again at byte 0, with the
        /// task that `makeTask(for:)` makes for it. A consumer that adds up what it gets is made there, afresh each time.
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
        values = Box(Values(request: request, body: body ?? RequestBody(of: request), destination: destination))
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
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - consumer: Gets the body piece by piece, from byte 0 in each attempt; see ``Destination/stream(_:)``.
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

extension TransportTask {
    private struct Values: Sendable {
        var request: URLRequest
        var body: RequestBody
        var destination: Destination
        var limits = TransferLimits()
        var onProgress: (@Sendable (TransferProgress) -> Void)?
        var trust: Box<TrustPolicy>?
        var execution = Execution.standard
        var trace: TransferTrace?
        var mayBeSentAgain: Bool?
        var wantsNewConnection = false
    }

    /// Takes what the task does not bring itself from a configuration.
    ///
    /// - Parameter isProcessedByAdapters: Whether nothing but the configuration's adapters made the request.
    // Inlined, its temporaries would be part of what every waiting operation keeps.
    @inline(never)
    mutating func complete(from configuration: RequestConfiguration, isProcessedByAdapters: Bool) {
        let limits = configuration.limits(for: self)
        values.edit { values in
            values.limits = values.limits.filled(from: limits)
            values.trust = values.trust ?? configuration.boxedTrust
            values.onProgress = values.onProgress ?? configuration.onProgress
            values.mayBeSentAgain =
                values.mayBeSentAgain ?? (isProcessedByAdapters && configuration.hasRepeatableAdapters)
        }
    }
}

extension TransportTask: CustomStringConvertible {
    /// One line: the method, scheme, host, port and path of the URL, and the body's size. No field, no query.
    public var description: String { "\(Redaction.line(of: request)), \(body)" }
}

/// How far a transfer has come, in bytes of bodies.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request body that the layer below has taken; it need not have sent all of them yet.
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
