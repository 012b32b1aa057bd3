extension RetryingOperation {
    /// Makes an operation that runs another operation for each attempt, and has its value.
    ///
    /// - Parameters:
    ///   - name: What errors and descriptions call the work. `work` by default.
    ///   - resource: Names the host of the work for the limiter, the budget and the breaker. None by default.
    ///   - isIdempotent: Whether the work may be attempted again after an attempt failed half-way. `true` by default.
    ///   - configuration: How often and when the work is attempted. ``RequestConfiguration/default`` if not given.
    ///   - makeOperation: Makes a fresh operation, which is in no queue. Called once for each attempt.
    public convenience init(
        named name: String = "work", resource: URL? = nil, isIdempotent: Bool = true,
        configuration: RequestConfiguration = .default,
        operation makeOperation: @escaping @Sendable () throws -> AsynchronousOperation<Value>
    ) {
        self.init(named: name, resource: resource, isIdempotent: isIdempotent, configuration: configuration) { _ in
            let operation = try makeOperation()
            await operation.runAsMember(by: .ofCurrentOperation)
            guard let result = operation.result else { throw CancellationError() }
            return try result.get()
        }
    }
}

extension RetryingOperation where Value == Void {
    // Disfavoured, because a closure that makes one of ours could mean either function.

    /// Makes an operation that runs an operation of any class for each attempt, such as a `BlockOperation`.
    ///
    /// - Parameters:
    ///   - name: What errors and descriptions call the work. `work` by default.
    ///   - resource: Names the host of the work for the limiter, the budget and the breaker. None by default.
    ///   - isIdempotent: Whether the work may be attempted again after an attempt failed half-way. `true` by default.
    ///   - configuration: How often and when the work is attempted. ``RequestConfiguration/default`` if not given.
    ///   - makeOperation: Makes a fresh operation, which is in no queue. Called once for each attempt.
    ///   - error: Why a finished operation failed. By default only a cancelled one has failed, and cancels this operation.
    @_disfavoredOverload
    public convenience init<Work: Operation>(
        named name: String = "work", resource: URL? = nil, isIdempotent: Bool = true,
        configuration: RequestConfiguration = .default, operation makeOperation: @escaping @Sendable () throws -> Work,
        error: @escaping @Sendable (Work) -> (any Error)? = { $0.isCancelled ? CancellationError() : nil }
    ) {
        self.init(named: name, resource: resource, isIdempotent: isIdempotent, configuration: configuration) { _ in
            let operation = try makeOperation()
            await operation.runAsMember(by: .ofCurrentOperation)
            if let error = error(operation) { throw error }
        }
    }
}
