/// In which order the results of several operations come.
public enum ResultOrder: Sendable, Hashable {
    /// In the order of the operations.
    case ofOperations
    /// As the operations end.
    case ofEnds
}

/// The results of operations that run in a queue, a few at a time. `results(of:atMost:order:)` of a queue makes it.
///
/// - An operation begins when the iteration asks for a result, unless as many as the maximum have begun and are not consumed yet.
///   So a slow consumer holds up the operations, and a million of them need not exist at once.
/// - The failure of an operation is a result like any other.
/// - If the Task of the iteration is cancelled, the operations that have begun are cancelled, and the iteration throws a
///   `CancellationError`. If the iteration stops early, they are cancelled too.
public struct OperationResults<Value: Sendable>: AsyncSequence {
    /// The result of one operation.
    public typealias Element = Result<Value, any Error>

    /// Where the operations come from.
    enum Source {
        /// The consumer takes them.
        case pulled(() -> AsynchronousOperation<Value>?)
        /// A Task adds them.
        case pushed(Task<Void, Never>)
    }

    private let queue: OperationQueue
    private let maximum: Int
    private let order: ResultOrder
    private let makeSource: (ResultQueue<Value>) -> Source

    init(
        on queue: OperationQueue, atMost maximum: Int, in order: ResultOrder,
        from makeSource: @escaping (ResultQueue<Value>) -> Source
    ) {
        self.queue = queue
        self.maximum = maximum
        self.order = order
        self.makeSource = makeSource
    }

    /// Begins with the first operation.
    public func makeAsyncIterator() -> Iterator {
        let results = ResultQueue<Value>(on: queue, atMost: maximum, in: order)
        return Iterator(results: results, source: makeSource(results))
    }

    /// Gives one result after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let owner: Owner

        fileprivate init(results: ResultQueue<Value>, source: Source) {
            owner = Owner(results: results, source: source)
        }

        /// The next result. `nil` after the last one.
        ///
        /// - Throws: `CancellationError`, or the error of an asynchronous sequence of operations.
        public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        /// The next result. `nil` after the last one. A loop over the results calls this.
        ///
        /// - Parameter actor: The actor of the loop. A sequence of operations is read there, because its closures may belong to
        ///   that actor.
        /// - Throws: `CancellationError`, or the error of an asynchronous sequence of operations.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            let results = owner.results
            if Task.isCancelled { results.cancel() }
            if case .pulled(let nextOperation) = owner.source {
                while results.hasRoom {
                    if let operation = nextOperation() { results.begin(operation) } else { results.endSource(nil) }
                }
            }
            return try await withTaskCancellationHandler {
                try await results.next()
            } onCancel: {
                results.cancel()
            }
        }
    }

    /// Ends the operations when the iterator is freed.
    private final class Owner {
        let results: ResultQueue<Value>
        let source: Source

        init(results: ResultQueue<Value>, source: Source) {
            self.results = results
            self.source = source
        }

        deinit {
            results.cancel()
            if case .pushed(let task) = source { task.cancel() }
        }
    }
}

/// Runs operations for an iteration over their results.
final class ResultQueue<Value: Sendable>: Sendable {
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

        /// What the producer gets now. `nil` if it waits.
        var room: Result<Void, any Error>? {
            switch source {
            case .cancelled: .failure(CancellationError())
            case .flows: begun - consumed < maximum ? .success(()) : nil
            case .ended: nil
            }
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
    var hasRoom: Bool {
        if case .success? = state.withLock({ $0.room }) { true } else { false }
    }

    /// Adds the next operation to the queue. After a cancel, it ends without running.
    func begin(_ operation: AsynchronousOperation<Value>) {
        let begun = state.withLock { state -> Int? in
            guard case .flows = state.source else { return nil }
            defer { state.begun += 1 }
            state.running[state.begun] = operation
            return state.begun
        }
        guard let number = begun else { return operation.discard() }
        queue.addOperation(operation)
        operation.subscribeToFinish { [unowned operation] in
            // The operation itself calls its subscribers, after it has ended.
            let result = operation.finalResult
            self.change { state in
                state.running[number] = nil
                state.results[state.order == .ofOperations ? number : state.ended] = result
                state.ended += 1
            }
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
        let resumptions = state.withLock { state in
            change(&state)
            var resumptions: [() -> Void] = []
            if let consumer = state.consumer, let result = state.take() {
                state.consumer = nil
                resumptions.append { consumer.resume(with: result) }
            }
            if let producer = state.producer, let room = state.room {
                state.producer = nil
                resumptions.append { producer.resume(with: room) }
            }
            return resumptions
        }
        for resume in resumptions { resume() }
    }
}
