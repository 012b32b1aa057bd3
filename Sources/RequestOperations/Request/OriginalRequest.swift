/// The request from which all attempts are processed.
struct OriginalRequest: Sendable {
    /// The request as it was given.
    private(set) var value: URLRequest
    /// The idempotency key of all attempts, if an adapter asked for one.
    private(set) var idempotencyKey: String?

    init(_ request: URLRequest) {
        value = request
    }

    /// Stores a key for all attempts, unless there is one. Returns the stored key.
    mutating func keep(_ new: String) -> String {
        if let idempotencyKey { return idempotencyKey }
        idempotencyKey = new
        return new
    }

    /// Replaces the request. The new request gets a new key, even if it is a copy of a sent one that has the old key.
    mutating func replace(with request: URLRequest) {
        var request = request
        if let idempotencyKey, request.value(forHTTPHeaderField: IdempotencyKey.field) == idempotencyKey {
            request.setValue(nil, forHTTPHeaderField: IdempotencyKey.field)
        }
        self = OriginalRequest(request)
    }
}
