/// The work of a transport: a request, the source of its body, where the response body goes, and limits.
///
/// The override point `makeTask(for:)` returns a task. The operation fills in each of the ``limits``, the ``trust`` and
/// ``onProgress`` from its configuration, if the task does not set it.
public struct TransportTask: Sendable {
    /// The request whose method, URL and fields are sent.
    ///
    /// Its `httpBody` and `httpBodyStream` do not count: ``body`` does. The article <doc:Transports> says what becomes
    /// of its other properties, such as `cachePolicy`.
    public var request: URLRequest

    /// The body to send.
    public var body: RequestBody

    /// Where the body of an accepted response goes. ``Destination/memory`` by default.
    public var destination: Destination

    /// The limits of this task. None is set by default.
    ///
    /// A limit that you set replaces the limit of the configuration, and the `timeoutInterval` of the request. The
    /// other limits come from the configuration.
    public var limits = TransferLimits()

    /// Called as bytes are sent and arrive. `nil`, the default, takes the function of the configuration.
    ///
    /// It is called on the Task of the operation, at most about 20 times a second, and once when the transfer has
    /// succeeded.
    public var onProgress: (@Sendable (TransferProgress) -> Void)?

    /// Which servers are trusted, and how this side identifies itself to them, for this task and its redirects.
    ///
    /// `nil`, the default, takes the policy of the configuration. If the configuration has none, the policy of the
    /// transport holds. A transport that cannot apply the policy fails the task with ``RequestError/Code/unsupported``.
    public var trust: TrustPolicy? {
        get { boxedTrust?.value }
        set { boxedTrust = newValue.map(Box.init) }
    }

    private var boxedTrust: Box<TrustPolicy>?

    /// Whether the transport may send the request a second time by itself, without a new attempt.
    ///
    /// A transport does so with a safe method (RFC 9110, section 9.2.1) when a reused connection is lost before any
    /// byte of the response arrives. With `false` the task fails instead, with ``RequestError/Code/connectionLost``.
    /// The retry policy then decides. The adapters process a retry again, so a one-time token in the request is not
    /// sent twice.
    ///
    /// The default is `nil`. An operation then sets `true` if each of its adapters is repeatable
    /// (``RequestAdapter/isRepeatable``) and no stage is overridden. If you give a task to a transport without an
    /// operation, `nil` counts as `true`.
    public var mayBeSentAgain: Bool?

    /// Whether the request must avoid connections that were in use before the last loss of a connection.
    ///
    /// The attempt before this one lost such a connection. Others of the same age may be lost as well.
    var wantsNewConnection = false

    /// Whether the transport adds no expectation, because the server has refused one.
    var expectsNothing = false

    /// Whether the task is an upload. The progress of an operation then counts only the body that is sent.
    ///
    /// A form whose response goes to memory is an upload. If the response goes to a file or a stream, the response is
    /// what counts.
    var isUpload: Bool {
        get {
            if isMadeAsUpload { return true }
            guard destination.isMemory else { return false }
            let type = request.value(forHTTPHeaderField: "Content-Type")
            return type?.hasPrefix("multipart/form-data") == true
        }
        set { isMadeAsUpload = newValue }
    }

    private var isMadeAsUpload = false

    /// Here a transport of this package notes how far the transfer came, if the task is cancelled.
    var trace: AttemptTrace?

    /// How the task is carried out. By default the transport does it; the `custom` functions set another way.
    package var execution = Execution.standard

