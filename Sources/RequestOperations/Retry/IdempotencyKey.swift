extension RequestAdapter {
    /// Gives requests a key that is the same for all attempts, so that the server can tell a repetition from a second
    /// request, and the retry policy may repeat it (draft-ietf-httpapi-idempotency-key-header).
    ///
    /// The value is a random UUID (RFC 9562, version 4), as a string in quotation marks (RFC 9651, section 3.3.3). Nobody can
    /// guess it, and the keys of two requests have nothing in common. It does not come from
    /// ``RequestConfiguration/randomSource``: two processes with the same seed would have the same keys. A decision that
    /// replaces the request (``RetryDecision/retry(after:or:restartingBackoff:with:)``) gives it a new key. A request that
    /// has a key of your own keeps it. Only a server that knows the field keeps from acting twice: that is for
    /// you to know.
    ///
    /// - Parameter methods: Which requests are given one, without regard to case. POST and PATCH by default.
    public static func idempotencyKey(methods: Set<String> = ["POST", "PATCH"]) -> RequestAdapter {
        let methods = Set(methods.map { $0.uppercased() })
        return RequestAdapter(isRepeatable: true) { request, keys in
            guard methods.contains((request.httpMethod ?? "GET").uppercased()) else { return }
            guard request.value(forHTTPHeaderField: IdempotencyKey.field) == nil else { return }
            request.setField(IdempotencyKey.field, to: keys.idempotencyKey())
        }
    }
}

/// The key that makes a request one that can be repeated.
enum IdempotencyKey {
    static let field = "Idempotency-Key"

    /// A value that nobody else has.
    static func new() -> String { "\"\(UUID().uuidString.lowercased())\"" }
}

/// Has the key of a request, which is the same each time, and makes it when an adapter asks for it first.
protocol IdempotencyKeySource: AnyObject, Sendable {
    func idempotencyKey() -> String
}

/// The key of a request that no operation makes: another each time.
final class NewIdempotencyKeys: IdempotencyKeySource {
    func idempotencyKey() -> String { IdempotencyKey.new() }
}
