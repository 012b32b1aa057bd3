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

/// An operation that is a request of a client. The call has what it shares with the other kinds of them.
protocol ClientRequest: AnyObject {
    var call: ClientCall { get }
}

extension ClientRequest {
    /// Whether the operation is one of a client's.
    func belongs(to client: RequestClient) -> Bool { call.reporter.client === client }
}

extension ClientCall {
    /// The request to process: the one of an earlier attempt, or after the request hooks.
    ///
    /// - Parameters:
    ///   - request: The original request of the operation.
    ///   - operation: The operation.
    func request<Value: Sendable>(
        from request: URLRequest, for operation: URLRequestOperation<Value>
    ) async throws -> URLRequest {
        guard let begun = try await begin(request, isMember: operation.isMember) else { return request }
        operation.runner.requestState.withLock { $0.original.replace(with: begun) }
        return begun
    }

    /// Takes in the response, and lets the hooks change it.
    func response(_ response: TransportResponse, isMember: Bool) async throws -> TransportResponse {
        noteResponse(response)
        return try await hooked(response, isMember: isMember)
    }
}

extension AsynchronousOperation {
    /// Whether a batch, a chain or a group started the operation.
    var isMember: Bool { state.withLock { $0.isStartedAsMember } }
}

/// Tells the observers and the streams of a client about one submission.
final class SubmissionReporter: Sendable {
    let client: RequestClient
    private let line: CallbackLine
    private let log: ConsoleLog
    private let known = Locked<Submission?>(nil)

    init(_ client: RequestClient, on queue: DispatchQueue, _ log: ConsoleLog) {
        self.client = client
        self.log = log
        line = CallbackLine(on: queue)
    }

    /// The submission. It is there before anything happens to it.
    var submission: Submission? { known.withLock { $0 } }

    func attach(_ submission: Submission) {
        known.withLock { $0 = submission }
    }

    func report(_ event: RequestEvent) {
        log.line(event)
        client.streams.tell(event)
        if case .ended(let error) = event.step { return end(error) }
        guard !client.observers.isEmpty, let submission else { return }
        line.add { [client] in
            client.observers.tell(of: submission) { $0.submission(submission, didReport: event) }
        }
    }

    func end(_ error: (any Error)?) {
        guard let submission else { return }
        // It is freed outside of the lock.
        _ = client.table.withLock { $0.end(submission.id, isCancelled: error is CancellationError) }
        // Observers look into the operation.
        let operation = submission.operation
        line.end { [client] in
            client.observers.tell(of: submission) { $0.submission(submission, didEndWith: error) }
            client.observers.change { $0.remove(.submission(submission.id)) }
            withExtendedLifetime(operation) {}
        }
    }

    /// All completions have been added.
    func wasAnnounced() {
        line.add { [self] in calledBack() }
    }

    /// The operation is freed or never started.
    func forget() {
        guard let submission, client.table.withLock({ $0.end(submission.id, isCancelled: true) }) != nil else { return }
        client.observers.change { $0.remove(.submission(submission.id)) }
        calledBack()
    }

    private func calledBack() {
        guard let submission else { return }
        for answer in client.table.withLock({ $0.calledBack(submission.id) }) { answer.resume(with: .success(())) }
    }

    /// Calls back for a step.
    func callBack(_ call: @escaping @Sendable () -> Void) {
        line.add(call)
    }

    /// Calls a completion after the end.
    func callBackAfterEnd(_ completion: @escaping @Sendable () -> Void) {
        line.addCompletion(completion)
    }
}

/// Calls back for one request: one call at a time, in order, and the completions last. The queue may be concurrent.
final class CallbackLine: Sendable {
    typealias Call = @Sendable () -> Void

    private struct State {
        var line = TellingLine<Call>()
        /// The completions. `nil` once the end has come.
        var completions: [Call]? = []
    }

    private let state = Locked(State())
    private let queue: DispatchQueue

    init(on queue: DispatchQueue) {
        self.queue = queue
    }

    /// Adds the call for a step.
    func add(_ call: @escaping Call) {
        if state.withLock({ $0.line.add(call) }) { begin() }
    }

    /// Adds a completion. It is called after the end.
    func addCompletion(_ call: @escaping Call) {
        let begins = state.withLock { state in
            guard state.completions != nil else { return state.line.add(call) }
            state.completions?.append(call)
            return false
        }
        if begins { begin() }
    }

    /// Adds the call for the last step, and lets the completions follow.
    func end(_ call: @escaping Call) {
        let begins = state.withLock { state in
            let begins = state.line.add(call)
            for completion in state.completions.take() ?? [] { _ = state.line.add(completion) }
            return begins
        }
        if begins { begin() }
    }

    private func begin() {
        queue.async { [self] in
            while let call = state.withLock({ $0.line.next() }) { call() }
        }
    }
}

/// Writes lines about the requests of a client. They show no credentials.
struct ConsoleLog: Sendable {
    var isEnabled = false
    /// How many bytes of a body are shown.
    var bodySize = 0
    var write: @Sendable (String) -> Void = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }

    /// A line about a step, with a body if bodies are shown.
    func line(_ id: RequestID, _ text: @autoclosure () -> String, body: Data? = nil, type: String? = nil) {
        guard isEnabled else { return }
        var line = "request \(id): \(text())"
        if bodySize > 0, let body, !body.isEmpty { line += "\n" + shown(body, type) }
        write(line)
    }

    /// Writes the steps that are no secret and not too many.
    func line(_ event: RequestEvent) {
        switch event.step {
        case .attemptFailed, .redirected, .waits, .waitsForConnectivity, .abandoned, .ended:
            line(event.id, "\(event.step)")
        default: break
        }
    }

    /// The beginning of a body. Only forms and JSON can be shown without their credentials.
    private func shown(_ body: Data, _ type: String?) -> String {
        let type = type.flatMap(MediaType.init)
        let redaction = Redaction.default
        let whole: String?
        switch (type?.type, type?.subtype) {
        case ("application", "x-www-form-urlencoded"): whole = redaction.form(String(decoding: body, as: UTF8.self))
        case (_, let subtype?) where subtype == "json" || subtype.hasSuffix("+json"):
            whole = redaction.json(body).map { String(decoding: $0, as: UTF8.self) }
        default: whole = nil
        }
        guard let whole else { return "(\(body.count) bytes)" }
        guard whole.utf8.count > bodySize else { return whole }
        return String(decoding: whole.utf8.prefix(bodySize), as: UTF8.self) + "…"
    }
}
