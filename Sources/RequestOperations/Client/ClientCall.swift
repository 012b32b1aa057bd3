/// What one request of a client has from its client. This is the part that does not depend on the type of its value.
final class ClientCall: Sendable {
    let reporter: SubmissionReporter
    let log: ConsoleLog
    private let hooks: [RequestHook]
    /// The request, if it is started alone, and if a batch, a chain or a group starts it.
    private let alone: Result<PreparedRequest, any Error>
    private let member: Result<PreparedRequest, any Error>
    /// The request of one that is started alone, before hooks. If it could not be made, this is a placeholder with the method
    /// and the base URL, for the errors, and the operation fails when it begins.
    let initialOrPlaceholder: URLRequest
    /// The method of the request after the request hooks. `nil` until they have run.
    private let begunMethod = Locked<String?>(nil)

    init(
        _ reporter: SubmissionReporter, _ hooks: [RequestHook], _ log: ConsoleLog,
        alone: Result<PreparedRequest, any Error>, member: Result<PreparedRequest, any Error>,
        orFailingAs placeholder: @autoclosure () -> URLRequest
    ) {
        self.reporter = reporter
        self.hooks = hooks
        self.log = log
        self.alone = alone
        self.member = member
        initialOrPlaceholder = (try? alone.get())?.request ?? placeholder()
    }

    /// The request of one that is started alone, as far as it could be made.
    var initiallyPrepared: PreparedRequest? { try? alone.get() }

    /// The same request before hooks.
    var initial: URLRequest? { initiallyPrepared?.request }

    var submission: Submission? { reporter.submission }

    // MARK: The request

    /// Begins the request with its first attempt. Returns `nil` if it has begun.
    ///
    /// - Parameters:
    ///   - request: The request of the operation. A retry decision may have replaced the one that was made.
    ///   - isMember: Whether a batch, a chain or a group started it.
    /// - Throws: Why it cannot be made, or what a hook throws. The next attempt then begins it again.
    func begin(_ request: URLRequest, isMember: Bool) async throws -> URLRequest? {
        if begunMethod.withLock({ $0 }) != nil { return nil }
        if let submission {
            guard reporter.client.table.withLock({ $0.activate(submission.id, isMember: isMember) }) else {
                throw RequestError(.clientShutDown, stage: .process)
            }
        }
        var begun = request.isSame(as: initialOrPlaceholder) ? try prepared(isMember).get().request : request
        for hook in hooks where hook.applies(toMember: isMember) {
            if case .request(let change) = hook.work, let submission { try await change(&begun, submission) }
        }
        // A stage that was left behind must not begin the request beside the next attempt.
        try Task.checkCancellation()
        begunMethod.withLock { $0 = begun.methodOrGet }
        noteRequest(begun)
        return begun
    }

    private func prepared(_ isMember: Bool) -> Result<PreparedRequest, any Error> { isMember ? member : alone }

    /// Makes the body of an attempt. `nil` if the request has its body itself, or if it has another method than it began
    /// with: a retry decision has replaced it by one without a body.
    ///
    /// - Parameters:
    ///   - request: The processed request.
    ///   - original: The one before.
    ///   - isMember: Whether a batch, a chain or a group started it.
    func body(of request: URLRequest, from original: URLRequest, isMember: Bool) throws -> RequestBody? {
        guard request.httpBody == nil, request.httpBodyStream == nil else { return nil }
        if let method = begunMethod.withLock({ $0 }), method != original.methodOrGet { return nil }
        return try (try? prepared(isMember).get())?.makeBody?()
    }

    func isUpload(isMember: Bool) -> Bool { (try? prepared(isMember).get())?.isUpload ?? false }

    private func noteRequest(_ request: URLRequest) {
        guard log.isEnabled, let id = submission?.id else { return }
        log.line(
            id, Redaction.line(of: request), body: request.httpBody,
            type: request.value(forHTTPHeaderField: "Content-Type"))
    }

    func noteTask(_ task: TransportTask, _ attempt: Int) {
        guard log.isEnabled, let id = submission?.id else { return }
        log.line(id, "attempt \(attempt): \(task)")
    }

    func noteResponse(_ response: TransportResponse) {
        guard log.isEnabled, let id = submission?.id else { return }
        log.line(id, "response: \(response)", body: response.body, type: response.head.field("Content-Type"))
    }

    // MARK: Hooks

    /// The hooks that apply, with what they are told.
    private func hooks(
        _ isMember: Bool, _ body: (RequestHook.Work, Submission) async throws -> Bool
    ) async rethrows {
        guard !hooks.isEmpty, let submission else { return }
        for hook in hooks where hook.applies(toMember: isMember) {
            if try await body(hook.work, submission) { return }
        }
    }

    func hooked(_ response: TransportResponse, isMember: Bool) async throws -> TransportResponse {
        var hooked = response
        try await hooks(isMember) { work, submission in
            if case .response(let change) = work { hooked = try await change(hooked, submission) }
            return false
        }
        return hooked
    }

    func note(_ failure: AttemptFailure, isMember: Bool) async {
        await hooks(isMember) { work, submission in
            if case .attempt(let note) = work { await note(failure, submission) }
            return false
        }
    }

    func decision(afterSuccess value: any Sendable, isMember: Bool) async -> RetryDecision? {
        var decision: RetryDecision?
        await hooks(isMember) { work, submission in
            if case .success(let decide) = work { decision = await decide(value, submission) }
            return decision != nil
        }
        return decision
    }

    /// The final error.
    func mapped(_ error: any Error, isMember: Bool) -> any Error {
        guard !hooks.isEmpty, let submission else { return error }
        return hooks.reduce(error) { error, hook in
            guard hook.applies(toMember: isMember), case .error(let map) = hook.work else { return error }
            return map(error, submission)
        }
    }
}

extension URLRequest {
    /// The method, which is GET if it is not set.
    fileprivate var methodOrGet: String { httpMethod ?? "GET" }

    /// Whether two requests are the same in all that a retry decision replaces. On Linux, `==` ignores fields and bodies.
    fileprivate func isSame(as other: URLRequest) -> Bool {
        self == other && httpMethod == other.httpMethod && allHTTPHeaderFields == other.allHTTPHeaderFields
            && httpBody == other.httpBody && httpBodyStream === other.httpBodyStream
    }
}

extension RequestError.Code {
    /// The ``RequestClient`` was shut down before the request began.
    public static let clientShutDown = Self("clientShutDown")
}
