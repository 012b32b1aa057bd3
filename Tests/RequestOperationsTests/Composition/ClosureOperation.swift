import RequestOperations

/// An operation over a closure.
// Unchecked as its superclass is; its own property is a constant.
final class ClosureOperation<Value: Sendable>: AsynchronousOperation<Value>, @unchecked Sendable {
    private let body: @Sendable () async throws -> Value

    init(_ body: @escaping @Sendable () async throws -> Value) {
        self.body = body
    }

    override func run() async throws -> Value { try await body() }
}
