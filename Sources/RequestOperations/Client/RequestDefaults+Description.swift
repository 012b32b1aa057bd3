extension RequestDefaults: CustomStringConvertible, CustomReflectable {
    /// The location of the base URL, and the names of fields, parameters and user info, without their values.
    public var description: String {
        let parts = [
            baseURL.map { "base URL: \(Redaction.location(of: $0))" }, fields.names("fields"),
            parameters.names("parameters"), userInfo.names("user info"),
        ].compactMap(\.self)
        return parts.isEmpty ? "no defaults" : parts.joined(separator: ", ")
    }

    /// No children, so that `dump` shows no values.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

extension RequestOptions: CustomStringConvertible, CustomReflectable {
    /// The location of the base URL, and the names of fields, parameters, files and user info, without their values.
    public var description: String {
        let parts = [
            baseURL.map { "base URL: \(Redaction.location(of: $0))" }, fields.names("fields"),
            parameters.names("parameters"), userInfo.names("user info"),
            files.isEmpty ? nil : "\(files.count) files", tag.map { "tag: \($0)" },
        ].compactMap(\.self)
        return parts.isEmpty ? "no options" : parts.joined(separator: ", ")
    }

    /// No children, so that `dump` shows no values.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

extension RequestClient: CustomStringConvertible, CustomReflectable {
    /// `RequestClient` and its defaults.
    public var description: String { "RequestClient(\(defaults))" }

    /// No children, so that `dump` shows no values.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

extension Dictionary where Key == String {
    /// The names in order, after a word; `nil` without any.
    fileprivate func names(_ word: String) -> String? {
        isEmpty ? nil : "\(word): \(keys.sorted().joined(separator: " "))"
    }
}
