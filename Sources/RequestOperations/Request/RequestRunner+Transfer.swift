/// How an admitted attempt is sent.
extension RequestRunner {
    typealias HeadValidation = @Sendable (ResponseHead) throws -> Void

    /// Sends a task, follows redirects, and reads the response. Then it releases the attempt's rights.
    func transfer(_ admitted: AdmittedTask, stages: any RequestStages) async throws -> TransportResponse {
        let sent = try beginSending(admitted)
        if let hedging = configuration.hedging, Hedging.allows(sent.task) {
            return try await HedgeRace(of: self, stages).run(sent, hedgedAfter: hedging.delay)
        }
        return try await transfer(sent) { head in try stages.validate(head) }
    }

    /// Runs an attempt that is not a request. It holds its rights meanwhile, and then releases them.
    func perform<Value: Sendable>(
        _ admitted: AdmittedTask, _ attempt: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let sent = try beginSending(admitted)
        return try await releasing(sent.attempt) {
            try await stageRunner.run(.transfer, limit: configuration.attemptTimeLimit, attempt)
        }
    }

    /// Performs the transfer of an attempt, over all redirects, and releases its rights.
    ///
    /// The attempt's time limit may leave it behind. It then ends at its next step.
    func transfer(_ sent: AdmittedTask, validate: @escaping HeadValidation) async throws -> TransportResponse {
        try await releasing(sent.attempt) { try await follow(sent, validate) }
    }

    /// Runs what an attempt does with its rights, and then releases them.
    private func releasing<Value>(_ attempt: Int, _ body: () async throws -> Value) async throws -> Value {
        do {
            let value = try await body()
            release(.succeeded, in: attempt)
            return value
        } catch {
            release(outcome(of: error), in: attempt)
            throw error
        }
    }

    /// Called when the attempt is about to be sent.
    private func beginSending(_ admitted: AdmittedTask) throws -> AdmittedTask {
        var sent = admitted
        let moment = now
        let goesOn = requestState.withLock { state in
            sent.queue = state.turn?.limiter
            if state.failures.lostReusedConnection { sent.task.wantsNewConnection = true }
            return state.beginSending(admitted.attempt, at: moment, isAwaited: admitted.isAwaited)
        }
        guard goesOn else {
            release(.cancelled, isUnused: true, in: sent.attempt)
            throw CancellationError()
        }
        return sent
    }

    /// Sends the request and follows redirects. If the server refuses an expectation, the request is sent again without
    /// it.
    ///
    /// The time limit is for all hops together. It stands still while a hop waits for a connection.
    private func follow(_ sent: AdmittedTask, _ validate: @escaping HeadValidation) async throws -> TransportResponse {
        var hop = sent
        var visited: [RedirectPolicy.Hop] = []
        var left = configuration.attemptTimeLimit
        let wait = left.map { _ in AttemptTrace() }
        while true {
            do {
                guard let limit = left, let wait else { return try await send(hop, validate) }
                let (began, waited) = (now, wait.total)
                defer { left = max(limit + wait.total - waited - (now - began), .zero) }
                // A transfer that the limit stops goes to the retry decision, which must know whether bytes were sent.
                hop.task.trace = wait
                return try await stageRunner.run(
                    .transfer, limit: limit, of: configuration.attemptTimeLimit, besides: wait
                ) { [hop] in try await self.send(hop, validate) }
            } catch let detour as Detour {
                hop.task = try task(following: detour, of: hop, &visited)
            }
        }
    }

    /// One hop. The head of a detour is rejected with the detour as its error, so its body is not delivered.
    private func send(_ hop: AdmittedTask, _ validate: @escaping HeadValidation) async throws -> TransportResponse {
        let response: TransportResponse
        do {
            response = try await hop.task.perform(over: configuration.transport) { head in
                try self.judge(head, of: hop, validate)
            }
        } catch let failure as TransferFailure {
            throw failure.error as? Detour ?? failure
        } catch is CancellationError {
            throw hop.task.trace?.failure ?? CancellationError()
        }
        try accept(response, of: hop, validate)
        return response
    }

