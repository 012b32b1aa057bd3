extension OperationQueue {
    /// The value of an operation. Adds the operation to this queue, unless something has it already.
    ///
    /// ```swift
    /// let user = try await queue.value(of: URLRequestOperation(url, decoder: .json(User.self)))
    /// ```
    ///
    /// An operation that another queue, a group or a batch has is only awaited, and so is one that runs or has finished. An
    /// operation whose `isReady` was read is also only awaited, because Foundation's queues give no other sign that they have it.
    /// The first link of a chain that has not begun is added. Cancelling the Task has the same effect as for
    /// ``AsynchronousOperation/value``.
    ///
    /// - Parameter operation: The operation.
    /// - Returns: Its value.
    /// - Throws: Its error.
    public func value<Value: Sendable>(of operation: AsynchronousOperation<Value>) async throws -> Value {
        if operation.claim() { addOperation(operation) }
        return try await operation.value
    }

    /// Adds operations without waiting for them, as `addOperations(_:waitUntilFinished:)` with `false`. It can be called from
    /// asynchronous code.
    public func addOperations(_ operations: [Operation]) {
        addOperations(operations, waitUntilFinished: false)
    }

    /// Returns when all operations that are in the queue now have finished.
    ///
    /// It does not wait for operations that are added meanwhile, and does not keep operations from being cancelled. It returns
    /// early if its Task is cancelled.
    public func finished() async {
        let all = (self as? RequestQueue)?.allOperations ?? operations
        let finish = Answer<Void>()
        all.announceFinish(wantsResult: false) { finish.resume(with: .success(())) }
        await withTaskCancellationHandler {
            // The result is never an error.
            _ = try? await finish.value
        } onCancel: {
            finish.resume(with: .success(()))
        }
    }

    /// Runs operations in this queue, a few at a time, and gives their results.
    ///
    /// ```swift
    /// let requests = urls.lazy.map { URLRequestOperation($0, decoder: .json(User.self)) }
    /// for try await result in queue.results(of: requests, atMost: 8) {
    ///     print(result)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - operations: The operations, which must not be in a queue. The next one is taken when it can begin.
    ///   - maximum: The most operations that have begun and whose results are not consumed yet. 8 by default. Less than 1 counts
    ///     as 1.
    ///   - order: In which order the results come. ``ResultOrder/ofOperations`` by default.
    public func results<Operations: Sequence, Value: Sendable>(
        of operations: Operations, atMost maximum: Int = 8, order: ResultOrder = .ofOperations
    ) -> OperationResults<Value> where Operations.Element: AsynchronousOperation<Value> {
        OperationResults(on: self, atMost: maximum, in: order) { _ in
            var iterator = operations.makeIterator()
            return .pulled { iterator.next() }
        }
    }

    /// Runs the operations of an asynchronous sequence in this queue, a few at a time, and gives their results.
    ///
    /// The sequence is read in a Task of its own, one operation for each free place. An error of the sequence ends the results,
    /// after those of the operations before the error.
    ///
    /// - Parameters:
    ///   - operations: The operations, which must not be in a queue.
    ///   - maximum: The most operations that have begun and whose results are not consumed yet. 8 by default. Less than 1 counts
    ///     as 1.
    ///   - order: In which order the results come. ``ResultOrder/ofOperations`` by default.
    public func results<Operations: AsyncSequence & Sendable, Value: Sendable>(
        of operations: Operations, atMost maximum: Int = 8, order: ResultOrder = .ofOperations
    ) -> OperationResults<Value> where Operations.Element: AsynchronousOperation<Value> {
        OperationResults(on: self, atMost: maximum, in: order) { results in
            .pushed(
                Task {
                    do {
                        for try await operation in operations {
                            results.begin(operation)
                            try await results.room()
                        }
                        results.endSource(nil)
                    } catch {
                        results.endSource(error)
                    }
                })
        }
    }
}
