/// A request of a ``RequestClient``.
// Unchecked for the same reason as the superclass: the state of this class never changes.
final class ClientOperation<Value: Sendable>: URLRequestOperation<Value>, ClientRequest, @unchecked Sendable {
    let call: ClientCall

    init(_ call: ClientCall, decoder: ResponseDecoder<Value>, _ configuration: RequestConfiguration) {
        self.call = call
        super.init(call.initialOrPlaceholder, decoder: decoder, configuration: configuration)
    }

    deinit {
        // One that was never started has not ended.
        call.reporter.forget()
    }

    /// The call got the value of another operation, so this one is never started.
    func drop() { call.reporter.forget() }

    override var isProcessedByAdapters: Bool { true }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        try await super.process(try await call.request(from: request, for: self))
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        let body = try call.body(of: request, from: self.request, isMember: isMember)
        var task = body.map { TransportTask.upload(request, from: $0) } ?? .data(request)
        if call.isUpload(isMember: isMember) { task.isUpload = true }
        call.noteTask(task, attempts.last?.number ?? 1)
        return task
    }

    override func decode(_ response: TransportResponse) async throws -> Value {
        try await super.decode(try await call.response(response, isMember: isMember))
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await call.note(failure, isMember: isMember)
        return await super.retryDecision(after: failure)
    }

    override func retryDecision(afterSuccess value: Value, attempt: Int) async -> RetryDecision? {
        await call.decision(afterSuccess: value, isMember: isMember)
    }

    override func finalError(_ error: any Error) -> any Error {
        call.mapped(error, isMember: isMember)
    }

    override func wasAnnounced() { call.reporter.wasAnnounced() }

    override func callBack(_ call: @escaping @Sendable () -> Void) {
        self.call.reporter.callBack(call)
    }

    override func callBackAfterEnd(_ call: @escaping @Sendable () -> Void) {
        self.call.reporter.callBackAfterEnd(call)
    }
}

/// A download of a ``RequestClient``.
// Unchecked for the same reason as the superclass: the state of this class never changes.
final class ClientDownload: DownloadOperation, ClientRequest, @unchecked Sendable {
    let call: ClientCall

    init(
        _ call: ClientCall, to destination: DownloadDestination, ifExists: ExistingFilePolicy,
        resume resumption: DownloadResumption, segments: Int, checksum: FileDigest?,
        _ configuration: RequestConfiguration
    ) {
        self.call = call
        super.init(
            call.initialOrPlaceholder, to: destination, ifExists: ifExists, resume: resumption, segments: segments,
            checksum: checksum, configuration: configuration)
    }

    deinit {
        // One that was never started has not ended.
        call.reporter.forget()
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        try await super.process(try await call.request(from: request, for: self))
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        var task = try await super.makeTask(for: request)
        if let body = try call.body(of: request, from: self.request, isMember: isMember) { task.body = body }
        call.noteTask(task, attempts.last?.number ?? 1)
        return task
    }

    override func decode(_ response: TransportResponse) async throws -> DownloadedFile {
        try await super.decode(try await call.response(response, isMember: isMember))
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await call.note(failure, isMember: isMember)
        return await super.retryDecision(after: failure)
    }

    override func retryDecision(afterSuccess value: DownloadedFile, attempt: Int) async -> RetryDecision? {
        await call.decision(afterSuccess: value, isMember: isMember)
    }

    override func finalError(_ error: any Error) -> any Error { call.mapped(error, isMember: isMember) }

    override func wasAnnounced() { call.reporter.wasAnnounced() }

    override func callBack(_ call: @escaping @Sendable () -> Void) { self.call.reporter.callBack(call) }

    override func callBackAfterEnd(_ call: @escaping @Sendable () -> Void) {
        self.call.reporter.callBackAfterEnd(call)
    }
}

/// An upload of a ``RequestClient`` by a protocol.
// Unchecked for the same reason as the superclass: the state of this class never changes.
final class ClientUpload<Value: Sendable>: UploadOperation<Value>, ClientRequest, @unchecked Sendable {
    let call: ClientCall

    init(
        _ call: ClientCall, _ body: RequestBody, by uploadProtocol: UploadProtocol, decoder: ResponseDecoder<Value>,
        _ configuration: RequestConfiguration
    ) {
        self.call = call
        super.init(
            body, to: call.initialOrPlaceholder, by: uploadProtocol, decoder: decoder, configuration: configuration)
    }

    deinit {
        // One that was never started has not ended.
        call.reporter.forget()
    }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        try await super.process(try await call.request(from: request, for: self))
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        let task = try await super.makeTask(for: request)
        call.noteTask(task, attempts.last?.number ?? 1)
        return task
    }

    override func decode(_ response: TransportResponse) async throws -> Value {
        try await super.decode(try await call.response(response, isMember: isMember))
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await call.note(failure, isMember: isMember)
        return await super.retryDecision(after: failure)
    }

    override func retryDecision(afterSuccess value: Value, attempt: Int) async -> RetryDecision? {
        await call.decision(afterSuccess: value, isMember: isMember)
    }

    override func finalError(_ error: any Error) -> any Error { call.mapped(error, isMember: isMember) }

    override func wasAnnounced() { call.reporter.wasAnnounced() }

    override func callBack(_ call: @escaping @Sendable () -> Void) { self.call.reporter.callBack(call) }

    override func callBackAfterEnd(_ call: @escaping @Sendable () -> Void) {
        self.call.reporter.callBackAfterEnd(call)
    }
}
