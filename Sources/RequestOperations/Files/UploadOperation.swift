/// An operation that uploads a file, bytes, a stream or a form, and repeats or resumes the upload after a failure.
///
/// ```swift
/// let operation = UploadOperation(.file(video), to: url)  // PUT
/// queue.addOperation(operation)
/// let answer = try await operation.value  // the body of the response
/// ```
///
/// The body is read while it is sent, never into memory as a whole. If the number of bytes is known, it is sent as
/// `Content-Length`. A stream without a length is sent in chunks. A request with the method GET is sent as PUT, or as POST for a
/// form. A request without a `Content-Type` gets that of the form or of the file's extension.
///
/// The value comes from the response. ``URLRequestOperation/progress`` counts the bytes that were sent.
///
/// ## Retries
///
/// Each attempt sends the body from its first byte. With ``UploadProtocol/tus``, it continues after the last byte that the server
/// has. The retry policy decides whether there is another attempt. By default it repeats a PUT, but not a POST that the server
/// may have acted on, unless it has an `Idempotency-Key`. If a file has changed since the first attempt, the upload fails with
/// ``RequestError/Code/fileChanged``. A stream that can be opened only once is not sent again. The policy's
/// ``RetryPolicy/elapsedLimit`` does not apply, because an upload may last for hours. ``RequestConfiguration/deadline`` applies.
///
/// Some redirects turn the request into a GET without a body (301 and 302 for a POST, 303). They fail as
/// ``RequestError/Code/unacceptableStatus``, unless ``RedirectPolicy/allowsMethodChange`` allows them.
///
/// ## tus
///
/// With ``UploadProtocol/tus``, the URL is where the server creates uploads. An attempt makes several requests:
///
/// 1. OPTIONS asks what the server can do, once for each operation. The server need not answer.
/// 2. POST creates the upload. If the server supports that, up to 8 MiB of the body go with this request.
/// 3. HEAD asks for the offset, after each failure, after a conflict (409) or a wrong checksum (460), and for an upload of an
///    earlier operation.
/// 4. PATCH sends bytes, until the server has them all.
///
/// If the server no longer has the upload (404, 410, or 403 for one that has expired), the operation creates a new one. The
/// server may also refuse the upload of an earlier operation in another way. When the retry policy gives up, the operation then
/// creates a new one, once. A busy server (408, 423, 425, 429, 502 to 504) does not count as a refusal. The side file of the
/// earlier operation stays until the server has created another upload. ``RequestEvent/Step/uploadRefused(status:)`` reports the
/// refusal.
///
/// All requests have the fields of the processed request. Credentials among them go to the server's origin only. The value comes
/// from the last response, which usually has no body.
///
/// An attempt that makes progress restarts the count of retries and the backoff. If a creation fails, the next one has no bytes.
/// So a connection that keeps breaking does not send the first bytes again each time.
///
/// A retry is always safe. So adapters, events and the retry policy see the method PUT. The policy also retries the statuses 409,
/// 423 (another request still holds the upload) and 460. An error of a transfer names the request that failed. Other errors, and
/// the operation's description, have `tus upload` instead of a method. The limits of an attempt cover all its requests together,
/// except for the idle limit.
///
/// An upload that is larger than the server accepts (`Tus-Max-Size`) fails with ``RequestError/Code/bodyTooLarge``.
///
/// ## Subclassing
///
/// All stages of ``URLRequestOperation`` can be overridden. An override of ``makeTask(for:)`` must return the task of `super`,
/// which it may change except for its body and its execution.
// Unchecked, as its superclass is. This class adds an upload that only an initialiser replaces.
open class UploadOperation<Value: Sendable>: URLRequestOperation<Value>, @unchecked Sendable {
    private var upload: Upload

