/// Makes a new key each time, for a request that belongs to no operation.
final class NewIdempotencyKeys: IdempotencyKeySource {
    func idempotencyKey() -> String { IdempotencyKey.new() }
}
