import RequestOperations
import RequestOperationsTesting

/// A request that goes nowhere.
let anyRequest = URLRequest(url: URL(string: "http://example.invalid/path?secret=1")!)

extension RequestConfiguration {
    /// A configuration over a script.
    static func scripted(_ answers: [ScriptedTransport.Answer]) -> RequestConfiguration {
        over(ScriptedTransport(answers))
    }

    /// A configuration over a transport.
    static func over(_ transport: any Transport) -> RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        // Tests that run at the same time send to the same hosts: what one does must not hold back another.
        configuration.retryPolicy.budget = nil
        configuration.retryPolicy.sharesRetryAfter = false
        configuration.retryPolicy.earlyRetryObservers = []
        return configuration
    }
}

/// Adds an operation to a queue of its own and awaits its value.
func run<Value>(_ operation: AsynchronousOperation<Value>) async throws -> Value {
    OperationQueue().addOperation(operation)
    return try await operation.value
}

/// The failure of an operation that runs.
func failure<Value>(ofStarted operation: AsynchronousOperation<Value>) async -> (any Error)? {
    do {
        _ = try await operation.value
        return nil
    } catch {
        return error
    }
}

/// Runs an operation and gives the error that it fails with.
func failure<Value>(of operation: AsynchronousOperation<Value>) async -> (any Error)? {
    do {
        _ = try await run(operation)
        return nil
    } catch {
        return error
    }
}

/// Awaits an operation that something has started, and gives its error if that is one of ours.
func requestError<Value>(of operation: AsynchronousOperation<Value>) async -> RequestError? {
    do {
        _ = try await operation.value
        return nil
    } catch {
        return error as? RequestError
    }
}

/// Waits until an operation that was started has ended, and all that ends with it: `isFinished` is `true` before that.
func end<Value>(of operation: AsynchronousOperation<Value>) async {
    await withCheckedContinuation { continuation in
        operation.whenFinished { _ in continuation.resume() }
    }
}

extension Transport {
    /// The failure that a task ends with; `nil` for a success or another error.
    func failure(
        of task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void = { _ in }
    ) async -> TransferFailure? {
        do {
            _ = try await perform(task, onHead: onHead)
            return nil
        } catch {
            return error as? TransferFailure
        }
    }
}

extension BodyStream {
    /// Bytes in one piece, again for each reader.
    static func of(_ bytes: Data, length: Int64? = nil) -> BodyStream {
        BodyStream(length: length) {
            let left = Locked<Data?>(bytes)
            return BodyStream.Reader { left.withLock { $0.take() } }
        }
    }
}
