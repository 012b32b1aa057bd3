/// Finds stored properties with a name of the endpoint protocol but not the type that the protocol requires.
///
/// Such a type compiles, because nearly all members of the protocol have a default. For example, `let method = "POST"`
/// is a separate property of type `String`, and the request would be a GET.
///
/// Three kinds of properties cannot be found this way: a computed property, a property in a user's own wrapper, and a
/// property of type `Any`. A type with a custom mirror is not checked.
enum ReservedProperties {
    private enum Finding: Sendable {
        case right
        case wrong(EndpointProblem)
    }

    /// The result for each type. It is kept because a mirror takes longer than the rest of the request.
    private static let findings = Locked<[ObjectIdentifier: Finding]>([:])

    /// - Throws: An `EndpointProblem` that names the property.
    static func check(_ endpoint: some Endpoint) throws {
        let id = ObjectIdentifier(type(of: endpoint))
        let known = findings.withLock { $0[id] }
        let finding = known ?? self.finding(of: endpoint)
        if known == nil { findings.withLock { $0[id] = finding } }
        if case .wrong(let problem) = finding { throw problem }
    }

    private static func finding(of endpoint: some Endpoint) -> Finding {
        guard !(endpoint is any CustomReflectable) else { return .right }
        var mirror: Mirror? = Mirror(reflecting: endpoint)
        while let current = mirror {
            // The children of an enumeration are its cases.
            guard current.displayStyle == .struct || current.displayStyle == .class else { return .right }
            for case (let label?, let value) in current.children {
                if let problem = problem(label, value, in: current, of: endpoint) { return .wrong(problem) }
            }
            mirror = current.superclassMirror
        }
        return .right
    }

    private static func problem<Subject: Endpoint>(
        _ label: String, _ value: Any, in mirror: Mirror, of endpoint: Subject
    ) -> EndpointProblem? {
        let name = StoredProperty.name(label)
        guard ReservedNames.all.contains(name), let expected = expected(of: name, in: Subject.self) else { return nil }
        let wrapper = value as? any PlacedParameter
        let isIgnored = wrapper?.placement == .ignored
        let found: Any.Type
        let isRight: Bool
        if StoredProperty.isLazy(label) {
            found = type(of: value)
            isRight = found == expected.lazy
        } else if label == name {
            // A wrapper marks the property as a parameter.
            guard wrapper == nil || isIgnored else { return nil }
            found = type(of: value)
            // The property may hold an object of a subclass.
            isRight = found == expected.plain || expected.plain is AnyClass && expected.holds(value)
        } else if let wrapper, isIgnored {
            found = wrapper.valueType
            isRight = found == expected.plain
        } else {
            // The storage of a computed property, or of a wrapper whose property may have any type.
            return nil
        }
        guard isRight else {
            return EndpointProblem(
                description:
                    "'\(name)' of '\(mirror.subjectType)' has the type '\(found)', and the protocol Endpoint asks for"
                    + " '\(expected.plain)': the request would be made without it. Give it that type, another name, or a"
                    + " place, as in @Query(\"\(name)\").")
        }
        // Only a property of the class that conforms is used. A stored property in a subclass does not override it.
        guard let superclass = mirror.superclassMirror?.subjectType, superclass is any Endpoint.Type else { return nil }
        return EndpointProblem(
            description:
                "'\(name)' of '\(mirror.subjectType)' is not that of its superclass '\(superclass)', which is an"
                + " Endpoint: the request would be made without it. Declare it there, and override it.")
    }

    /// The type that the protocol asks for.
    private struct Expected {
        let plain: Any.Type
        /// The type of the storage of a lazy property.
        let lazy: Any.Type
        let holds: (Any) -> Bool

        init<Value>(_ type: Value.Type) {
            plain = type
            lazy = Value?.self
            holds = { $0 is Value }
        }
    }

    private static func expected<Subject: Endpoint>(of name: String, in subject: Subject.Type) -> Expected? {
        switch name {
        case "method": Expected(HTTPMethod.self)
        case "path", "debugDescription": Expected(String.self)
        case "fields": Expected([String: String].self)
        case "parameters": Expected([String: ParameterValue].self)
        case "requestObject": Expected(Subject.RequestObject.self)
        case "naming": Expected(ParameterNaming.self)
        case "valueTransform": Expected(ParameterTransform?.self)
        case "queryEncoder": Expected(URLEncodedFormEncoder.self)
        case "bodyEncoder": Expected(ParameterEncoder.self)
        case "files": Expected([MultipartFormData.Part].self)
        case "acceptedContentTypes": Expected([String].self)
        case "responseDecoder": Expected(ResponseDecoder<Subject.Response>.self)
        case "errorBodyDecoder": Expected(ErrorBodyDecoder?.self)
        default: nil
        }
    }
}
