/// An operation that is a request of a client. The call has what it shares with the other kinds of them.
protocol ClientRequest: AnyObject {
    var call: ClientCall { get }
}

extension ClientRequest {
    /// Whether the operation is one of a client's.
    func belongs(to client: RequestClient) -> Bool { call.reporter.client === client }
}

extension ClientCall {
    /// The request to process: the one of an earlier attempt, or after the request hooks.
    ///
    /// - Parameters:
    ///   - request: The original request of the operation.
    ///   - operation: The operation.
    func request<Value: Sendable>(
        from request: URLRequest, for operation: URLRequestOperation<Value>
    ) async throws -> URLRequest {
        guard let begun = try await begin(request, isMember: operation.isMember) else { return request }
        operation.runner.requestState.withLock { $0.original.replace(with: begun) }
        return begun
    }

    /// Takes in the response, and lets the hooks change it.
    func response(_ response: TransportResponse, isMember: Bool) async throws -> TransportResponse {
        noteResponse(response)
        return try await hooked(response, isMember: isMember)
    }
}

extension AsynchronousOperation {
    /// Whether a batch, a chain or a group started the operation.
    var isMember: Bool { state.withLock { $0.isStartedAsMember } }
}
