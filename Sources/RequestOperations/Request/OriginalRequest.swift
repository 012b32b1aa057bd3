/// The request that all attempts are processed from.
struct OriginalRequest: Sendable {
    /// The request as it was given.
    private(set) var value: URLRequest
    /// The key that the attempts of this request have, if an adapter asked for one.
    private(set) var idempotencyKey: String?

    init(_ request: URLRequest) {
        value = request
    }

    /// Keeps a key for all attempts, unless there is one. Returns the one that is kept.
    mutating func keep(_ new: String) -> String {
        if let idempotencyKey { return idempotencyKey }
        idempotencyKey = new
        return new
    }

    /// Replaces the request by another one. The new request gets a key of its own, even if it is a copy of one that was sent
    /// and so has the former key.
    mutating func replace(with request: URLRequest) {
        var request = request
        if let idempotencyKey, request.value(forHTTPHeaderField: IdempotencyKey.field) == idempotencyKey {
            request.setValue(nil, forHTTPHeaderField: IdempotencyKey.field)
        }
        self = OriginalRequest(request)
    }
}
