/// The properties that the endpoint protocol declares. They are not parameters unless they are wrapped.
///
/// A stored property with such a name but another type compiles, because nearly all members of the protocol have a
/// default. For example, `let method = "POST"` is a separate property of type `String`, and the request would be a GET.
///
/// Three kinds of properties cannot be found: a computed property, a property in a user's own wrapper, and a property of
/// type `Any`. A type with a custom mirror is not checked.
enum ReservedProperties {
    static let names = Set(types(requestObject: Never.self, responseDecoder: Never.self).keys)

    /// The types that the protocol asks for.
    private static func types(requestObject: Any.Type, responseDecoder: Any.Type) -> [String: Any.Type] {
        [
            "method": HTTPMethod.self, "path": String.self, "fields": [String: String].self,
            "parameters": [String: ParameterValue].self, "requestObject": requestObject,
            "naming": ParameterNaming.self, "valueTransform": ParameterTransform?.self,
            "queryEncoder": URLEncodedFormEncoder.self, "bodyEncoder": ParameterEncoder.self,
            "files": [MultipartFormData.Part].self, "acceptedContentTypes": [String].self,
            "responseDecoder": responseDecoder, "errorBodyDecoder": ErrorBodyDecoder?.self,
            "debugDescription": String.self,
        ]
    }

    /// What is known about a type of endpoints. It is kept, because a mirror takes longer than the rest of the request.
    private struct Findings: Sendable {
        /// Why no value of the type can be a request.
        let problem: EndpointProblem?
        let hasSuperclass: Bool
        /// The reserved keys under which the type encodes the properties of the protocol, as far as it was seen.
        var ownKeys: Set<String> = []
    }

    private static let findings = Locked<[ObjectIdentifier: Findings]>([:])

    private static func findings<Subject: Endpoint>(on endpoint: Subject) -> Findings {
        let type = ObjectIdentifier(Swift.type(of: endpoint))
        if let known = findings.withLock({ $0[type] }) { return known }
        let mirrors = Array(sequence(first: Mirror(reflecting: endpoint), next: \.superclassMirror))
        // The children of an enumeration are its cases.
        let isChecked = [.struct, .class].contains(mirrors[0].displayStyle) && !(endpoint is any CustomReflectable)
        let types = types(
            requestObject: Subject.RequestObject.self, responseDecoder: ResponseDecoder<Subject.Response>.self)
        let problems = (isChecked ? mirrors : []).flatMap { mirror in
            mirror.children.compactMap { child in
                child.label.flatMap { problem($0, child.value, in: mirror, types) }
            }
        }
        let found = Findings(problem: problems.first, hasSuperclass: mirrors.count > 1)
        findings.withLock { $0[type] = found }
        return found
    }

    // MARK: Before the encoding

    /// Checks that no stored property has a reserved name but not the type that the protocol requires.
    ///
    /// - Throws: An `EndpointProblem` that names the property.
    static func check(_ endpoint: some Endpoint) throws {
        if let problem = findings(on: endpoint).problem { throw problem }
    }

    private static func problem(
        _ label: String, _ value: Any, in mirror: Mirror, _ types: [String: Any.Type]
    ) -> EndpointProblem? {
        let name = StoredProperty.name(label)
        guard let expected = types[name] else { return nil }
        let wrapper = value as? any PlacedParameter
        let isIgnored = wrapper?.placement == .ignored
        var found: Any.Type = type(of: value)
        let isRight: Bool
        if StoredProperty.isLazy(label) {
            isRight = found == lazy(expected)
        } else if label == name {
            // A wrapper marks the property as a parameter.
            guard wrapper == nil || isIgnored else { return nil }
            // The property may hold an object of a subclass.
            isRight = found == expected || expected is AnyClass && holds(value, expected)
        } else if let wrapper, isIgnored {
            found = wrapper.valueType
            isRight = found == expected
        } else {
            // The storage of a computed property, or of a wrapper whose property may have any type.
            return nil
        }
        guard isRight else {
            return EndpointProblem(
                description:
                    "'\(name)' of '\(mirror.subjectType)' has the type '\(found)', and the protocol Endpoint asks for"
                    + " '\(expected)': the request would be made without it. Give it that type, another name, or a"
                    + " place, as in @Query(\"\(name)\").")
        }
        // Only a property of the class that conforms is used. A stored property in a subclass does not override it.
        guard let superclass = mirror.superclassMirror?.subjectType, superclass is any Endpoint.Type else { return nil }
        return EndpointProblem(
            description:
                "'\(name)' of '\(mirror.subjectType)' is not that of its superclass '\(superclass)', which is an"
                + " Endpoint: the request would be made without it. Declare it there, and override it.")
    }

    /// The type of the storage of a lazy property.
    private static func lazy<Value>(_ type: Value.Type) -> Any.Type { Value?.self }

    private static func holds<Value>(_ value: Any, _ type: Value.Type) -> Bool { value is Value }

