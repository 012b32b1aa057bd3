/// The transfer of one attempt: hop after hop, as redirects lead.
///
/// It may be left behind by the attempt's time limit; whatever it does then ends at its next step.
final class AttemptTransfer: Sendable {
    private let runner: RequestRunner
    private let attempt: Int
    private let first: TransportTask
    private let held: HeldByAttempt
    /// How long it has waited for connections, which its time limit does not count; `nil` without one.
    private let wait: ConnectionWait?
    private let validate: @Sendable (ResponseHead) throws -> Void

    /// Begins the transfer; ``run()`` is owed.
    ///
    /// - Throws: ``RequestError/Code/circuitOpen``.
    // Inlined, its temporaries would be part of what every request in flight keeps; so it is with those below.
    @inline(never)
    init(
        of runner: RequestRunner, _ ticket: Admission.Ticket,
        validate: @escaping @Sendable (ResponseHead) throws -> Void
    ) throws {
        self.runner = runner
        attempt = ticket.attempt
        self.validate = validate
        let (configuration, url) = (runner.configuration, ticket.task.request.url)
        wait = configuration.attemptTimeLimit.map { _ in ConnectionWait() }
        var held = ticket.held
        do {
            held.permit = try runner.permit(for: Origin(url))
        } catch {
            runner.progress.withLock { $0.noteRefusal() }
            held.giveBackUnused()
            throw error
        }
        self.held = held
        let moment = runner.now
        let (isFirst, wantsNewConnection) = runner.progress.withLock {
            ($0.beginSending(with: held, at: moment), $0.lostReusedConnection)
        }
        var task = ticket.task
        if wantsNewConnection { task.wantsNewConnection = true }
        first = task
        if isFirst, let budget = configuration.retryBudget {
            configuration.hosts.budgets.countRequest(to: Origin(url), under: budget)
        }
    }

    /// Makes the transfer of a hedge, which has all that it needs; ``run()`` is owed.
    init(
        ofHedge attempt: Int, by runner: RequestRunner, _ task: TransportTask, holding held: HeldByAttempt,
        validate: @escaping @Sendable (ResponseHead) throws -> Void
    ) {
        self.runner = runner
        self.attempt = attempt
        first = task
        self.held = held
        wait = runner.configuration.attemptTimeLimit.map { _ in ConnectionWait() }
        self.validate = validate
    }

    /// Carries the transfer out, within the time limit of an attempt, and gives back what it holds.
    func run() async throws -> TransportResponse {
        do {
            let response = try await follow(within: runner.configuration.attemptTimeLimit)
            held.giveBack(.succeeded)
            return response
        } catch {
            held.giveBack(runner.configuration.retryPolicy.outcome(of: error))
            throw error
        }
    }

