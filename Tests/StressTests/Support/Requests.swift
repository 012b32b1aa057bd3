import RequestOperations

extension RequestConfiguration {
    /// A configuration over a transport.
    static func over(_ transport: any Transport) -> RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        return configuration
    }
}

/// Adds an operation to a queue of its own and awaits its value.
func run<Value>(_ operation: AsynchronousOperation<Value>) async throws -> Value {
    OperationQueue().addOperation(operation)
    return try await operation.value
}

extension DispatchQueue {
    /// Returns when this serial queue has run everything that it was given before.
    func drain() async {
        await withCheckedContinuation { continuation in async { continuation.resume() } }
    }
}

/// Applies a function to each element, to all at the same time; the results are in no order.
func concurrently<Element: Sendable, Output: Sendable>(
    _ elements: some Sequence<Element>, _ body: @escaping @Sendable (Element) async throws -> Output
) async throws -> [Output] {
    try await withThrowingTaskGroup { group in
        for element in elements { group.addTask { try await body(element) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
