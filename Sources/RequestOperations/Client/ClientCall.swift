/// What a client does for one submission. It runs the hooks at the stages of the client's own requests, writes the log, and calls
/// observers, streams and completions.
final class ClientCall: RequestParticipant {
    typealias Call = @Sendable () -> Void

    private struct State {
        var hearsSteps = false
        /// The method after the request hooks, and the request before them. `nil` until the request begins.
        var begun: (method: String, prepared: PreparedRequest)?
        var callbacks = CallbackDelivery()
    }

    let client: RequestClient
    let submission: Submission
    private let settings: Box<ClientSettings>
    /// The request that is sent if it is started alone. `nil` for an operation that the client did not make.
    private let alone: PreparedRequest?
    /// Makes the request of a member of a batch, a chain or a group. `nil` if that request is the same.
    private let makeMember: (@Sendable () -> PreparedRequest)?
    private let state = Locked(State())

    init(
        of client: RequestClient, _ submission: Submission, _ settings: Box<ClientSettings>,
        alone: PreparedRequest? = nil, makeMember: (@Sendable () -> PreparedRequest)? = nil
    ) {
        self.client = client
        self.submission = submission
        self.settings = settings
        self.alone = alone
        self.makeMember = makeMember
    }

    /// Whether the client has made the operation.
    var isOfRequest: Bool { alone != nil }

    var callbackQueue: DispatchQueue { settings.value.callbackQueue }

    /// Records that the submission will run. Returns `false` if the client no longer accepts it.
    func activate(isMember: Bool = false) -> Bool {
        client.table.withLock { $0.activate(submission.id, isMember: isMember) }
    }

    // MARK: The request

    /// If a retry decision has replaced the original request, the replacement stays. If this throws, the next attempt begins the
    /// request again.
    func begin(_ request: URLRequest, isMember: Bool) async throws -> URLRequest? {
        guard let alone, state.withLock({ $0.begun == nil }) else { return nil }
        guard activate(isMember: isMember) else { throw RequestError(.clientShutDown, stage: .process) }
        let prepared = isMember ? makeMember?() ?? alone : alone
        let isReplaced =
            (prepared.problem != nil || isMember && makeMember != nil) && request.isSame(as: alone.request)
        if isReplaced, let problem = prepared.problem { throw problem }
        var begun = isReplaced ? prepared.request : request
        let hooks = hooks(isMember)
        for case .request(let change) in hooks { try await change(&begun, submission) }
        // A stage of an abandoned attempt must not begin the request while the next attempt runs.
        try Task.checkCancellation()
        let method = begun.httpMethod ?? "GET"
        state.withLock { $0.begun = (method, prepared) }
        logBody(of: "request", begun.httpBody, type: begun.value(forHTTPHeaderField: "Content-Type"))
        return isReplaced || !hooks.isEmpty ? begun : nil
    }

    /// A request with a body of its own keeps that body. A request whose method has changed gets no body, because a retry
    /// decision has replaced it.
    func complete(_ task: inout TransportTask, from original: URLRequest) throws {
        guard let (method, prepared) = state.withLock({ $0.begun }) else { return }
        if prepared.isUpload { task.isUpload = true }
        guard let makeBody = prepared.makeBody, task.request.httpBody == nil, task.request.httpBodyStream == nil,
            method == original.httpMethod ?? "GET"
        else { return }
        task.body = try makeBody()
        task.isUpload = true
    }

    private func logBody(of message: String, _ body: Data?, type: @autoclosure () -> String?) {
        let log = settings.value.log
        guard log.isEnabled, log.bodySize > 0, let body, !body.isEmpty else { return }
        log.body(body, type(), of: "\(submission.id), \(message)")
    }

    // MARK: Hooks

    private func hooks(_ isMember: Bool) -> [RequestHook.Work] {
        let hooks = settings.value.allHooks
        return hooks.isEmpty ? [] : hooks.filter { $0.applies(toMember: isMember) }.map(\.work)
    }