    // MARK: After the encoding

    /// Removes the members that come from the protocol's properties.
    ///
    /// - Parameters:
    ///   - record: What the endpoint encoded.
    ///   - endpoint: The endpoint.
    ///   - notes: The settings of the encoding, with its notes.
    /// - Throws: An `EndpointProblem` if a property would be left out. Either `CodingKeys` gives it a reserved name, or it
    ///   is one of a subclass, and the inherited `encode(to:)` does not know it.
    static func remove(
        from record: ParameterRecord, of endpoint: some Endpoint, _ notes: ParameterSettings
    ) throws {
        let found = findings(on: endpoint)
        if found.hasSuperclass { try checkIsWhole(record, of: endpoint, notes.typesOfKeys) }
        let keys = notes.reservedKeys.filter { record.value($0.key) != nil }
        guard !keys.isEmpty else { return }
        if !found.ownKeys.isSuperset(of: keys.values) {
            try checkAreOwn(keys, in: record, of: endpoint, notes)
            findings.withLock { $0[ObjectIdentifier(type(of: endpoint))]?.ownKeys.formUnion(keys.values) }
        }
        record.removeAll { keys[$0] != nil }
    }

    /// Checks that members with reserved names come from the protocol's properties.
    ///
    /// Only the value shows which property a member comes from, because a key holds only a name.
    private static func checkAreOwn(
        _ keys: [String: String], in record: ParameterRecord, of endpoint: some Endpoint, _ notes: ParameterSettings
    ) throws {
        let stored = Dictionary(StoredProperty.all(of: endpoint).map { (StoredProperty.name($0.label), $0.value) }) {
            $1
        }
        // One of the properties that are not written under their own names could be written under this one.
        let others = stored.filter { name, value in
            !names.contains(name) && !(value is any PlacedParameter) && record.value(name) == nil
                && record.value(notes.naming.name(for: name)) == nil
        }
        for (name, key) in keys {
            let written = try text(of: record.value(name) ?? .absent)
            func isWritten(_ value: Any?) throws -> Bool {
                guard let value = value as? any Encodable else { return false }
                let settings = ParameterSettings(naming: notes.naming, transform: notes.transform)
                return try text(of: ParameterTreeEncoder.node(of: value, at: ParameterKey(name), settings)) == written
            }
            // What is stored under the name may be the storage of a computed property, of any type.
            let own = (stored[key] as? any Encodable) ?? value(key, of: endpoint)
            guard try isWritten(own), try !others.values.contains(where: isWritten) else {
                throw EndpointProblem(
                    description: "A property is encoded as '\(name)', a name of the protocol Endpoint, and would"
                        + " be left out: wrap it, as in @Query(\"\(name)\").")
            }
        }
    }

    /// The text of a value, for comparison. The order of members does not matter.
    private static func text(of node: ParameterNode) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try encoder.encode([EncodableParameters(node)])
    }

    /// The value of a declared property, or `nil` if it cannot be encoded.
    private static func value(_ name: String, of endpoint: some Endpoint) -> (any Encodable)? {
        switch name {
        case "method": endpoint.method
        case "path": endpoint.path
        case "fields": endpoint.fields
        case "parameters": endpoint.parameters
        case "requestObject": endpoint.requestObject
        case "acceptedContentTypes": endpoint.acceptedContentTypes
        default: nil
        }
    }

    /// Checks that the inherited `encode(to:)` encodes all properties of a subclass.
    private static func checkIsWhole(
        _ record: ParameterRecord, of endpoint: some Endpoint, _ typesOfKeys: [Any.Type]
    ) throws {
        let encoded = record.members.map(\.name) + record.placedMembers.map(\.key)
        var missing: [String] = []
        for mirror in sequence(first: Mirror(reflecting: endpoint), next: \.superclassMirror) {
            // The root class encodes its own properties itself, or leaves them out itself.
            if mirror.superclassMirror == nil { break }
            // A class that used keys of its own encodes itself. It leaves properties out on purpose.
            let type = String(reflecting: mirror.subjectType) + "."
            if typesOfKeys.contains(where: { String(reflecting: $0).hasPrefix(type) }) { continue }
            for case (let label?, let value) in mirror.children where !label.hasPrefix("$") {
                let name = StoredProperty.name(label)
                let isLeftOut = (value as? any PlacedParameter)?.placement == .ignored || names.contains(name)
                if !isLeftOut, ![label, name, endpoint.naming.name(for: name)].contains(where: encoded.contains) {
                    missing.append("'\(name)'")
                }
            }
        }
        guard !missing.isEmpty else { return }
        throw EndpointProblem(
            description:
                "\(missing.joined(separator: ", ")) of the class '\(type(of: endpoint))' would be left out: it writes"
                + " its own encode(to:), with CodingKeys of its own, or wraps them in @Ignored.")
    }
}
