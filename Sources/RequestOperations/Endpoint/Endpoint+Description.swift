extension Endpoint {
    /// One line: the type, the method, the path and the names of the parameters, without any value.
    ///
    /// `print` and the debugger show this, so that a credential in a property never stands in a log.
    public var debugDescription: String {
        var line = "\(Self.self): \(method.rawValue) \(Redaction.default.location(path))"
        guard let parameters = try? EndpointParameters(of: self) else { return line + " (cannot be encoded)" }
        let parts = [
            ("path", parameters.path), ("query", parameters.query), ("fields", parameters.fields),
            ("body", parameters.body),
        ]
        for (name, record) in parts where !record.members.isEmpty {
            line += ", \(name): " + record.members.map(\.name).sorted().joined(separator: " ")
        }
        return line
    }
}

extension Redaction {
    /// A path or URL without user, password and query.
    fileprivate func location(_ path: String) -> String {
        let location = URLReference(path).location
        // Only an absolute URL can have a user; a template would be escaped.
        guard location.contains("://") else { return location }
        // What is no URL may have a password anywhere.
        return URL(string: location).map(text) ?? Self.mark
    }
}