    func receive(_ response: TransportResponse, isMember: Bool) async throws -> TransportResponse {
        logBody(of: "response", response.body, type: response.head.field("Content-Type"))
        var response = response
        for case .response(let change) in hooks(isMember) { response = try await change(response, submission) }
        return response
    }

    func note(_ failure: AttemptFailure, isMember: Bool) async {
        for case .attempt(let note) in hooks(isMember) { await note(failure, submission) }
    }

    func decision(afterSuccess value: any Sendable, isMember: Bool) async -> RetryDecision? {
        for case .success(let decide) in hooks(isMember) {
            if let decision = await decide(value, submission) { return decision }
        }
        return nil
    }

    func finalError(_ error: any Error, isMember: Bool) -> any Error {
        var error = error
        for case .error(let map) in hooks(isMember) { error = map(error, submission) }
        return error
    }

    // MARK: Observers and callbacks

    /// Listens to the steps of a request from now on, if anyone observes them.
    func hearStepsIfWanted() {
        if settings.value.log.isEnabled || client.observers.wantSteps { hearSteps() }
    }

    func hearSteps() {
        guard let source = submission.operation as? any EventSource,
            state.withLock({ state in
                defer { state.hearsSteps = true }
                return !state.hearsSteps
            })
        else { return }
        source.listen { [self] in report($0) }
    }

    private func report(_ event: RequestEvent) {
        if settings.value.log.isEnabled, let source = submission.operation as? any EventSource {
            settings.value.log.line(event, source.attempts)
        }
        client.observers.sendToStreams(event)
        if case .ended(let error) = event.step { return end(error) }
        guard !client.observers.isEmpty else { return }
        callBack { [self] in
            client.observers.notify(about: submission) { $0.submission(submission, didReport: event) }
        }
    }

    func ended(with error: (any Error)?) {
        if let totals = settings.value.totals { count(error, in: totals) }
        // Otherwise the end comes after the other steps.
        if !state.withLock({ $0.hearsSteps }) { end(error) }
    }

    private func count(_ error: (any Error)?, in totals: Locked<TimelineSummary>) {
        let runner = (submission.operation as? any EventSource)?.runner
        if let timeline = runner?.timeline(RequestTimeline.Outcome(error)) { totals.withLock { $0.add(timeline) } }
    }

    private func end(_ error: (any Error)?) {
        let id = submission.id
        guard client.table.withLock({ $0.end(id, isCancelled: error is CancellationError) }) != nil else { return }
        guard !client.observers.isEmpty else { return endCallbacks() }
        // Observers look into the operation.
        let operation = submission.operation
        let last: Call = { [self] in
            client.observers.notify(about: submission) { $0.submission(submission, didEndWith: error) }
            client.observers.remove { $1 == .submission(id) }
            withExtendedLifetime(operation) {}
        }
        endCallbacks(last)
    }

    /// The calls are freed outside the lock, since their end may run the user's code.
    private func endCallbacks(_ last: Call? = nil) {
        let calls = state.withLock { $0.callbacks.end(last, on: callbackQueue) }
        withExtendedLifetime(calls) {}
    }

    func wasAnnounced() {
        let isSilent = state.withLock { $0.callbacks.isSilent }
        if isSilent { calledBack() } else { callBackAfterEnd { [self] in calledBack() } }
    }

    func forget() {
        let id = submission.id
        guard client.table.withLock({ $0.end(id, isCancelled: true) }) != nil else { return }
        client.observers.remove { $1 == .submission(id) }
        calledBack()
    }

    private func calledBack() {
        for answer in client.table.withLock({ $0.calledBack(submission.id) }) { answer.resume(with: .success(())) }
    }

    func callBack(_ call: @escaping Call) {
        state.withLock { $0.callbacks.add(call, on: callbackQueue) }
    }

    func callBackAfterEnd(_ completion: @escaping Call) {
        state.withLock { $0.callbacks.addCompletion(completion, on: callbackQueue) }
    }
}

