/// How an admitted attempt is sent.
extension RequestRunner {
    /// Sends a task, follows redirects, and reads the response. Gives the attempt's rights back.
    func transfer(_ admitted: AdmittedTask, stages: any RequestStages) async throws -> TransportResponse {
        let sent = beginSending(admitted)
        if let hedging = configuration.hedging, Hedging.allows(sent.task) {
            return try await HedgeRace(of: self, stages).run(sent, hedgedAfter: hedging.delay)
        }
        return try await AttemptTransfer(sent, of: self) { head in try stages.validate(head) }.run()
    }

    /// Called when the attempt is about to be sent.
    private func beginSending(_ admitted: AdmittedTask) -> AdmittedTask {
        let moment = now
        let wantsNewConnection = requestState.withLock { state in
            state.beginSending(at: moment, isAwaited: admitted.isAwaited)
            return state.failures.lostReusedConnection
        }
        var sent = admitted
        if wantsNewConnection { sent.task.wantsNewConnection = true }
        return sent
    }

    /// Runs an attempt that is not a request. It holds its rights meanwhile, and then gives them back.
    func perform<Value: Sendable>(
        _ admitted: AdmittedTask, _ attempt: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let sent = beginSending(admitted)
        do {
            try advance { $0.enter(.transfer, in: sent.attempt) }
            let value = try await stageRunner.run(.transfer, limit: configuration.attemptTimeLimit, attempt)
            sent.rights.giveBack(.succeeded)
            return value
        } catch {
            sent.rights.giveBack(outcome(of: error))
            throw error
        }
    }
}

/// A task that has its slots and may be sent now.
struct AdmittedTask: Sendable {
    /// The number of the attempt.
    let attempt: Int
    var task: TransportTask
    let rights: AttemptRights
    /// Whether other requests wait for the recovery of the host.
    let isAwaited: Bool
}

/// The transfer of one attempt, over all redirects.
///
/// The attempt's time limit may leave it behind. It then ends at its next step.
final class AttemptTransfer: Sendable {
    private let runner: RequestRunner
    private let attempt: Int
    private let first: TransportTask
    private let rights: AttemptRights
    /// How long it has waited for connections, which the time limit does not count. `nil` without a limit.
    private let wait: ConnectionWait?
    private let validate: @Sendable (ResponseHead) throws -> Void

    /// Makes the transfer of an attempt that is about to be sent. Its ``run()`` gives back the attempt's rights.
    init(
        _ sent: AdmittedTask, of runner: RequestRunner, validate: @escaping @Sendable (ResponseHead) throws -> Void
    ) {
        self.runner = runner
        attempt = sent.attempt
        first = sent.task
        rights = sent.rights
        wait = runner.configuration.attemptTimeLimit.map { _ in ConnectionWait() }
        self.validate = validate
    }

    /// Performs the transfer within the time limit of an attempt, and gives back the attempt's rights.
    func run() async throws -> TransportResponse {
        do {
            let response = try await follow(within: runner.configuration.attemptTimeLimit)
            rights.giveBack(.succeeded)
            return response
        } catch {
            rights.giveBack(runner.outcome(of: error))
            throw error
        }
    }

    /// Sends the request and follows redirects. One whose expectation is refused is sent again without it.
    ///
    /// - Parameter limit: The time for all hops together.
    private func follow(within limit: Duration?) async throws -> TransportResponse {
        var task = first
        var visited: [RedirectPolicy.Hop] = []
        var left = limit
        while true {
            try enter(.transfer)
            do {
                return if left == nil { try await send(task) } else { try await send(task, within: &left) }
            } catch {
                task = try self.task(following: error, after: task, &visited)
            }
            settlePermit(before: task)
            try admitToCircuit(task)
        }
    }

    /// One hop, within the time that the hops before it have left.
    private func send(_ task: TransportTask, within left: inout Duration?) async throws -> TransportResponse {
        let (limit, began) = (left, runner.now)
        let waited = wait?.total ?? .zero
        defer { left = limit.map { max($0 + (wait?.total ?? .zero) - waited - (runner.now - began), .zero) } }
        return try await runner.stageRunner.run(
            .transfer, limit: limit, of: runner.configuration.attemptTimeLimit, besides: wait
        ) { try await self.send(task) }
    }

    /// The task of the next hop, if the error of this hop is a detour. Otherwise throws the error.
    private func task(
        following error: any Error, after task: TransportTask, _ visited: inout [RedirectPolicy.Hop]
    ) throws -> TransportTask {
        guard let detour = error as? Detour else { throw error }
        hostAnswered()
        guard case .redirect(let redirect, let target) = detour else { return task.withoutExpectation }
        visited.append(RedirectPolicy.Hop(task.request))
        var next = try runner.configuration.redirects.next(
            after: redirect, to: target, task: task, visited: visited)
        if let authentication = runner.configuration.authentication {
            next.request = authentication.authorized(next.request)
        }
        try runner.advance { $0.follow(target, in: attempt) }
        runner.emit(.redirected(from: redirect.url, to: target))
        return next
    }

