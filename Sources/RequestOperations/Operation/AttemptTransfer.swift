/// The transfer of one attempt: hop after hop, as redirects lead.
///
/// It may be left behind by the attempt's time limit; whatever it does then ends at its next step.
struct AttemptTransfer: Sendable {
    let runner: RequestRunner
    let attempt: Int
    let slot: HeldSlot?
    let validate: @Sendable (ResponseHead) throws -> Void

    func run(_ first: TransportTask) async throws -> TransportResponse {
        var task = first
        var visited: [RedirectPolicy.Hop] = []
        while true {
            try enter(.transfer)
            do {
                return try await send(task)
            } catch let redirect as Redirect {
                visited.append(RedirectPolicy.Hop(task.request))
                task = try runner.configuration.redirects.next(
                    after: redirect.head, to: redirect.target, task: task, visited: visited)
                try runner.advance { $0.follow(redirect.target, in: attempt) }
                runner.emit(.redirected(from: redirect.head.url, to: redirect.target))
                try await exchangeSlot(for: task)
            }
        }
    }

    /// One hop. A head that redirects is rejected with the redirect as its error, so that its body is not delivered.
    private func send(_ task: TransportTask) async throws -> TransportResponse {
        do {
            return try await task.perform(over: runner.configuration.transport) { head in
                if let target = runner.configuration.redirects.target(of: head) {
                    throw Redirect(head: head, target: target)
                }
                try runner.advance { $0.receive(head, in: attempt) }
                runner.emit(.head(head))
                try validate(head)
                try enter(.transfer)
            }
        } catch let failure as TransferFailure {
            throw failure.error as? Redirect ?? failure
        }
    }

    /// A redirect to another host gives its slot back before it waits for the next: it never holds two.
    private func exchangeSlot(for task: TransportTask) async throws {
        guard let slot, let limiter = runner.configuration.limiter, slot.origin != Origin(task.request.url) else {
            return
        }
        slot.release()
        var place: RequestLimiter.Place?
        let (next, _) = try await runner.slot(of: limiter, for: task, at: &place)
        slot.hold(next)
    }

    private func enter(_ stage: RequestError.Stage) throws(CancellationError) {
        try runner.advance { $0.enter(stage, in: attempt) }
    }
}

/// The slot that one attempt holds; a redirect exchanges it.
final class HeldSlot: Sendable {
    private enum State {
        case holds(RequestLimiter.Slot)
        case between
        /// The attempt has ended: a slot that comes now is given back at once.
        case closed
    }

    private let state: Locked<State>

    init(_ slot: RequestLimiter.Slot) {
        state = Locked(.holds(slot))
    }

    var origin: Origin? {
        state.withLock { if case .holds(let slot) = $0 { slot.origin } else { nil } }
    }

    func release() {
        replace(by: .between)
    }

    func hold(_ slot: RequestLimiter.Slot) {
        replace(by: .holds(slot))
    }

    /// Gives the slot back, and any that should still come.
    func close() {
        replace(by: .closed)
    }

    private func replace(by next: State) {
        let unused = state.withLock { state -> State in
            if case .closed = state { return next }
            defer { state = next }
            return state
        }
        if case .holds(let slot) = unused { slot.release() }
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
