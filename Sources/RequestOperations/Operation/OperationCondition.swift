/// Something that must hold before an operation runs.
///
/// ```swift
/// upload.addCondition(.reachable, within: .seconds(30))
/// upload.addCondition(.custom("signed in") { try await session.check() })
/// upload.addCondition(.not(.dependencySucceeded(cachedCopy)))
/// ```
public struct OperationCondition: Sendable {
    /// The name, for the error of an operation whose condition does not hold.
    public let name: String

    /// An operation that must have finished before.
    private(set) var dependency: Operation?
    /// Throws unless the condition holds. With a limit it may wait for that.
    private let check: @Sendable (_ limit: Duration?) async throws -> Void
    private var limit: Duration?

    private struct Unmet: Error {
        var cause: (any Error)?
    }

    private init(
        _ name: String, after dependency: Operation? = nil,
        _ check: @escaping @Sendable (_ limit: Duration?) async throws -> Void
    ) {
        self.name = name
        self.dependency = dependency
        self.check = check
    }

    /// The machine is connected to a network (``NetworkPath/shared``).
    ///
    /// With a time limit, the condition waits for a network until the limit.
    public static var reachable: OperationCondition { reachable(on: .shared) }

    /// A network path is connected to a network.
    ///
    /// With a time limit, the condition waits for a network until the limit.
    ///
    /// - Parameter path: The path.
    public static func reachable(on path: NetworkPath) -> OperationCondition {
        OperationCondition("reachable") { limit in
            // The first value is the current one.
            for await reachability in path.changes {
                if reachability.isReachable { return }
                if limit == nil { throw Unmet() }
            }
            // The stream ends only with its Task.
            throw CancellationError()
        }
    }

    /// Another operation has succeeded. An ``AsynchronousOperation`` succeeds if it has a value. An operation of
    /// another class succeeds unless it was cancelled.
    ///
    /// The operation with the condition depends on it.
    ///
    /// - Parameter operation: The other operation.
    public static func dependencySucceeded(_ operation: Operation) -> OperationCondition {
        // The operation with the condition keeps its dependency, unless that is removed.
        OperationCondition("dependency succeeded", after: operation) { [weak operation] _ in
            if let failure = operation?.failureOfFinished { throw Unmet(cause: failure) }
        }
    }

    /// A condition of your own.
    ///
    /// - Parameters:
    ///   - name: The name for the error.
    ///   - check: Throws unless the condition holds. Called once, in a Task of its own and without the task-local values of
    ///     the operation. A `CancellationError` cancels the operation.
    public static func custom(
        _ name: String, _ check: @escaping @Sendable () async throws -> Void
    ) -> OperationCondition {
        OperationCondition(name) { _ in try await check() }
    }

    /// Another condition does not hold. If it runs out of time, or throws a `CancellationError`, this one fails too.
    ///
    /// - Parameter condition: The other condition. It does not wait for its time limit.
    public static func not(_ condition: OperationCondition) -> OperationCondition {
        OperationCondition("not \(condition.name)", after: condition.dependency) { _ in
            do {
                try await condition.check(nil)
            } catch let error as CancellationError {
                throw error
            } catch {
                return
            }
            throw Unmet()
        }
    }

    /// The condition as an operation keeps it, which keeps its dependency elsewhere.
    func added(within limit: Duration?) -> OperationCondition {
        var condition = self
        condition.limit = limit
        condition.dependency = nil
        return condition
    }

    /// Returns if the condition holds.
    ///
    /// - Parameter refuse: Called with the error if the time limit is over before that. It then cancels the Task.
    /// - Throws: ``RequestError/Code/conditionFailed``, `CancellationError`.
    func evaluate(orRefuse refuse: @escaping @Sendable (RequestError) -> Void) async throws {
        let alarm = limit.map { limit in
            DeadlineHeap.shared.schedule(at: .now + limit) {
                // Cancelling the Task may run code of the user, which must not hold up other deadlines.
                DispatchQueue.global().async { refuse(isLate(after: limit)) }
            }
        }
        defer { if let alarm { DeadlineHeap.shared.cancel(alarm) } }
        do {
            try await check(limit)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw isNotMet(because: error is Unmet ? (error as? Unmet)?.cause : error)
        }
    }

    private func isLate(after limit: Duration) -> RequestError {
        isNotMet(
            " within \(limit)",
            because: RequestError(.timedOut, stage: .start, reason: "start took longer than \(limit)"))
    }

    private func isNotMet(_ addition: String = "", because cause: (any Error)?) -> RequestError {
        RequestError(
            .conditionFailed, stage: .start, underlying: cause,
            reason: "the condition \"\(name)\" does not hold" + addition)
    }
}

extension AsynchronousOperation {
    /// Adds a condition, which must hold before the operation runs.
    ///
    /// All conditions are evaluated once, in the order of adding. That happens when all dependencies have finished and the
    /// operation has its keys (``addMutualExclusion(_:)``). Until then the operation is not ready, so it takes no place in
    /// a queue. If a condition does not hold, the operation ends without running, with
    /// ``RequestError/Code/conditionFailed``. The error names the condition and has the error that the condition threw.
    ///
    /// Add conditions before you add the operation to a queue. Once the evaluation has begun, this changes nothing. It
    /// begins when a queue takes the operation in, or when ``isReady`` is read. `start()` does not wait for it. Barriers of
    /// a ``RequestQueue`` delay the evaluation. Barriers of Foundation's queues do not.
    ///
    /// - Parameters:
    ///   - condition: The condition.
    ///   - limit: How long it may take. After that, it does not hold. `nil`, the default, means no limit.
    public final func addCondition(_ condition: OperationCondition, within limit: Duration? = nil) {
        if let dependency = condition.dependency { addDependency(dependency) }
        addPrecondition { $0.conditions.append(condition.added(within: limit)) }
    }
}