    /// One hop. The head of a detour is rejected with the detour as its error, so its body is not delivered.
    private func send(_ task: TransportTask) async throws -> TransportResponse {
        let task = traced(task)
        let response: TransportResponse
        do {
            response = try await task.perform(over: runner.configuration.transport, onHead: judgement(of: task))
        } catch {
            throw Self.failure(of: task, error)
        }
        try accept(response, to: task)
        return response
    }

    /// Adds a trace to the task if the attempt has a time limit. A transfer that this limit stops still goes to the retry
    /// decision, which must know whether bytes were sent.
    private func traced(_ task: TransportTask) -> TransportTask {
        guard runner.configuration.attemptTimeLimit != nil else { return task }
        var task = task
        task.trace = TransferTrace(wait: wait)
        return task
    }

    /// The closure that judges the head of the response to a task.
    private func judgement(of task: TransportTask) -> @Sendable (ResponseHead) throws -> Void {
        { head in try self.judge(head, of: task) }
    }

    /// Accepts the head of a hop by returning.
    private func judge(_ head: ResponseHead, of task: TransportTask) throws {
        runner.limitersHear(of: head)
        if let target = runner.configuration.redirects.target(of: head) { throw Detour.redirect(head, to: target) }
        if head.status == 417, task.maySendWithoutExpectation(after: head) { throw Detour.withoutExpectation }
        var head = head
        head.answersHEAD = task.request.httpMethod == "HEAD"
        try runner.advance { $0.receive(head, in: attempt) }
        runner.emit(.head(head))
        do {
            try validate(head)
        } catch {
            // This comes before the slot is given back. The attempt that gets it asks whether it must leave the host
            // alone.
            runner.noteRetryAfter(of: head)
            throw error
        }
        try enter(.transfer)
        hostAnswered()
    }

    /// Takes the response of a hop. Judges its head here if the transport never presented it, or ignored its rejection.
    private func accept(_ response: TransportResponse, to task: TransportTask) throws {
        var isJudged = false
        try runner.advance { state in
            isJudged = state.attempt(attempt)?.hasAcceptedHead == true
            return state.note(response, in: attempt)
        }
        guard !isJudged else { return }
        do {
            try judge(response.head, of: task)
        } catch let error where !(error is Detour) {
            let kept = max(task.effectiveLimits.keptErrorBody, 0)
            throw TransferFailure(
                error, head: response.head, bodyPrefix: Data(response.body.prefix(kept)),
                bodySize: response.bodySize, phase: .body, timings: response.timings)
        }
    }

    private static func failure(of task: TransportTask, _ error: any Error) -> any Error {
        switch error {
        case let failure as TransferFailure: failure.error as? Detour ?? error
        case is CancellationError: task.trace?.failure ?? error
        default: error
        }
    }

    /// A redirect to another host shows that the first host works, whatever the other one does.
    private func settlePermit(before task: TransportTask) {
        rights.takePermit(unlessFor: Origin(task.request.url))?.settle(.succeeded)
    }

    /// Asks for the circuit of the redirect's host, unless the attempt holds that host's permit.
    private func admitToCircuit(_ task: TransportTask) throws {
        guard rights.permit == nil else { return }
        if let next = try runner.circuitPermit(for: Origin(task.request.url)) { rights.hold(permit: next) }
    }

    /// The host has answered as it should, whatever happens to the rest of its response.
    private func hostAnswered() {
        rights.permit?.answered()
    }

    private func enter(_ stage: RequestError.Stage) throws {
        try runner.advance { $0.enter(stage, in: attempt) }
    }
}

/// The error with which a head is rejected after which another request is sent.
private enum Detour: Error {
    case redirect(ResponseHead, to: URL)
    case withoutExpectation
}

extension TransportTask {
    /// Whether the task is sent again after a 417: an expectation was refused (RFC 9110, section 10.1.1), and the body can
    /// be sent again.
    fileprivate func maySendWithoutExpectation(after head: ResponseHead) -> Bool {
        let field = request.value(forHTTPHeaderField: "Expect")?.lowercased() ?? ""
        return body.isReplayable && !expectsNothing
            && (head.refusesAddedExpectation || field.contains("100-continue"))
    }

    /// The task without an expectation.
    fileprivate var withoutExpectation: TransportTask {
        var task = self
        task.request.setValue(nil, forHTTPHeaderField: "Expect")
        task.expectsNothing = true
        return task
    }

    /// Performs the task with its own function, or with the transport.
    fileprivate func perform(
        over transport: any Transport, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        if case .perform(let perform) = execution { return try await perform(self, transport, onHead) }
        return try await transport.perform(self, onHead: onHead)
    }
}