    /// Makes an operation that uploads a body.
    ///
    /// - Parameters:
    ///   - body: Bytes, a file or a stream. A stream for ``UploadProtocol/tus`` needs a length and must be reopenable.
    ///   - request: The request. Each attempt is processed from it. Its own body is ignored.
    ///   - uploadProtocol: How the body gets to the server. ``UploadProtocol/plain`` by default.
    ///   - decoder: Makes the value from the last response.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public init(
        _ body: RequestBody, to request: URLRequest, by uploadProtocol: UploadProtocol = .plain,
        decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) {
        upload = Upload(.body(body), to: request.url, by: uploadProtocol)
        super.init(
            upload.adjusted(request), decoder: decoder,
            configuration: uploadProtocol.adjusted(configuration.withoutElapsedLimit.requiringBody))
        if upload.tus != nil { runner.requestState.withLock { $0.work = .tus } }
    }

    /// Makes an operation that uploads a form.
    ///
    /// - Parameters:
    ///   - form: The form.
    ///   - request: The request. Each attempt is processed from it. Its own body is ignored.
    ///   - uploadProtocol: How the form gets to the server. ``UploadProtocol/plain`` by default. ``UploadProtocol/tus`` fails
    ///     as ``RequestError/Code/unsupported``.
    ///   - decoder: Makes the value from the response.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public convenience init(
        _ form: MultipartFormData, to request: URLRequest, by uploadProtocol: UploadProtocol = .plain,
        decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) {
        let upload = Upload(.form(form), to: request.url, by: uploadProtocol)
        self.init(
            RequestBody.none, to: upload.adjusted(request), by: uploadProtocol, decoder: decoder,
            configuration: configuration)
        self.upload = upload
    }

    /// Where the upload is on the server, with ``UploadProtocol/tus``. `nil` before it is created, and with any other protocol.
    ///
    /// Anyone with this URL can usually change the upload, so treat it like a password.
    public final var uploadURL: URL? { upload.tus?.url }

    /// Cancels the operation, and asks the server to remove the upload by tus (the extension `termination`).
    ///
    /// You can call this at any time, even after the end. An operation that was not started removes the upload of an earlier
    /// operation, if a side file names it (``UploadResumption/acrossProcesses``). The request has the fields of the original
    /// request as ``process(_:)`` makes it, and is retried as the configuration says.
    ///
    /// - Returns: Whether there was an upload. `false` with any other protocol.
    /// - Throws: A ``RequestError``, for instance if the server does not support the removal, or `CancellationError`.
    @discardableResult
    public final func terminate() async throws -> Bool {
        cancel()
        guard let tus = upload.tus, let url = try await tus.knownURL() else { return false }
        // Each attempt processes the request of the upload anew.
        let adapter = RequestAdapter { [self] _ in
            try TusRequests(from: try await process(begunRequest()), self.configuration).termination(of: url)
        }
        var configuration = self.configuration
        configuration.adapters = [adapter]
        let termination = URLRequestOperation(URLRequest(url, .delete), decoder: .void, configuration: configuration)
        OperationQueue().addOperation(termination)
        var wasThere = true
        do {
            try await termination.value
        } catch let error as RequestError where [404, 410].contains(error.head?.status) {
            wasThere = false
        }
        try await tus.end()
        return wasThere
    }

    // MARK: Stages

    /// Gives the request its method, and runs the adapters.
    open override func process(_ request: URLRequest) async throws -> URLRequest {
        // A hook or a retry decision may have replaced the request.
        try await super.process(upload.adjusted(request))
    }

    /// Makes the task that sends the body, or its missing bytes.
    open override func makeTask(for request: URLRequest) async throws -> TransportTask {
        try await upload.task(for: request, configuration)
    }

    /// Makes the value from the last response.
    open override func decode(_ response: TransportResponse) async throws -> Value {
        try await upload.tus?.end()
        return try await super.decode(response)
    }

    /// Asks the retry policy. If an upload by tus made progress, the failure counts as the first one. An upload of an earlier
    /// operation that is refused for good is created anew, once.
    open override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        guard let tus = upload.tus else { return await super.retryDecision(after: failure) }
        let hasGrown = tus.hasGrown
        var decision = await super.retryDecision(after: hasGrown ? failure.asFirst : failure)
        if hasGrown { decision = decision.restarting }
        guard case .stop = decision, let head = failure.head, tus.beginsAnew(after: head) else { return decision }
        runner.emit(.uploadRefused(status: head.status))
        return .retry(after: .zero)
    }

    final override var isProcessedByAdapters: Bool {
        type(of: self) == UploadOperation<Value>.self
    }
}

extension UploadProtocol {
    /// A conflict is over soon. Then the upload continues.
    fileprivate func adjusted(_ configuration: RequestConfiguration) -> RequestConfiguration {
        guard case .tus = kind else { return configuration }
        var configuration = configuration
        configuration.retryPolicy.statuses.formUnion([409, 423, 460])
        return configuration
    }
}

extension UploadOperation {
    /// Makes an operation that uploads a body to a URL. The method is PUT by default. ``UploadProtocol/tus`` has its own. See
    /// the other initialiser for the other parameters.
    public convenience init(
        _ body: RequestBody, to url: URL, method: HTTPMethod = .put, by uploadProtocol: UploadProtocol = .plain,
        decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) {
        self.init(
            body, to: URLRequest(url, method), by: uploadProtocol, decoder: decoder, configuration: configuration)
    }

    /// Makes an operation that uploads a form to a URL. The method is POST by default. See the other initialiser for the
    /// other parameters.
    public convenience init(
        _ form: MultipartFormData, to url: URL, method: HTTPMethod = .post,
        by uploadProtocol: UploadProtocol = .plain, decoder: ResponseDecoder<Value>,
        configuration: RequestConfiguration = .default
    ) {
        self.init(
            form, to: URLRequest(url, method), by: uploadProtocol, decoder: decoder, configuration: configuration)
    }
}

extension UploadOperation where Value == Data {
    /// Makes an operation that uploads a body, and whose value is the body of the response.
    public convenience init(
        _ body: RequestBody, to request: URLRequest, by uploadProtocol: UploadProtocol = .plain,
        configuration: RequestConfiguration = .default
    ) {
        self.init(body, to: request, by: uploadProtocol, decoder: .data, configuration: configuration)
    }