    /// Where the body of an accepted response goes.
    public enum Destination: Sendable {
        /// Into ``TransportResponse/body``, up to ``TransferLimits/maximumBodySize``, 64 MiB by default.
        case memory
        /// Into a file, which appears at its place when the body is complete.
        ///
        /// An older file is replaced only then, so a failed transfer leaves it as it was. Until then the new file grows
        /// in the same folder, under a hidden name that begins with `.RequestOperations-`. The process must be allowed
        /// to make files there. A link is followed. The permissions of an older file are kept. The bytes never pass
        /// through memory as a whole. A missing folder is an error.
        ///
        /// A pipe or a device is written piece by piece as the bytes arrive, and sets the pace.
        case file(URL)
        /// To a consumer, piece by piece, in order.
        ///
        /// The transfer pauses while the consumer works, so the consumer sets the pace. It runs on the Task of the
        /// operation. An error that it throws ends the transfer.
        ///
        /// If a transfer fails, the pieces that the consumer took are not taken back. The next attempt begins again at
        /// byte 0, with the task that `makeTask(for:)` makes for it. If a consumer adds up what it gets, make a new one
        /// there for each attempt.
        case stream(@Sendable (Data) async throws -> Void)

        var isMemory: Bool { if case .memory = self { true } else { false } }
    }

    /// Who carries the task out.
    package enum Execution: Sendable {
        /// The transport.
        case standard
        /// A closure. It gets the task, the configured transport and `onHead`.
        case perform(
            @Sendable (
                _ task: TransportTask, _ transport: any Transport,
                _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
            ) async throws -> TransportResponse)
        /// A ``URLSessionTransport``, with the session task that the closure makes. The closure must not resume it. Any
        /// other transport fails with ``RequestError/Code/unsupported``.
        case urlSessionTask(@Sendable (URLSession, URLRequest) throws -> URLSessionTask)
    }

    /// Makes a task from its parts.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The body. By default the request's own `httpBody` or `httpBodyStream`.
    ///   - destination: Where the response body goes. Into memory by default.
    public init(_ request: URLRequest, body: RequestBody? = nil, destination: Destination = .memory) {
        self.request = request
        self.body = body ?? RequestBody(of: request)
        self.destination = destination
    }

    /// Sends the request with its own body and reads the response into memory.
    public static func data(_ request: URLRequest) -> TransportTask {
        TransportTask(request)
    }

    /// Sends a body and reads the response into memory.
    public static func upload(_ request: URLRequest, from body: RequestBody) -> TransportTask {
        var task = TransportTask(request, body: body)
        task.isUpload = true
        return task
    }

    /// Sends the request with its own body and writes an accepted response to a file.
    public static func download(_ request: URLRequest, to file: URL) -> TransportTask {
        TransportTask(request, destination: .file(file))
    }

    /// Sends the request with its own body and gives an accepted response to a consumer, which sets the pace.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - consumer: Gets the body piece by piece, from byte 0 in each attempt. See ``Destination/stream(_:)``.
    public static func stream(
        _ request: URLRequest, to consumer: @escaping @Sendable (Data) async throws -> Void
    ) -> TransportTask {
        TransportTask(request, destination: .stream(consumer))
    }

    /// Makes a task that a closure carries out in place of the transport.
    ///
    /// The closure must meet the rules of ``Transport/perform(_:onHead:)``. Above all it must call `onHead` exactly
    /// once. It may send a changed task through the transport that it gets.
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

    /// Makes a task that a ``URLSessionTransport`` carries out with a session task that you make.
    ///
    /// - Parameters:
    ///   - request: The request, for the limiter, redirects and the retry policy.
    ///   - makeTask: Makes the session task, a data or an upload task. It must not resume the task. Called once for
    ///     each hop.
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
    /// Fills in what the task does not set itself.
    mutating func complete(
        _ limits: TransferLimits, trust: Box<TrustPolicy>?, onProgress: (@Sendable (TransferProgress) -> Void)?,
        mayBeSentAgain: Bool
    ) {
        self.limits = self.limits.filled(from: limits)
        boxedTrust = boxedTrust ?? trust
        self.onProgress = self.onProgress ?? onProgress
        self.mayBeSentAgain = self.mayBeSentAgain ?? mayBeSentAgain
    }
}

extension TransportTask: CustomStringConvertible, OpaqueReflectable {
    /// One line: the method, scheme, host, port and path of the URL, and the body's size. No field, no query.
    public var description: String { "\(Redaction.line(of: request)), \(body)" }
}
