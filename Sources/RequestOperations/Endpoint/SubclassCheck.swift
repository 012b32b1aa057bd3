/// Finds a subclass of an endpoint whose properties the inherited `encode(to:)` does not know.
enum SubclassCheck {
    /// - Parameters:
    ///   - endpoint: The endpoint; only an object of a subclass is looked at.
    ///   - encoded: The names of the parameters, and the keys of those that wrappers place.
    ///   - typesOfKeys: The names of the types of the keys that the endpoint was encoded with.
    static func check(_ endpoint: some Endpoint, encoded: [String], typesOfKeys: [String]) throws {
        var missing: [String] = []
        var mirror = Mirror(reflecting: endpoint)
        // What the outermost class declares is encoded, or left out, by that very class.
        while let superclass = mirror.superclassMirror {
            // A class that has keys of its own, and used them, encodes itself: it knows what it leaves out.
            let type = String(reflecting: mirror.subjectType)
            if !typesOfKeys.contains(where: { $0.hasPrefix(type + ".") }) {
                missing += properties(of: mirror).filter { label, name in
                    !encoded.contains { [label, name, endpoint.naming.name(for: name)].contains($0) }
                }.map(\.name)
            }
            mirror = superclass
        }
        guard !missing.isEmpty else { return }
        let names = missing.map { "'\($0)'" }.joined(separator: ", ")
        throw EndpointProblem(
            description:
                "\(names) of the class '\(type(of: endpoint))' would be left out: it writes its own encode(to:), with"
                + " CodingKeys of its own, or wraps them in @Ignored.")
    }

    /// The properties of one class that could be parameters.
    private static func properties(of mirror: Mirror) -> [(label: String, name: String)] {
        mirror.children.compactMap { child in
            guard let label = child.label, !isLeftOut(child.value), !label.hasPrefix("$") else { return nil }
            let name = StoredProperty.name(label)
            return ReservedNames.all.contains(name) ? nil : (label, name)
        }
    }

    private static func isLeftOut(_ value: Any) -> Bool {
        (value as? any PlacedParameter)?.placement == .ignored
    }
}
