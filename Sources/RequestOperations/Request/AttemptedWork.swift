/// What the attempts of an operation are.
enum AttemptedWork: Sendable, Hashable {
    case request
    /// An upload by tus. It sends several requests, and none with the method of the operation's request.
    case tus
    /// Other work of a ``RetryingOperation``.
    ///
    /// - Parameters:
    ///   - isIdempotent: Whether the work may be attempted again after it may have had an effect.
    ///   - name: What errors and descriptions call it.
    indirect case other(isIdempotent: Bool, name: String)

    /// Whether it is other work than requests.
    var isOther: Bool {
        if case .other = self { true } else { false }
    }

    /// What errors and descriptions name in the place of a method. `nil` for a request.
    var name: String? {
        switch self {
        case .request: nil
        case .tus: "tus upload"
        case .other(_, let name): name
        }
    }
}
