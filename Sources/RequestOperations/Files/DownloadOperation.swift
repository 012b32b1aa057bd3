/// An operation that downloads a file, and resumes after a failure.
///
/// ```swift
/// let operation = DownloadOperation(url, to: .folder(downloads), ifExists: .uniqueName)
/// queue.addOperation(operation)
/// let file = try await operation.value  // file.url, file.size
/// ```
///
/// The bytes go to a hidden file beside the destination. They are never all in memory. The file gets its name when it is
/// complete: the response was accepted, and the length and all digests are right. So a part of a file or an error page never
/// appears under this name. Whatever the validation accepts, only a response with a status of 200 to 299 becomes the file. Before
/// the file gets its name, it is written to the disk (`fsync`).
///
/// ## Resuming
///
/// A retry requests the missing bytes (RFC 9110, section 14), if the first response had a strong validator. If the file has
/// changed, the server sends the whole new file. A response that does not fit the bytes so far is dropped, and the same attempt
/// requests the whole file. See ``DownloadResumption`` for downloads that outlive the process.
///
/// An attempt that makes progress restarts the count of retries and the backoff. The policy's ``RetryPolicy/elapsedLimit`` does
/// not apply, because a download may last for hours. ``RequestConfiguration/deadline`` applies.
///
/// ## Segments
///
/// With `segments: 4`, four parts of the file are downloaded at once. Each is a request with slots and retries of its own, in the
/// queue of the operation. The first request asks for the first MiB. If the server has no ranges or no strong validator, the
/// whole file comes in one response. A part is never smaller than 1 MiB. A later attempt or process resumes every part. The later
/// parts are in hidden files of their own, and are joined at the end. If the file changes meanwhile, the download begins again
/// without segments, once. A server may refuse a part (403, 404, 429), or send a whole response instead, while other parts
/// arrive. The download then goes on with fewer connections.
///
/// The requests for segments run ``process(_:)`` and ``validate(_:)-(ResponseHead)``, several at a time. They do not run the
/// other stages. Their events reach ``RequestConfiguration/onEvent`` under ids of their own.
///
/// ## Digests
///
/// The file must have the `checksum` that the caller gives. It must also have the SHA-256 or SHA-512 that the server names in
/// `Repr-Digest`. Each response must have the digest in its `Content-Digest` (RFC 9530). Otherwise the download fails with
/// ``RequestError/Code/digestMismatch``. A file of several parts is first downloaded again as a whole, once, if the retry policy
/// retries at all.
///
/// ## Subclassing
///
/// All stages of ``URLRequestOperation`` can be overridden. ``URLRequestOperation/validate(_:)-(TransportResponse)`` gets a
/// response whose ``TransportResponse/file`` is the complete file before it has its name. Its digests were checked. An override
/// of ``makeTask(for:)`` must return the task of `super`, which it may change except for its destination and its execution. When
/// an override of ``RetryingOperation/retryDecision(afterSuccess:attempt:)`` runs, the file is in its place. The file of another
/// attempt replaces it, whatever the policy for existing files, unless somebody changed it.
// Unchecked, as its superclass is. This class adds constants, and a source that only an initialiser replaces.
open class DownloadOperation: URLRequestOperation<DownloadedFile>, @unchecked Sendable {
    /// Where the request of an attempt comes from.
    enum Source: Sendable {
        case request
        /// The request was made before, or could not be made. Each attempt makes its body, unless the request has it.
        case prepared(Result<(@Sendable () throws -> RequestBody)?, any Error>)
        case provider(DownloadURLSource)
    }

    /// Where the request of an attempt comes from. An initialiser may replace it.
    final var source = Source.request
    private let download: Download