    /// Makes an operation that uploads a body to a URL, and whose value is the body of the response.
    public convenience init(
        _ body: RequestBody, to url: URL, method: HTTPMethod = .put, by uploadProtocol: UploadProtocol = .plain,
        configuration: RequestConfiguration = .default
    ) {
        self.init(
            body, to: url, method: method, by: uploadProtocol, decoder: .data, configuration: configuration)
    }

    /// Makes an operation that uploads a form, and whose value is the body of the response.
    public convenience init(
        _ form: MultipartFormData, to request: URLRequest, by uploadProtocol: UploadProtocol = .plain,
        configuration: RequestConfiguration = .default
    ) {
        self.init(form, to: request, by: uploadProtocol, decoder: .data, configuration: configuration)
    }

    /// Makes an operation that uploads a form to a URL, and whose value is the body of the response.
    public convenience init(
        _ form: MultipartFormData, to url: URL, method: HTTPMethod = .post,
        by uploadProtocol: UploadProtocol = .plain, configuration: RequestConfiguration = .default
    ) {
        self.init(
            form, to: url, method: method, by: uploadProtocol, decoder: .data, configuration: configuration)
    }
}

extension URLRequest {
    fileprivate init(_ url: URL, _ method: HTTPMethod) {
        self.init(url: url)
        httpMethod = method.rawValue
    }
}

/// How an upload gets to the server.
public struct UploadProtocol: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case plain(expectsContinue: Bool, isChunked: Bool)
        case tus(TusOptions)
    }

    let kind: Kind

    /// One request has the whole body. Each attempt sends it from its first byte. The default.
    public static let plain = plain()

    /// One request has the whole body. Each attempt sends it from its first byte.
    ///
    /// - Parameters:
    ///   - expectsContinue: Whether the request asks the server first (`Expect: 100-continue`, RFC 9110, section 10.1.1). A
    ///     server that refuses the request then does so before it gets the body. `false` by default. ``CurlTransport`` asks for
    ///     bodies of more than 1 MiB in any case. HTTP/2 does not need it.
    ///   - isChunked: Whether the body is sent in chunks, without `Content-Length`, even if its length is known. `false` by
    ///     default. ``URLSessionTransport`` sends a length anyway.
    public static func plain(expectsContinue: Bool = false, isChunked: Bool = false) -> Self {
        Self(kind: .plain(expectsContinue: expectsContinue, isChunked: isChunked))
    }

    /// The server speaks tus 1.0 (https://tus.io). An attempt continues after the last byte that the server has.
    public static let tus = tus()

    /// The server speaks tus 1.0 (https://tus.io). An attempt continues after the last byte that the server has.
    ///
    /// - Parameters:
    ///   - resumption: When the upload resumes. ``UploadResumption/betweenAttempts`` by default.
    ///   - chunkSize: The most bytes of one request. Less than 1 counts as 1. With `nil`, the default, one request has all
    ///     remaining bytes, or at most 8 MiB if they are verified.
    ///   - metadata: What describes the upload to the server (`Upload-Metadata`). A key must be a non-empty text in ASCII without
    ///     spaces and commas. `nil`, the default, means the name and the media type of a file, as `filename` and `filetype`.
    ///   - isVerified: Whether each request has the SHA-256 digest of its bytes, if the server can check it. `true` by
    ///     default. The bytes are then read twice.
    public static func tus(
        resume resumption: UploadResumption = .betweenAttempts, chunkSize: Int64? = nil,
        metadata: [String: String]? = nil, isVerified: Bool = true
    ) -> Self {
        Self(
            kind: .tus(
                TusOptions(
                    resumption: resumption, chunkSize: chunkSize.map { max($0, 1) }, metadata: metadata,
                    isVerified: isVerified)))
    }
}

/// What the caller wants of an upload by tus.
struct TusOptions: Sendable, Hashable {
    var resumption = UploadResumption.betweenAttempts
    /// The most bytes of one request; `nil` means no limit.
    var chunkSize: Int64?
    var metadata: [String: String]?
    var isVerified = true
}

/// When an upload by tus resumes after the bytes that the server has.
public struct UploadResumption: Sendable, Hashable {
    enum Scope: Sendable, Hashable {
        case attempts
        case processes(record: URL?)
    }

    let scope: Scope

    /// A retry of the operation continues after the last byte that the server has. The default.
    public static let betweenAttempts = Self(scope: .attempts)

    /// A later operation resumes too, even in another process, if the file is the same.
    ///
    /// The URL of the upload is kept in a side file in the folder of the file that is uploaded. Its hidden name begins with
    /// `.RequestOperations-`. The side file has the size and the modification date of the file, too. If either has changed, or if
    /// the server no longer has the upload, the upload begins anew. A success removes the side file.
    ///
    /// Bytes in memory have no folder, and a stream cannot be recognised later. For them, this means ``betweenAttempts``.
    public static let acrossProcesses = Self(scope: .processes(record: nil))

    /// A later operation resumes, as with ``acrossProcesses``. You choose the place of the side file.
    ///
    /// Bytes in memory are recognised by their digest.
    ///
    /// - Parameter record: The side file. Two uploads must not have the same one. Its folder must exist.
    public static func acrossProcesses(record: URL) -> Self { Self(scope: .processes(record: record)) }
}
