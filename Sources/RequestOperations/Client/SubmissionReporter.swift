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
