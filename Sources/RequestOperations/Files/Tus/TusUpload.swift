/// An upload by tus 1.0, over all attempts of its operation.
final class TusUpload: Sendable {
    private struct State {
        /// `nil` until the first attempt.
        var protocolState: TusState?
        /// What the side file has.
        var kept: TusLocation?
        /// Whether the side file must stay away: the upload is complete, or was removed.
        var isOver = false
    }

    private let content: UploadContent
    private let options: TusOptions
    /// The identity of the place where the upload is created.
    private let server: String
    private let queue: DispatchQueue
    private let files: UnchangedFiles
    private let state = Locked(State())

    init(
        _ content: UploadContent, to url: URL?, _ options: TusOptions, on queue: DispatchQueue,
        _ files: UnchangedFiles
    ) {
        self.content = content
        self.options = options
        server = TusRecord.identity(of: url)
        self.queue = queue
        self.files = files
    }

    /// Where the upload is on the server, as far as this operation knows.
    var url: URL? { state.withLock { $0.protocolState?.location?.url } }

    // MARK: An attempt

    /// Sends what is missing, in as many requests as it takes. The last response is that of the attempt.
    ///
    /// - Parameters:
    ///   - task: The task of the attempt. Its request is the one that was processed.
    ///   - configuration: Says which fields go to the URL of the upload.
    ///   - onHead: Gets the head of the last response, and throws if it is not accepted.
    func perform(
        _ task: TransportTask, _ configuration: RequestConfiguration, over transport: any Transport,
        _ onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let bytes = try await prepare()
        let requests = TusRequests(from: task.request, configuration)
        let number = try change { $0.beginAttempt() }
        while true {
            let step = try await queue.run { [self] in
                try files.check()
                return try change(in: number) { $0.nextStep() }
            }
            let next = try await self.task(for: step, of: bytes, from: task, requests)
            let judged = Locked(TusState.Verdict.goesOn)
            let response: TransportResponse
            do {
                response = try await transport.perform(next) { [self] head in
                    // The operation repeats a creation as a POST, wherever a redirect leads. The caller must allow it.
                    if case .create = step, configuration.redirects.target(of: head) != nil {
                        try configuration.redirects.checkMethodChange(by: head, of: "POST")
                    }
                    let verdict = try change(in: number) { try $0.receive(head, to: step) }
                    judged.withLock { $0 = verdict }
                    guard verdict != .goesOn else { return }
                    try onHead(head)
                    // The validation may accept any status, but the upload goes no further.
                    guard verdict == .complete else {
                        throw RequestError(.unacceptableStatus, stage: .validate, head: head)
                    }
                }
            } catch {
                // It is one of several requests of the attempt.
                throw error.ofPart(next.request)
            }
            guard judged.withLock({ $0 }) == .goesOn else {
                // If a file changed while its last bytes were sent, the server has old and new bytes mixed.
                try await queue.run { [files] in try files.check(isSent: true) }
                return response
            }
            try await keepLocation()
            // Bytes that were there before count for the progress, too.
            if case .ask = step, let listener = task.onProgress, let offset = try change({ $0.offset }) {
                listener(TransferProgress().ofUpload(from: offset, of: bytes.count))
            }
        }
    }

    /// Finds out what there is to send, and what an earlier operation has sent, before the first attempt.
    private func prepare() async throws -> UploadBytes {
        try await queue.run { [self] in
            let bytes = try UploadBytes(content)
            guard state.withLock({ $0.protocolState }) == nil else { return bytes }
            // Otherwise the upload would be created, and nothing could resume it.
            if let place, access(URL(fileURLWithPath: place).deletingLastPathComponent().path, W_OK) != 0 {
                throw RequestError.fileFailed("kept beside the file")
            }
            let record = try storedRecord()
            state.withLock { state in
                state.kept = record?.location
                state.protocolState = TusState(size: bytes.count, options: options, resuming: record?.location)
            }
            return bytes
        }
    }

    /// Whether the attempt found that the server has more bytes than ever.
    var hasGrown: Bool { state.withLock { $0.protocolState?.hasGrown ?? false } }

    /// What a server answers while it is busy. The upload of an earlier operation still counts then.
    private static let passingStatuses: Set<Int> = [408, 423, 425, 429, 502, 503, 504]

    /// Whether the upload is created anew after a final failure: once, if it is that of an earlier operation and was refused.
    ///
    /// The side file of that one stays until another upload is created. The credentials may be at fault.
    func beginsAnew(after head: ResponseHead) -> Bool {
        !Self.passingStatuses.contains(head.status)
            && state.withLock { $0.protocolState?.dropRemembered() ?? false }
    }

    /// Changes the state, unless the attempt was left behind.
    private func change<Result>(
        in attempt: Int? = nil, _ body: (inout TusState) throws -> Result
    ) throws -> Result {
        try state.withLock { state in
            // `prepare()` has made it.
            guard var protocolState = state.protocolState, attempt.map(protocolState.isRunning) ?? true else {
                throw CancellationError()
            }
            defer { state.protocolState = protocolState }
            return try body(&protocolState)
        }
    }

