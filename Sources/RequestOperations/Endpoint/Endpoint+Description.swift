extension Endpoint {
    /// One line: the type, the method, the path and the names of the parameters, without any values.
    ///
    /// `print` and the debugger show this line, so a credential in a property does not get into a log.
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
        // Without a user, the location is shown as written. A URL would escape the template in it.
        guard location.utf8.contains(UInt8(ascii: "@")) else { return location }
        // Text that is not a URL may have a password anywhere.
        guard URL(string: location) != nil else { return Self.mark }
        return reference.location(withUserAs: Self.mark + "@")
    }
}
