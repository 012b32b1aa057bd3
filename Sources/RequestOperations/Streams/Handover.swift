/// Hands elements from the Task of a transfer to the Task of a reader, one at a time.
///
/// The sender waits until the reader has taken its element. So at most one element is in memory, and the reader sets the
/// pace of the transfer.
final class Handover<Element: Sendable>: Sendable {
    private let state = Locked(HandoverState<Element>())

    /// Whether the reader has taken an element.
    var hasHandedOver: Bool { state.withLock { $0.hasHandedOver } }

    // MARK: The sender

    /// Begins an attempt. Earlier attempts may no longer send. Returns its number.
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
        case .handOver(let reader):
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
        guard let (sender, reader) = state.withLock({ $0.end(result) }) else { return false }
        sender?.resume(with: .failure(CancellationError()))
        reader?.resume(with: result.map { nil })
        return true
    }

    // MARK: The reader

    /// Admits the first reader. Returns `false` for any other.
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

/// Where the elements of a stream are between its sender and its reader. A pure state machine.
///
/// ```
///              offer                    ask
/// offered ◀──────────── idle ────────────────▶ asked
///    └──── ask, withdraw ──▶ ▲ ◀──── offer ──────┘
/// ```
///
/// From every phase `end` leads to `ended`.
struct HandoverState<Element: Sendable> {
    private enum Phase {
        case idle
        /// The sender waits until the reader takes the element.
        case offered(Element, Answer<Void>)
        /// The reader waits for an element.
        case asked(Answer<Element?>)
        /// There are no more elements. The reader gets the result, and an error only once.
        case ended(Result<Void, any Error>)
    }

    private var phase = Phase.idle
    /// The number of the attempt that may send. An abandoned attempt may still run.
    private var sender = 0
    private var hasReader = false
    /// Whether the reader has taken an element.
    private(set) var hasHandedOver = false

    /// The first reader comes. Returns `false` for any other.
    mutating func claim() -> Bool {
        defer { hasReader = true }
        return !hasReader
    }

    /// A new attempt begins. The attempts before may not send any more.
    ///
    /// - Returns: The number of the attempt, and the answer to a sender that waits.
    mutating func begin() -> (number: Int, former: Answer<Void>?) {
        sender += 1
        return (sender, withdraw())
    }

    enum Offer {
        /// The sender waits for its answer.
        case wait
        /// A reader waits for the element.
        case handOver(to: Answer<Element?>)
        /// Nobody wants the element.
        case refuse
    }

    /// An attempt has an element.
    mutating func offer(_ element: Element, from number: Int, _ answer: Answer<Void>) -> Offer {
        guard number == sender else { return .refuse }
        switch phase {
        case .idle:
            phase = .offered(element, answer)
            return .wait
        case .asked(let reader):
            phase = .idle
            hasHandedOver = true
            return .handOver(to: reader)
        case .offered:
            preconditionFailure("An attempt offers one element at a time.")
        case .ended:
            return .refuse
        }
    }

    /// An attempt was cancelled. Returns the answer to it, if it waits.
    mutating func cancel(_ number: Int) -> Answer<Void>? {
        number == sender ? withdraw() : nil
    }

    private mutating func withdraw() -> Answer<Void>? {
        guard case .offered(_, let answer) = phase else { return nil }
        phase = .idle
        return answer
    }

    enum Ask {
        /// The reader waits for its answer.
        case wait
        /// A sender waits for an answer. The element is the reader's.
        case take(Element, Answer<Void>)
        case end(Result<Void, any Error>)
    }

    /// The reader wants an element.
    mutating func ask(_ answer: Answer<Element?>) -> Ask {
        switch phase {
        case .idle:
            phase = .asked(answer)
            return .wait
        case .offered(let element, let sender):
            phase = .idle
            hasHandedOver = true
            return .take(element, sender)
        case .asked:
            preconditionFailure("A stream is read by one Task at a time.")
        case .ended(let result):
            phase = .ended(.success(()))
            return .end(result)
        }
    }

    /// There are no more elements: the operation has ended, or the reader leaves. Only the first end counts.
    ///
    /// - Returns: The answers to those that wait; `nil` if there was an end before.
    mutating func end(_ result: Result<Void, any Error>) -> (sender: Answer<Void>?, reader: Answer<Element?>?)? {
        switch phase {
        case .idle:
            phase = .ended(result)
            return (nil, nil)
        case .offered(_, let sender):
            phase = .ended(result)
            return (sender, nil)
        case .asked(let reader):
            phase = .ended(.success(()))
            return (nil, reader)
        case .ended:
            return nil
        }
    }
}

/// The reader of an operation's stream. When the last reference to it goes, the operation is cancelled.
final class StreamReader<Element: Sendable>: Sendable {
    private let handover: Handover<Element>
    private let operation: RetryingOperation<ResponseHead>

    /// Makes the reader. The operation then goes on for the reader, even if nobody else awaits the operation.
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
