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
        let reference = URLReference(path)
        let location = reference.location
        // Without a user it is shown as it is written. A URL would have its template escaped.
        guard location.utf8.contains(UInt8(ascii: "@")) else { return location }
        // What is no URL may have a password anywhere.
        guard URL(string: location) != nil else { return Self.mark }
        return reference.location(withUserAs: Self.mark + "@")
    }
}
