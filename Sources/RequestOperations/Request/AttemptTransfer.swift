/// The transfer of one attempt: hop after hop, as redirects lead.
///
/// The attempt's time limit may leave it behind. What it does then ends at its next step.
final class AttemptTransfer: Sendable {
    private let runner: RequestRunner
    private let attempt: Int
    private let first: TransportTask
    private let rights: AttemptRights
    /// How long it has waited for connections. The time limit does not count that. `nil` without a limit.
    private let wait: ConnectionWait?
    private let validate: @Sendable (ResponseHead) throws -> Void

    /// Makes the transfer of an attempt that is about to be sent. Its ``run()`` gives the attempt's rights back.
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

    /// Carries the transfer out, within the time limit of an attempt, and gives back what it holds.
    func run() async throws -> TransportResponse {
        do {
            let response = try await follow(within: runner.configuration.attemptTimeLimit)
            rights.giveBack(.succeeded)
            return response
        } catch {
            rights.giveBack(runner.configuration.retryPolicy.outcome(of: error))
            throw error
        }
    }

    /// Sends the request, and what redirects make of it.
    ///
    /// - Parameter limit: The time that all hops have together. While a redirect waits for a place of another host, it stands still.
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
    private func traced(_ task: TransportTask) -> TransportTask {
        guard runner.configuration.attemptTimeLimit != nil else { return task }
        var task = task
        task.trace = TransferTrace(wait: wait)
        return task
    }

    /// How the head of the response to a task is judged.
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
    private func accept(_ response: TransportResponse, to task: TransportTask) throws {
        var isJudged = false
        try runner.advance { state in
            isJudged = state.attempt(attempt)?.hasAcceptedHead == true
            return state.note(response, in: attempt)
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

    private static func failure(of task: TransportTask, _ error: any Error) -> any Error {
        switch error {
        case let failure as TransferFailure: failure.error as? Redirect ?? error
        case is CancellationError: task.trace?.failure ?? error
        default: error
        }
    }

    /// A redirect to another host gives the places of its host back before it waits for the next, and keeps those of the totals.
    private func exchangeSlots(for task: TransportTask) async throws {
        let (slots, origin) = (rights.slots, Origin(task.request.url))
        // An attempt that was left behind holds none.
        guard slots.contains(where: { $0.isHeld && !$0.isFor(origin) }) else { return }
        try await runner.exchange(slots, for: origin, in: attempt)
    }

    /// A redirect to another host shows that the one which sent it works. That is told before the wait for the other host, which
    /// is no fault of the first.
    private func settlePermit(before task: TransportTask) {
        rights.takePermit(unlessFor: Origin(task.request.url))?.settle(.succeeded)
    }

    /// Asks for the circuit of a redirect's host, unless that of the same host is held.
    private func admitToCircuit(_ task: TransportTask) throws {
        guard rights.permit == nil else { return }
        do {
            if let next = try runner.circuitPermit(for: Origin(task.request.url)) { rights.hold(permit: next) }
        } catch {
            // Nothing is sent to the new host.
            rights.slots.release(isUnused: true)
            throw error
        }
    }

    /// The host answered as it should, whatever happens to the rest of its response.
    private func hostAnswered() {
        rights.permit?.answered()
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
