/// Hands elements from the Task of a transfer to the Task of a reader, one at a time.
///
/// The sender waits until the reader has taken its element. So at most one element is in memory, and the reader sets the
/// pace of the transfer.
final class Handover<Element: Sendable>: Sendable {
    private let state = Locked(HandoverState<Element>())

    /// Whether the reader has taken an element.
    var hasHandedOver: Bool { state.withLock { $0.hasHandedOver } }

    // MARK: The sender

    /// Begins an attempt, which ends the right of earlier ones to send. Returns its number.
    func begin() -> Int {
        let (number, former) = state.withLock { $0.begin() }
        former?.resume(with: .failure(CancellationError()))
        return number
    }

    /// Hands an element over. Returns when the reader has taken it.
    ///
    /// - Parameters:
    ///   - element: The element.
    ///   - attempt: The number of the attempt.
    /// - Throws: `CancellationError` if the Task is cancelled, another attempt has begun, or nobody will take the element.
    func send(_ element: Element, from attempt: Int) async throws {
        try Task.checkCancellation()
        let taken = Answer<Void>()
        switch state.withLock({ $0.offer(element, from: attempt, taken) }) {
        case .wait: break
        case .give(let reader):
            reader.resume(with: .success(element))
            return
        case .refuse: throw CancellationError()
        }
        try await withTaskCancellationHandler {
            try await taken.value
        } onCancel: {
            state.withLock { $0.cancel(attempt) }?.resume(with: .failure(CancellationError()))
        }
    }

    /// Ends the stream for both sides. Only the first end counts. Returns whether this is the first.
    @discardableResult
    func end(_ result: Result<Void, any Error>) -> Bool {
        let waiting = state.withLock { $0.end(result) }
        waiting.sender?.resume(with: .failure(CancellationError()))
        waiting.reader?.resume(with: result.map { nil })
        return waiting.isFirstEnd
    }

    // MARK: The reader

    /// Lets a reader in. Returns `false` for any but the first.
    func claim() -> Bool { state.withLock { $0.claim() } }

    /// The next element; `nil` at the end. A cancel of the Task does not end the wait: ``end(_:)`` does.
    ///
    /// - Throws: The error of the operation, once.
    func next() async throws -> Element? {
        let element = Answer<Element?>()
        switch state.withLock({ $0.ask(element) }) {
        case .wait: return try await element.value
        case .take(let element, let sender):
            sender.resume(with: .success(()))
            return element
        case .end(let result):
            try result.get()
            return nil
        }
    }
}
