/// Runs operations for an iteration over their results.
final class ResultLine<Value: Sendable>: Sendable {
    typealias Element = Result<Value, any Error>

    private enum Source {
        case flows
        case ended((any Error)?)
        case cancelled
    }

    private struct State {
        let maximum: Int
        let order: ResultOrder
        var source = Source.flows
        /// The operations that have begun and not ended, by their numbers.
        var running: [Int: AsynchronousOperation<Value>] = [:]
        var begun = 0
        /// The results that are not consumed yet. Their numbers are those of the operations, or count the ends.
        var results: [Int: Element] = [:]
        var ended = 0
        var consumed = 0
        /// The consumer, while it waits.
        var consumer: Answer<Element?>?
        /// The producer, while it waits for room.
        var producer: Answer<Void>?

        var hasRoom: Bool {
            guard case .flows = source else { return false }
            return begun - consumed < maximum
        }

        mutating func begin(_ operation: AsynchronousOperation<Value>) -> Int? {
            guard case .flows = source else { return nil }
            defer { begun += 1 }
            running[begun] = operation
            return begun
        }

        mutating func end(_ number: Int, _ result: Element) {
            running[number] = nil
            results[order == .ofOperations ? number : ended] = result
            ended += 1
        }

        /// What the consumer gets now. `nil` if it waits.
        mutating func take() -> Result<Element?, any Error>? {
            if case .cancelled = source { return .failure(CancellationError()) }
            if let result = results.removeValue(forKey: consumed) {
                consumed += 1
                return .success(result)
            }
            guard running.isEmpty, case .ended(let error) = source else { return nil }
            // The error comes once.
            source = .ended(nil)
            return error.map { .failure($0) } ?? .success(nil)
        }
    }

    private let queue: OperationQueue
    private let state: Locked<State>

    init(on queue: OperationQueue, atMost maximum: Int, in order: ResultOrder) {
        self.queue = queue
        state = Locked(State(maximum: max(maximum, 1), order: order))
    }

    /// Whether another operation may begin.
    var hasRoom: Bool { state.withLock { $0.hasRoom } }

    /// Adds the next operation to the queue. After a cancel, it ends without running.
    func begin(_ operation: AsynchronousOperation<Value>) {
        guard let number = state.withLock({ $0.begin(operation) }) else { return operation.discard() }
        queue.addOperation(operation)
        operation.subscribeToFinish { [unowned operation] in
            // The operation itself calls its subscribers, after it has ended.
            let result = operation.result ?? .failure(CancellationError())
            self.change { $0.end(number, result) }
        }
    }

    /// Returns when another operation may begin.
    ///
    /// - Throws: `CancellationError`.
    func room() async throws {
        let answer = Answer<Void>()
        change { $0.producer = answer }
        try await answer.value
    }

    /// No further operation comes.
    func endSource(_ error: (any Error)?) {
        change { state in
            if case .flows = state.source { state.source = .ended(error) }
        }
    }

    /// The next result. Only one caller waits at a time.
    func next() async throws -> Element? {
        let answer = Answer<Element?>()
        change { $0.consumer = answer }
        return try await answer.value
    }

    /// Cancels all operations. The consumer and the producer get a `CancellationError`.
    func cancel() {
        let running = state.withLock { state in
            if case .ended = state.source, state.running.isEmpty, state.results.isEmpty {
                return [AsynchronousOperation<Value>]()
            }
            state.source = .cancelled
            return Array(state.running.values)
        }
        change { _ in }
        for operation in running { operation.cancel() }
    }

    /// Changes the state, and resumes those for whom there is something now.
    private func change(_ change: (inout State) -> Void) {
        let (consumer, producer) = state.withLock { state in
            change(&state)
            return (Self.consumption(of: &state), Self.production(of: &state))
        }
        consumer?()
        producer?()
    }

    private static func consumption(of state: inout State) -> (() -> Void)? {
        guard let consumer = state.consumer, let result = state.take() else { return nil }
        state.consumer = nil
        return { consumer.resume(with: result) }
    }

    private static func production(of state: inout State) -> (() -> Void)? {
        let result: Result<Void, any Error>
        switch state.source {
        case .cancelled: result = .failure(CancellationError())
        case .flows where state.hasRoom: result = .success(())
        case .flows, .ended: return nil
        }
        guard let producer = state.producer else { return nil }
        state.producer = nil
        return { producer.resume(with: result) }
    }
}
