/// The reader of an operation's stream. When the last reference to it goes, the operation is cancelled.
final class StreamReader<Element: Sendable>: Sendable {
    private let handover: Handover<Element>
    private let operation: RetryingOperation<ResponseHead>

    /// Makes the reader. The operation then goes on for it when nobody else awaits it any more.
    init(_ handover: Handover<Element>, of operation: RetryingOperation<ResponseHead>) {
        precondition(handover.claim(), "The stream of an operation is read once.")
        self.handover = handover
        self.operation = operation
        operation.addAwaiter(ObjectIdentifier(handover)) { [handover] result in handover.end(result.map { _ in }) }
    }

    deinit {
        leave()
    }

    /// The next element; `nil` if the operation has succeeded. A cancel of the Task cancels the operation.
    ///
    /// - Throws: The error of the operation, once. After that, the stream is at its end.
    func next() async throws -> Element? {
        try await withTaskCancellationHandler {
            try await handover.next()
        } onCancel: {
            leave()
        }
    }

    /// Ends the operation with an error that the reader found, if it has not ended yet. Returns the error.
    func fail(_ error: RequestError) -> any Error {
        let error = operation.runner.ending(error, in: error.stage)
        operation.fail(with: error)
        handover.end(.failure(error))
        return error
    }

    private func leave() {
        // After the end there is nothing to cancel. An operation that fails must not become a cancelled one.
        if handover.end(.failure(CancellationError())) { operation.cancel() }
    }
}
