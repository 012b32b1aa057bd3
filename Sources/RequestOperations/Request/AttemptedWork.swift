/// What the attempts of an operation are.
enum AttemptedWork: Sendable, Hashable {
    case request
    /// Other work of a ``RetryingOperation``.
    ///
    /// - Parameters:
    ///   - isIdempotent: Whether the work may be attempted again after it may have had an effect.
    ///   - name: What errors and descriptions call it.
    indirect case other(isIdempotent: Bool, name: String)

    /// The name of other work. `nil` for a request.
    var name: String? {
        if case .other(_, let name) = self { name } else { nil }
    }
}
