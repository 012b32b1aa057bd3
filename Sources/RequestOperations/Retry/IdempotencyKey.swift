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
