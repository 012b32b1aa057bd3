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

/// The properties that the endpoint protocol declares. They are not parameters unless they are wrapped.
struct ReservedNames {
    static let all: Set<String> = [
        "method", "path", "fields", "parameters", "requestObject", "naming", "valueTransform",
        "queryEncoder", "bodyEncoder", "files", "acceptedContentTypes", "responseDecoder", "errorBodyDecoder",
        "debugDescription",
    ]

    /// Maps each written name to the declared name.
    private let declared: [String: String]
    /// The stored properties. They come from a mirror, so they are read only when needed.
    private let stored: () -> [String: any Encodable]
    /// The value of a declared property, if it can be encoded.
    private let value: (_ name: String) -> (any Encodable)?
    /// The form in which a value is written under a name.
    private let written: (_ name: String, any Encodable) throws -> ParameterNode?
    private let naming: ParameterNaming

    init<Subject: Endpoint>(of endpoint: Subject) {
        declared = Dictionary(Self.all.flatMap { [($0, $0), (endpoint.naming.name(for: $0), $0)] }) { $1 }
        stored = { StoredProperty.values(of: endpoint) }
        value = { Self.value($0, of: endpoint) }
        written = { name, value in
            let tree = try ParameterTreeEncoder.tree(
                of: NamedParameter(name: name, value: value), naming: endpoint.naming,
                transform: endpoint.valueTransform)
            guard case .record(let record) = tree else { return nil }
            return record.value(name)
        }
        naming = endpoint.naming
    }

    /// The names of the members that come from these properties.
    ///
    /// - Throws: An `EndpointProblem` if `CodingKeys` gives such a name to another property, which would be left out.
    func names(in record: ParameterRecord) throws -> Set<String> {
        let names = record.members.map(\.name).filter { declared[$0] != nil }
        guard !names.isEmpty else { return [] }
        let stored = stored()
        for member in record.members {
            guard let name = declared[member.name] else { continue }
            // Only the value shows which property a member comes from, because a key holds only a name.
            func isWritten(_ value: any Encodable) throws -> Bool {
                try written(member.name, value)?.isSame(as: member.value) ?? false
            }
            guard let own = stored[name] ?? value(name), try isWritten(own),
                try !others(than: name, in: stored, record).contains(where: isWritten)
            else {
                throw EndpointProblem(
                    description: "A property is encoded as '\(member.name)', a name of the protocol Endpoint, and would"
                        + " be left out: wrap it, as in @Query(\"\(member.name)\").")
            }
        }
        return Set(names)
    }

    /// The values of stored properties that are not written under their own names. One of them could be written under
    /// this name.
    private func others(
        than name: String, in stored: [String: any Encodable], _ record: ParameterRecord
    ) -> [any Encodable] {
        stored.filter { other, value in
            other != name && !Self.all.contains(other) && !(value is any PlacedParameter)
                && record.value(other) == nil && record.value(naming.name(for: other)) == nil
        }
        .map(\.value)
    }

    /// The value of a declared property, or `nil` if it cannot be encoded.
    private static func value<Subject: Endpoint>(_ name: String, of endpoint: Subject) -> (any Encodable)? {
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
}

/// A value of any type with a name.
private struct NamedParameter: Encodable {
    let name: String
    let value: any Encodable

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ParameterKey.self)
        try container.encode(value, forKey: ParameterKey(name))
    }
}

extension ParameterNode {
    /// Whether two values would be written in the same way. The order of members does not matter.
    fileprivate func isSame(as other: ParameterNode) -> Bool {
        switch (self, other) {
        case (.absent, .absent), (.absent, .null), (.null, .absent), (.null, .null): true
        case (.boolean(let first), .boolean(let second)): first == second
        case (.integer(let first), .integer(let second)): first == second
        case (.unsigned(let first), .unsigned(let second)): first == second
        case (.float(let first), .float(let second)): first.bitPattern == second.bitPattern
        case (.double(let first), .double(let second)): first.bitPattern == second.bitPattern
        case (.decimal(let first), .decimal(let second)): first == second
        case (.text(let first), .text(let second)): first == second
        case (.date(let first), .date(let second)): first == second
        case (.data(let first), .data(let second)): first == second
        case (.list(let first), .list(let second)):
            first.elements.count == second.elements.count
                && zip(first.elements, second.elements).allSatisfy { $0.isSame(as: $1) }
        case (.record(let first), .record(let second)):
            first.members.count == second.members.count
                && first.members.allSatisfy { second.value($0.name)?.isSame(as: $0.value) ?? false }
        default: false
        }
    }
}