/// The callbacks for one submission: one at a time, in order, with the completions last.
private struct CallbackDelivery {
    /// A serial queue above the queue of the client. `nil` until there is something to call.
    private var queue: DispatchQueue?
    /// The completions. `nil` once the end has come.
    private var completions: [ClientCall.Call]? = []

    /// Whether the end has come and there was nothing to call.
    var isSilent: Bool { queue == nil && completions == nil }

    /// Adds the call for a step.
    mutating func add(_ call: @escaping ClientCall.Call, on target: DispatchQueue) {
        let queue = self.queue ?? DispatchQueue(label: "RequestOperations.Submission", target: target)
        self.queue = queue
        queue.async(execute: call)
    }

    /// Adds a completion. It is called after the end.
    mutating func addCompletion(_ call: @escaping ClientCall.Call, on target: DispatchQueue) {
        if completions == nil { add(call, on: target) } else { completions?.append(call) }
    }

    /// Adds the call for the last step, if there is one, and lets the completions follow. Returns all of them.
    mutating func end(_ call: ClientCall.Call?, on target: DispatchQueue) -> [ClientCall.Call] {
        let calls = (call.map { [$0] } ?? []) + (completions.take() ?? [])
        for call in calls { add(call, on: target) }
        return calls
    }
}

/// Writes lines about the requests of a client, each with its time. They show no credentials.
struct ConsoleLog: Sendable {
    var isEnabled = false
    /// How many bytes of a body are shown.
    var bodySize = 0
    /// Writes a line, on a queue of the log.
    var write: @Sendable (String) -> Void { didSet { delivery = Self.delivery(to: write) } }

    private var delivery: SerialDelivery<String>

    init() {
        write = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
        delivery = Self.delivery(to: write)
    }

    private static func delivery(to write: @escaping @Sendable (String) -> Void) -> SerialDelivery<String> {
        SerialDelivery { line, missed in
            if missed > 0 { write("\(missed) lines were dropped, since the log is too slow") }
            write(line)
        }
    }

    /// Writes one line for each attempt, each wait, each stage that was left behind, and an end that is no success.
    func line(_ event: RequestEvent, _ attempts: [Attempt]) {
        let text: String
        switch event.step {
        case .attemptFailed, .ended(nil):
            guard let attempt = attempts.last(where: { $0.number == event.attempt }) else { return }
            text = "\(attempt)"
        case .waits, .waitsForConnectivity, .abandoned, .ended:
            text = "\(event.step)" + (event.waitReason.map { " (\($0))" } ?? "")
        default: return
        }
        line("\(event.id), \(event.method) \(Redaction.location(of: event.original)): \(text)", at: event.date)
    }

    /// Writes the beginning of a body.
    func body(_ body: Data, _ type: String?, of message: String) {
        line("\(message):\n" + shown(body, type), at: Date())
    }

    private func line(_ text: String, at date: Date) {
        delivery.add("\(date.ISO8601Format(.init(includingFractionalSeconds: true))) request \(text)")
    }

    /// The beginning of a body. Only forms and JSON can be shown without their credentials.
    private func shown(_ body: Data, _ type: String?) -> String {
        guard let whole = Redaction.default.body(body, type: type) else { return "(\(body.count) bytes)" }
        return String(decoding: whole.prefix(bodySize), as: UTF8.self) + (whole.count > bodySize ? "…" : "")
    }
}

extension URLRequest {
    /// Whether two requests agree in everything that a retry decision can replace. On Linux, `==` ignores fields and bodies.
    fileprivate func isSame(as other: URLRequest) -> Bool {
        self == other && httpMethod == other.httpMethod && allHTTPHeaderFields == other.allHTTPHeaderFields
            && httpBody == other.httpBody && httpBodyStream === other.httpBodyStream
    }
}

extension RequestError.Code {
    /// The ``RequestClient`` was shut down before the request began.
    public static let clientShutDown = Self("clientShutDown")
}