    private func task(
        for step: TusState.Step, of bytes: UploadBytes, from task: TransportTask, _ requests: TusRequests
    ) async throws -> TransportTask {
        var next = task
        next.execution = .standard
        next.body = .none
        next.onProgress = nil
        let part: Range<Int64>
        switch step {
        case .discover:
            next.request = requests.discovery
            return next
        case .ask(let url):
            next.request = try requests.question(about: url)
            return next
        case .create(let first):
            part = first
            next.request = requests.creation(size: bytes.count, metadata: try metadata, hasBytes: !part.isEmpty)
        case .send(let rest, let url, let isVerified):
            part = rest
            let digest = isVerified ? try await bytes.digest(of: part) : nil
            next.request = try requests.part(of: url, from: part.lowerBound, digest: digest)
        }
        // Even an empty body has a length.
        next.body = part.isEmpty ? .data(Data()) : bytes.body(part)
        if let listener = task.onProgress, !part.isEmpty {
            next.onProgress = { listener($0.ofUpload(from: part.lowerBound, of: bytes.count)) }
        }
        return next
    }

    private var metadata: String? {
        get throws {
            if let metadata = options.metadata { return try TusRequests.metadata(metadata) }
            guard let file = content.files.first else { return nil }
            return try TusRequests.metadata([
                "filename": file.lastPathComponent, "filetype": MIMEType.ofFile(named: file.lastPathComponent),
            ])
        }
    }

    // MARK: The side file

    /// The path of the side file; `nil` if no other operation may resume the upload.
    private var place: String? {
        guard case .processes(let record) = options.resumption.scope, case .body(let body) = content else { return nil }
        return switch body {
        case .file(let file): (record ?? TusRecord.place(beside: file, for: server)).path
        case .data: record?.path
        case .none, .stream: nil
        }
    }

    /// What is uploaded, as the side file names it. Called on the queue.
    private var source: TusRecord.Source? {
        get throws {
            switch content {
            case .body(.file(let file)): .file(try FileStamp(of: file))
            case .body(.data(let data)): .data(digest: SHA2.digest(of: data))
            case .body, .form: nil
            }
        }
    }

    /// What the side file says, if it is about the same bytes. Called on the queue.
    private func storedRecord() throws -> TusRecord? {
        guard let place, let source = try source, let record = TusRecord(at: place), record.fits(server, source)
        else { return nil }
        return record
    }

    /// Writes the side file if the upload has another URL, or another time to expire.
    private func keepLocation() async throws {
        guard let place else { return }
        try await queue.run { [self] in
            let (location, kept, isOver) = state.withLock { ($0.protocolState?.location, $0.kept, $0.isOver) }
            // The record of an upload that is gone stays until there is another: the creation may fail.
            guard let location, location != kept, !isOver, let source = try source else { return }
            try TusRecord(server: server, source: source, location: location).write(to: place)
            state.withLock { $0.kept = location }
        }
    }

    /// Called when the server has all bytes, or has removed the upload. Removes the side file.
    func end() async throws {
        guard let place else { return }
        try await queue.run { [self] in
            unlink(place)
            state.withLock { state in
                state.kept = nil
                state.isOver = true
            }
        }
    }

    /// The URL of the upload, of this operation or an earlier one.
    func knownURL() async throws -> URL? {
        if let url { return url }
        return try await queue.run { [self] in try storedRecord()?.location.url }
    }
}

extension Error {
    /// The same error, which names the request that failed.
    fileprivate func ofPart(_ request: URLRequest) -> any Error {
        switch self {
        case let error as RequestError: return error.ofPart(request)
        case var failure as TransferFailure:
            failure.error = failure.error.ofPart(request)
            return failure
        default: return self
        }
    }
}

/// The side file of an upload by tus. A later operation resumes with it.
struct TusRecord: SideFile, Sendable, Hashable {
    static let kind = "upload"

    /// What is uploaded. If it changes, the upload begins anew.
    enum Source: Sendable, Hashable, Codable {
        /// A file with this size and modification date.
        case file(FileStamp)
        /// Bytes with this SHA-256 digest.
        case data(digest: Data)
    }

    /// A digest of the URL where the upload was created, because a URL may hold secrets.
    let server: String
    let source: Source
    /// The URL of the upload is like a password for it, so only the owner may read the side file.
    let location: TusLocation

    static let suffix = ".upload"

    /// The identity of the URL where an upload is created.
    static func identity(of url: URL?) -> String { SHA2.digest(of: url?.absoluteString ?? "").hexadecimal }

    /// The place of the side file of a file: a hidden name beside it, for each place where it is uploaded to.
    static func place(beside file: URL, for server: String) -> URL {
        let name = SHA2.digest(of: "upload\n\(file.lastPathComponent)\n\(server)").hexadecimal.prefix(32)
        return file.deletingLastPathComponent().appendingPathComponent(HiddenFile.prefix + name + suffix)
    }

    /// Whether an upload can resume with this record.
    func fits(_ server: String, _ source: Source, now: Date = Date()) -> Bool {
        server == self.server && source == self.source && location.expires.map { $0 > now } ?? true
    }
}
