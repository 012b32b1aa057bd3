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
        leaveTable()
        // Observers look into the operation.
        let operation = submission.operation
        line.end { [client] in
            client.observers.tell(of: submission) { $0.submission(submission, didEndWith: error) }
            client.observers.change { $0.remove(.submission(submission.id)) }
            withExtendedLifetime(operation) {}
        }
    }

    /// The operation is freed or never started.
    func forget() {
        if let submission, leaveTable() { client.observers.change { $0.remove(.submission(submission.id)) } }
    }

    /// Removes the submission from those that have not ended. Returns whether it was there.
    @discardableResult
    private func leaveTable() -> Bool {
        guard let id = submission?.id, let end = client.table.withLock({ $0.end(id) }) else { return false }
        for answer in end.idle { answer.resume(with: .success(())) }
        return true
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