    /// Accepts the head of a hop by returning.
    private func judge(_ head: ResponseHead, of hop: AdmittedTask, _ validate: HeadValidation) throws {
        hop.queue?.heard(head.status, from: head.url)
        if let limiter = configuration.limiter, limiter !== hop.queue { limiter.heard(head.status, from: head.url) }
        if let target = configuration.redirects.target(of: head) { throw Detour.redirect(head, to: target) }
        if head.status == 417, hop.task.maySendWithoutExpectation(after: head) { throw Detour.withoutExpectation }
        var head = head
        head.answersHEAD = hop.task.request.httpMethod == "HEAD"
        let listeners = try advance { $0.receive(head, in: hop.attempt) }
        emit(.head(head), in: hop.attempt, to: listeners)
        do {
            try validate(head)
        } catch {
            // This comes before the slot is released. The attempt that gets the slot asks whether it must leave the
            // host alone.
            noteRetryAfter(of: head)
            throw error
        }
        try advance { $0.enter(.transfer, in: hop.attempt) }
        hostAnswered(hop)
    }

    /// Takes the response of a hop. Judges its head here if the transport never presented it, or ignored its rejection.
    private func accept(_ response: TransportResponse, of hop: AdmittedTask, _ validate: HeadValidation) throws {
        var isJudged = false
        try advance { state in
            isJudged = state.hasAcceptedHead(hop.attempt)
            return state.note(response, in: hop.attempt)
        }
        guard !isJudged else { return }
        do {
            try judge(response.head, of: hop, validate)
        } catch let error where !(error is Detour) {
            let kept = max(hop.task.effectiveLimits.keptErrorBody, 0)
            throw TransferFailure(
                error, head: response.head, bodyPrefix: Data(response.body.prefix(kept)),
                bodySize: response.bodySize, phase: .body, timings: response.timings)
        }
    }

    // MARK: Redirects

    /// The task of the next hop. The attempt then has the permit of its host. The place and the slot of the attempt stay
    /// those of the first host.
    private func task(
        following detour: Detour, of hop: AdmittedTask, _ visited: inout [RedirectPolicy.Hop]
    ) throws -> TransportTask {
        hostAnswered(hop)
        var next = hop.task
        switch detour {
        case .withoutExpectation:
            next.request.setValue(nil, forHTTPHeaderField: "Expect")
            next.expectsNothing = true
        case .redirect(let redirect, let target):
            visited.append(RedirectPolicy.Hop(next.request))
            next = try configuration.redirects.next(after: redirect, to: target, task: next, visited: visited)
            if let authentication = configuration.authentication {
                next.request = authentication.authorized(next.request)
            }
            let moment = now
            try advance { [next] in
                $0.follow(target, after: redirect, sending: next.request, in: hop.attempt, at: moment)
            }
            emit(.redirected(from: redirect.url, to: target), in: hop.attempt)
        }
        if let breaker = configuration.circuitBreaker {
            let origin = Origin(next.request.url)
            let (first, current) = requestState.withLock { state in
                let first = state.changeRights(of: hop.attempt) { $0.takePermit(unlessFor: origin) } ?? nil
                return (first, state.permit(of: hop.attempt))
            }
            // A redirect to another host shows that the first host works, whatever the other one does.
            first?.finish(.succeeded)
            if current == nil, let permit = try configuration.hosts.admit(to: origin, asking: breaker)?.permit {
                keep(permit, in: hop.attempt)
            }
        }
        try advance { $0.enter(.transfer, in: hop.attempt) }
        return next
    }

    /// The host has answered as it should, whatever happens to the rest of its response.
    private func hostAnswered(_ hop: AdmittedTask) {
        guard configuration.circuitBreaker != nil else { return }
        requestState.withLock { $0.permit(of: hop.attempt) }?.answered()
    }
}

/// A task that has its slots and may be sent now.
struct AdmittedTask: Sendable {
    /// The number of the attempt.
    let attempt: Int
    var task: TransportTask
    /// Whether other requests wait for the recovery of the host, or the attempt is a probe of its circuit.
    let isAwaited: Bool
    /// The limiter of the request's queue. `nil` without a queue, or before the task is sent.
    var queue: RequestLimiter?
}

/// The error that rejects a head after which another request is sent.
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

    /// Performs the task with its own function, or with the transport.
    fileprivate func perform(
        over transport: any Transport, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        if case .perform(let perform) = execution { return try await perform(self, transport, onHead) }
        return try await transport.perform(self, onHead: onHead)
    }
}
