import RequestOperations

/// A request operation of a program's own that overrides stages. They run off the main actor.
nonisolated final class SignedOperation: URLRequestOperation<User>, @unchecked Sendable {
    override func process(_ request: URLRequest) async throws -> URLRequest {
        var signed = try await super.process(request)
        signed.setValue("1", forHTTPHeaderField: "Signature")
        return signed
    }

    override func validate(_ head: ResponseHead) throws { try super.validate(head) }

    override func decode(_ response: TransportResponse) async throws -> User {
        let user = try await super.decode(response)
        return User(name: "\(user.name) (\(response.head.status))")
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await super.retryDecision(after: failure)
    }
}
