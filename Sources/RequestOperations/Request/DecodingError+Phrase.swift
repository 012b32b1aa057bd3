extension DecodingError {
    /// What was wrong with a body, and at which coding path, such as `no value for 'name' at users[3]`. It contains no
    /// value of the body, which the decoder's own text may quote.
    var phrase: String {
        switch self {
        case .keyNotFound(let key, let context): "no value for '\(key.stringValue)'" + Self.place(of: context)
        case .valueNotFound(let type, let context): "no value of type \(type)" + Self.place(of: context)
        case .typeMismatch(let type, let context): "another type than \(type)" + Self.place(of: context)
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the body is not in its format"
        case .dataCorrupted(let context): "a value that is not valid" + Self.place(of: context)
        @unknown default: "the body is not in its format"
        }
    }

    /// The most characters of a path that are shown. They are its last ones, because these name the place.
    private static let longestPath = 200

    private static func place(of context: Context) -> String {
        var path = ""
        for key in context.codingPath {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        guard !path.isEmpty else { return " at the top" }
        return " at " + (path.count > longestPath ? "…" + path.suffix(longestPath) : path)
    }
}