    /// Makes an operation that downloads the response to a request.
    ///
    /// Only a GET without a `Range` of its own is resumed. With any other request, each attempt begins at the first byte.
    ///
    /// - Parameters:
    ///   - request: The request. Each attempt is processed from it.
    ///   - destination: Where the file goes.
    ///   - ifExists: What happens if the destination already has a file. ``ExistingFilePolicy/fail`` by default.
    ///   - resumption: When the download resumes. ``DownloadResumption/betweenAttempts`` by default.
    ///   - segments: How many parts of the file are downloaded at once. 1 by default: the file comes in one response. A download
    ///     that is not resumed always comes in one response.
    ///   - checksum: The digest that the file must have. `nil`, the default, means any.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public init(
        _ request: URLRequest, to destination: DownloadDestination, ifExists: ExistingFilePolicy = .fail,
        resume resumption: DownloadResumption = .betweenAttempts, segments: Int = 1, checksum: FileDigest? = nil,
        configuration: RequestConfiguration = .default
    ) {
        download = Download(
            DownloadPlan(
                destination: destination, ifExists: ifExists, resumption: resumption, checksum: checksum,
                segments: segments))
        let decoder = ResponseDecoder<DownloadedFile> { response in
            throw RequestError(
                .unsupported, stage: .decode, head: response.head, reason: "the operation makes the value")
        }
        super.init(request, decoder: decoder, configuration: configuration.withoutElapsedLimit)
    }

    /// Makes an operation that downloads from a URL that a closure provides, such as a signed URL that expires.
    ///
    /// - Parameters:
    ///   - provider: Provides the URL. Called before the first attempt. Called again before a later attempt if the server has
    ///     refused the URL with 401, 403 or 410 after it served an earlier attempt. That attempt begins at once. An error that
    ///     the provider throws fails the attempt, in the stage `process`.
    ///   - destination: Where the file goes.
    ///   - ifExists: What happens if there is a file already. ``ExistingFilePolicy/fail`` by default.
    ///   - resumption: When the download goes on where it broke off. ``DownloadResumption/betweenAttempts`` by default.
    ///   - segments: How many parts of the file are downloaded at once. 1 by default.
    ///   - checksum: The digest that the file must have. `nil`, the default, means any.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public convenience init(
        from provider: @escaping @Sendable () async throws -> URL, to destination: DownloadDestination,
        ifExists: ExistingFilePolicy = .fail, resume resumption: DownloadResumption = .betweenAttempts,
        segments: Int = 1, checksum: FileDigest? = nil, configuration: RequestConfiguration = .default
    ) {
        // The request gets its URL from the provider. Until then it has one without a host. (The literal is a URL.)
        self.init(
            URL(string: "download:")!, to: destination, ifExists: ifExists, resume: resumption, segments: segments,
            checksum: checksum, configuration: configuration)
        source = .provider(DownloadURLSource(provider))
    }

    /// Makes an operation that gets a URL. See the other initialiser for the parameters.
    public convenience init(
        _ url: URL, to destination: DownloadDestination, ifExists: ExistingFilePolicy = .fail,
        resume resumption: DownloadResumption = .betweenAttempts, segments: Int = 1, checksum: FileDigest? = nil,
        configuration: RequestConfiguration = .default
    ) {
        self.init(
            URLRequest(url: url), to: destination, ifExists: ifExists, resume: resumption, segments: segments,
            checksum: checksum, configuration: configuration)
    }

    /// Lets a function choose the place of the file. Called before the operation is added to a queue.
    ///
    /// - Parameter choose: Called for each response that begins the file, or goes on with that of an earlier operation, before
    ///   its first byte is kept. It gets the head, the place that the destination means, and the length of the whole file, if
    ///   that is known. It returns a place in the same folder. An error that it throws fails the attempt.
    package final func choosePlace(
        _ choose: @escaping @Sendable (_ head: ResponseHead, _ place: URL, _ total: Int64?) throws -> URL
    ) {
        download.choice.withLock { $0 = choose }
    }

    // MARK: Stages

    /// Gets the URL from the provider, if there is one, and runs the adapters.
    open override func process(_ request: URLRequest) async throws -> URLRequest {
        var request = request
        switch source {
        case .request: break
        case .prepared(let prepared): _ = try prepared.get()
        case .provider(let source): request.url = try await source.url()
        }
        return try await super.process(request)
    }

    /// Makes the task that writes the file. The task requests the missing bytes.
    open override func makeTask(for request: URLRequest) async throws -> TransportTask {
        var request = request
        let attempt = try await download.begin(&request, subject: subject(of: request))
        var task = TransportTask(request)
        if case .prepared(let prepared) = source, let makeBody = try prepared.get() { task.body = try makeBody() }
        try participant?.complete(&task, from: self.request)
        // What counts is the file that arrives.
        task.isUpload = false
        // The destination is that of the task that is sent. It tells here that the body does not go to memory.
        task.destination = .stream { _ in }
        task.execution = .perform { task, transport, onHead in
            try await attempt.perform(task, over: transport, onHead)
        }
        return task
    }

    /// Accepts a head that passes the configuration's validation, or that says that nothing is left to send.
    open override func validate(_ head: ResponseHead) throws {
        // Status 416 is a success here if the file is complete.
        if head.status == 416, download.state.withLock({ $0.isComplete }) { return }
        try super.validate(head)
    }

    /// Puts the file in its place.
    open override func decode(_ response: TransportResponse) async throws -> DownloadedFile {
        try await download.publish(response.head)
    }

    /// Asks the retry policy, unless a new URL or a new beginning can help.
    open override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        // Segments have had their retries.
        let isFinal = [.failed, .changed].contains(download.state.withLock { $0.step })
        if configuration.retryPolicy.maximumRetries > 0 {
            let mayBeginAgain = download.state.withLock { $0.beginAgain(after: failure.code) }
            if mayBeginAgain || !isFinal && expireURL(after: failure, isOneOfSeveral: false) {
                return .retry(after: .zero)
            }
        }
        if isFinal { return .stop }
        // An attempt that made progress does not count as a failure of the download.
        guard await download.hasGrown() else { return await super.retryDecision(after: failure) }
        return await super.retryDecision(after: failure.asFirst).restarting
    }

    /// Whether a request was refused because the provided URL has expired. The next attempt then gets a new one.
    ///
    /// - Parameter isOneOfSeveral: Whether other requests use the URL at the same time. One of them may have replaced it.
    final func expireURL(after failure: AttemptFailure, isOneOfSeveral: Bool) -> Bool {
        if case .provider(let source) = source { source.expire(after: failure, isOneOfSeveral) } else { false }
    }

    /// What tells the file apart from others: the caller's key, or the URL before the adapters. The query of a provided URL
    /// changes.
    private func subject(of request: URLRequest) -> String {
        if case .processes(let key?) = download.plan.resumption.scope { return "key\n\(key)" }
        let isProvided = if case .provider = source { true } else { false }
        let url = isProvided ? request.url : self.request.url
        var components = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        components?.fragment = nil
        if isProvided { components?.query = nil }
        return components?.string ?? ""
    }

    // MARK: Calls from the superclass

    final override func transferSucceeded(_ response: TransportResponse) async throws {
        try await download.fetchMissing(for: self)
        try await download.verify(response.head)
    }

    final override var isProcessedByAdapters: Bool {
        type(of: self) == DownloadOperation.self
    }

    final override func willAnnounce(_ ending: OperationLifecycle.Ending) {
        download.end()
        super.willAnnounce(ending)
    }
}