    /// Sends the request, and what redirects make of it.
    ///
    /// - Parameter limit: The time that all hops have together. While a redirect waits for a place of another host, it stands still.
    @inline(__always)
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
            try await exchangeSlots(for: task)
            try admitToCircuit(task)
        }
    }

    /// One hop, in the time that the hops before it have left.
    private func send(_ task: TransportTask, within left: inout Duration?) async throws -> TransportResponse {
        let (limit, began) = (left, runner.now)
        let waited = wait?.total ?? .zero
        defer { left = limit.map { max($0 + (wait?.total ?? .zero) - waited - (runner.now - began), .zero) } }
        return try await runner.stageRunner.run(
            .transfer, limit: limit, of: runner.configuration.attemptTimeLimit, besides: wait
        ) { try await self.send(task) }
    }

    /// The task of the next hop, if the error of this one is a redirect; otherwise throws the error.
    @inline(never)
    private func task(
        following error: any Error, after task: TransportTask, _ visited: inout [RedirectPolicy.Hop]
    ) throws -> TransportTask {
        guard let redirect = error as? Redirect else { throw error }
        hostAnswered()
        visited.append(RedirectPolicy.Hop(task.request))
        let next = try runner.configuration.redirects.next(
            after: redirect.head, to: redirect.target, task: task, visited: visited)
        try runner.advance { $0.follow(redirect.target, in: attempt) }
        runner.emit(.redirected(from: redirect.head.url, to: redirect.target))
        return next
    }

    /// One hop. A head that redirects is rejected with the redirect as its error, so that its body is not delivered.
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

    /// The task, with a trace if the attempt goes on to a decision when it is stopped: as only a limit of its own does it.
    @inline(never)
    private func traced(_ task: TransportTask) -> TransportTask {
        guard runner.configuration.attemptTimeLimit != nil else { return task }
        var task = task
        task.trace = TransferTrace(wait: wait)
        return task
    }

    /// How the head of the response to a task is judged.
    @inline(never)
    private func judgement(of task: TransportTask) -> @Sendable (ResponseHead) throws -> Void {
        let isHEAD = task.request.httpMethod == "HEAD"
        return { head in try self.judge(head, isHEAD: isHEAD) }
    }

    /// Accepts the head of a hop by returning.
    private func judge(_ head: ResponseHead, isHEAD: Bool) throws {
        runner.limitersHear(of: head)
        if let target = runner.configuration.redirects.target(of: head) {
            throw Redirect(head: head, target: target)
        }
        var head = head
        head.answersHEAD = isHEAD
        try runner.advance { $0.receive(head, in: attempt) }
        runner.emit(.head(head))
        do {
            try validate(head)
        } catch {
            // Before the slot is given back: who gets it asks whether the host is to be left alone.
            runner.noteRetryAfter(of: head)
            throw error
        }
        try enter(.transfer)
        hostAnswered()
    }

    /// Takes the response of a hop. One whose head nobody has shown, or whose rejection the transport made nothing of, is
    /// judged here.
    @inline(never)
    private func accept(_ response: TransportResponse, to task: TransportTask) throws {
        var isJudged = false
        try runner.advance { progress in
            isJudged = progress.hasAcceptedHead(in: attempt)
            return progress.note(response, in: attempt)
        }
        guard !isJudged else { return }
        do {
            try judge(response.head, isHEAD: task.request.httpMethod == "HEAD")
        } catch let error where !(error is Redirect) {
            let kept = max(task.effectiveLimits.keptErrorBody, 0)
            throw TransferFailure(
                error, head: response.head, bodyPrefix: Data(response.body.prefix(kept)),
                bodySize: response.bodySize, phase: .body, timings: response.timings)
        }
    }

    @inline(never)
    private static func failure(of task: TransportTask, _ error: any Error) -> any Error {
        switch error {
        case let failure as TransferFailure: failure.error as? Redirect ?? error
        case is CancellationError: task.trace?.failure ?? error
        default: error
        }
    }

    /// A redirect to another host gives the places of its host back before it waits for the next, and keeps those of the totals.
    private func exchangeSlots(for task: TransportTask) async throws {
        let (slots, origin) = (held.slots, Origin(task.request.url))
        // An attempt that was left behind holds none.
        guard slots.contains(where: { $0.isHeld && !$0.isFor(origin) }) else { return }
        try await runner.exchange(slots, for: origin, in: attempt)
    }

    /// A redirect to another host shows that the one which sent it works. That is told before the wait for the other host, which
    /// is no fault of the first.
    @inline(never)
    private func settlePermit(before task: TransportTask) {
        guard let permit = held.permit, let present = permit.right, present.origin != Origin(task.request.url)
        else { return }
        permit.take()?.settle(.succeeded)
    }

    /// Asks for the circuit of a redirect's host, unless that of the same host is held.
    private func admitToCircuit(_ task: TransportTask) throws {
        guard let permit = held.permit, permit.right == nil else { return }
        do {
            guard let next = try runner.circuitPermit(for: Origin(task.request.url)) else { return }
            permit.hold(next)?.settle(.cancelled)
        } catch {
            // Nothing is sent to the new host.
            held.slots.release(isUnused: true)
            throw error
        }
    }

    /// The host answered as it should, whatever becomes of the rest of its response.
    private func hostAnswered() {
        held.permit?.right?.answered()
    }

    private func enter(_ stage: RequestError.Stage) throws {
        try runner.advance { $0.enter(stage, in: attempt) }
    }
}

/// The error with which the head of a redirect is rejected.
private struct Redirect: Error {
    let head: ResponseHead
    let target: URL
}

extension TransportTask {
    /// Carries the task out in its own way or the transport's.
    fileprivate func perform(
        over transport: any Transport, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        if case .perform(let perform) = execution { return try await perform(self, transport, onHead) }
        return try await transport.perform(self, onHead: onHead)
    }
}
