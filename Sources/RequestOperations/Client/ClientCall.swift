/// What one request of a client has from its client. This is the part that does not depend on the type of its value.
final class ClientCall: Sendable {
    private enum Standing {
        case made
        /// The request hooks have run.
        case begun(isMember: Bool)
    }

    private struct State {
        var standing = Standing.made
        var isErrorMapped = false
    }

    let reporter: SubmissionReporter
    let log: ConsoleLog
    private let hooks: [RequestHook]
    /// The request, if it is started alone, and if a batch, a chain or a group starts it.
    private let alone: Result<PreparedRequest, any Error>
    private let member: Result<PreparedRequest, any Error>
    private let state = Locked(State())

    init(
        _ reporter: SubmissionReporter, _ hooks: [RequestHook], _ log: ConsoleLog,
        alone: Result<PreparedRequest, any Error>, member: Result<PreparedRequest, any Error>
    ) {
        self.reporter = reporter
        self.hooks = hooks
        self.log = log
        self.alone = alone
        self.member = member
    }

    /// The request before hooks, as far as it could be made.
    var initial: URLRequest? { (try? alone.get())?.request }

    /// The same request for an operation, which needs one. A request that cannot be made fails when it is processed.
    var initialOrNone: URLRequest { initial ?? URLRequest(url: URL(fileURLWithPath: "/")) }

    var submission: Submission? { reporter.submission }

    // MARK: The request

    /// Begins the request with its first attempt. Returns `nil` if it has begun.
    ///
    /// - Parameter isMember: Whether a batch, a chain or a group started it.
    /// - Throws: Why it cannot be made, or what a hook throws.
    func begin(isMember: Bool) async throws -> URLRequest? {
        guard case .made = state.withLock({ $0.standing }) else { return nil }
        if let submission {
            guard reporter.client.table.withLock({ $0.activate(submission.id) }) else {
                throw RequestError(.clientShutDown, stage: .process)
            }
        }
        var request = try (isMember ? member : alone).get().request
        for hook in hooks where hook.applies(toMember: isMember) {
            if case .request(let change) = hook.work, let submission { try await change(&request, submission) }
        }
        state.withLock { $0.standing = .begun(isMember: isMember) }
        noteRequest(request)
        return request
    }

    private var isMember: Bool {
        if case .begun(isMember: true) = state.withLock({ $0.standing }) { true } else { false }
    }

    /// Makes the body of an attempt. `nil` if the request has its body itself.
    func body() throws -> RequestBody? {
        try (isMember ? member : alone).get().makeBody?()
    }

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
    private func hooks(_ body: (RequestHook.Work, Submission) async throws -> Bool) async rethrows {
        guard !hooks.isEmpty, let submission else { return }
        let isMember = isMember
        for hook in hooks where hook.applies(toMember: isMember) {
            if try await body(hook.work, submission) { return }
        }
    }

    func hooked(_ response: TransportResponse) async throws -> TransportResponse {
        var hooked = response
        try await hooks { work, submission in
            if case .response(let change) = work { hooked = try await change(hooked, submission) }
            return false
        }
        return hooked
    }

    func note(_ failure: AttemptFailure) async {
        await hooks { work, submission in
            if case .attempt(let note) = work { await note(failure, submission) }
            return false
        }
    }

    func decision(afterSuccess value: any Sendable) async -> RetryDecision? {
        var decision: RetryDecision?
        await hooks { work, submission in
            if case .success(let decide) = work { decision = await decide(value, submission) }
            return decision != nil
        }
        return decision
    }

    /// The final error. Only the first error is mapped: a request may fail and pass its deadline at the same moment, and
    /// then only one of the two errors is its outcome.
    func mapped(_ error: any Error) -> any Error {
        let isFirst = state.withLock { state in
            defer { state.isErrorMapped = true }
            return !state.isErrorMapped
        }
        guard isFirst, let submission else { return error }
        let isMember = isMember
        return hooks.reduce(error) { error, hook in
            guard hook.applies(toMember: isMember), case .error(let map) = hook.work else { return error }
            return map(error, submission)
        }
    }
}

extension RequestError.Code {
    /// The ``RequestClient`` was shut down before the request began.
    public static let clientShutDown = Self("clientShutDown")
}