extension RequestConfiguration {
    /// The same without the limit that counts from the first attempt. A transfer may last longer than it.
    var withoutElapsedLimit: RequestConfiguration {
        var configuration = self
        configuration.retryPolicy.elapsedLimit = nil
        return configuration
    }
}

/// Provides the URL of a download, and gets a new one when the server says that the URL has expired.
final class DownloadURLSource: Sendable {
    private let provide: @Sendable () async throws -> URL
    /// The URL, and whether it served an earlier attempt, so that it may expire.
    private let state = Locked<(url: URL, isUsed: Bool)?>(nil)

    /// The statuses with which servers refuse a signed URL that has expired.
    private static let refusals: Set<Int> = [401, 403, 410]

    init(_ provide: @escaping @Sendable () async throws -> URL) {
        self.provide = provide
    }

    /// The URL for an attempt.
    func url() async throws -> URL {
        let known = state.withLock { state in
            state?.isUsed = true
            return state?.url
        }
        if let known { return known }
        let url = try await provide()
        state.withLock { $0 = (url, isUsed: false) }
        return url
    }

    /// Forgets the URL if a refusal says that it has expired. Returns whether it does.
    ///
    /// - Parameter isOneOfSeveral: Whether another request may have replaced the URL meanwhile. Otherwise, the refusal of a new
    ///   URL says something else.
    func expire(after failure: AttemptFailure, _ isOneOfSeveral: Bool) -> Bool {
        guard failure.code == .unacceptableStatus, let head = failure.head, Self.refusals.contains(head.status) else {
            return false
        }
        return state.withLock { state in
            guard state?.isUsed == true else { return isOneOfSeveral }
            state = nil
            return true
        }
    }
}
