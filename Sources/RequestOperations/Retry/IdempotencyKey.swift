extension RequestAdapter {
    /// Gives each request a key that all its attempts share (draft-ietf-httpapi-idempotency-key-header).
    ///
    /// The key lets the server tell a repeated request from a second one. So the retry policy may repeat the request.
    ///
    /// The value is a random UUID (RFC 9562, version 4), as a string in quotation marks (RFC 9651, section 3.3.3). It
    /// cannot be guessed, and the keys of two requests are unrelated. It does not come from
    /// ``RequestConfiguration/randomSource``, because two processes with the same seed would then have the same keys. A
    /// decision that replaces the request
    /// (``RetryDecision/retry(after:or:restartingBackoff:restartingCount:with:)``) gives it a new key. A request that already
    /// has a key keeps it. The key prevents a second action only on a server that supports the field. You must know whether
    /// your server does.
    ///
    /// - Parameter methods: The methods of the requests that get a key, without regard to case. POST and PATCH by
    ///   default.
    public static func idempotencyKey(methods: Set<String> = ["POST", "PATCH"]) -> RequestAdapter {
        let methods = Set(methods.map { $0.uppercased() })
        return RequestAdapter(isRepeatable: true) { request, keys in
            guard methods.contains((request.httpMethod ?? "GET").uppercased()) else { return }
            guard request.value(forHTTPHeaderField: IdempotencyKey.field) == nil else { return }
            request.setField(IdempotencyKey.field, to: keys.idempotencyKey())
        }
    }
}

/// The `Idempotency-Key` field, which makes a request repeatable.
package enum IdempotencyKey {
    package static let field = "Idempotency-Key"

    /// Makes a new, unique value.
    package static func new() -> String { "\"\(UUID().uuidString.lowercased())\"" }
}

/// Holds the key of one request. It makes the key when an adapter first asks for it, and then always returns the same
/// one.
protocol IdempotencyKeySource: AnyObject, Sendable {
    func idempotencyKey() -> String
}

/// Makes a new key each time, for a request that belongs to no operation.
final class NewIdempotencyKeys: IdempotencyKeySource {
    func idempotencyKey() -> String { IdempotencyKey.new() }
}
