/// Holds the key of one request. It makes the key when an adapter first asks for it, and then always returns the same
/// one.
protocol IdempotencyKeySource: AnyObject, Sendable {
    func idempotencyKey() -> String
}
