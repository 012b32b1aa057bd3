/// In which order the results of several operations come.
public enum ResultOrder: Sendable, Hashable {
    /// In the order of the operations.
    case ofOperations
    /// As the operations end.
    case ofEnds
}

/// The results of operations that run in a queue, a few at a time. `results(of:atMost:order:)` of a queue makes it.
///
/// - An operation begins when the iteration asks for a result and fewer than the maximum have begun that are not consumed
///   yet. So a slow consumer holds up the operations, and a million of them need not exist at once.
/// - The failure of an operation is a result like any other.
/// - If the Task of the iteration is cancelled, the operations that have begun are cancelled, and the iteration throws a
///   `CancellationError`. If the iteration stops early, they are cancelled, too.
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
    private let makeSource: (ResultLine<Value>) -> Source

    init(
        on queue: OperationQueue, atMost maximum: Int, in order: ResultOrder,
        from makeSource: @escaping (ResultLine<Value>) -> Source
    ) {
        self.queue = queue
        self.maximum = maximum
        self.order = order
        self.makeSource = makeSource
    }

    /// Begins with the first operation.
    public func makeAsyncIterator() -> Iterator {
        let line = ResultLine<Value>(on: queue, atMost: maximum, in: order)
        return Iterator(line: line, source: makeSource(line))
    }

    /// Gives one result after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let owner: Owner

        fileprivate init(line: ResultLine<Value>, source: Source) {
            owner = Owner(line: line, source: source)
        }

        /// The next result. `nil` after the last one.
        ///
        /// - Throws: `CancellationError`, or the error of an asynchronous sequence of operations.
        public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        /// The next result. `nil` after the last one. A loop over the results calls this.
        ///
        /// - Parameter actor: The actor of the loop. A sequence of operations is asked there, since its closures may belong to
        ///   that actor.
        /// - Throws: `CancellationError`, or the error of an asynchronous sequence of operations.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            let line = owner.line
            if Task.isCancelled { line.cancel() }
            if case .pulled(let nextOperation) = owner.source {
                while line.hasRoom {
                    if let operation = nextOperation() { line.begin(operation) } else { line.endSource(nil) }
                }
            }
            return try await withTaskCancellationHandler {
                try await line.next()
            } onCancel: {
                line.cancel()
            }
        }
    }

    /// Ends the operations when the iterator is freed.
    private final class Owner {
        let line: ResultLine<Value>
        let source: Source

        init(line: ResultLine<Value>, source: Source) {
            self.line = line
            self.source = source
        }

        deinit {
            line.cancel()
            if case .pushed(let task) = source { task.cancel() }
        }
    }
}
