/// Finds a subclass of an endpoint with properties that the inherited `encode(to:)` does not encode.
enum SubclassCheck {
    /// - Parameters:
    ///   - endpoint: The endpoint. Only an object of a subclass is checked.
    ///   - encoded: The names of the parameters, and the keys of the parameters that wrappers place.
    ///   - typesOfKeys: The names of the key types that the endpoint was encoded with.
    static func check(_ endpoint: some Endpoint, encoded: [String], typesOfKeys: [String]) throws {
        var missing: [String] = []
        var mirror = Mirror(reflecting: endpoint)
        // The root class encodes its own properties itself, or leaves them out itself.
        while let superclass = mirror.superclassMirror {
            // A class that used keys of its own encodes itself. It leaves properties out on purpose.
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
