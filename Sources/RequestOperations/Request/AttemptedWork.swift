/// What the attempts of an operation are.
enum AttemptedWork: Sendable, Hashable {
    case request
    /// Other work of a ``RetryingOperation``.
    ///
    /// - Parameter isIdempotent: Whether the work may be attempted again after it may have had an effect.
    case other(isIdempotent: Bool)
}
