/// Collects the fields of an endpoint's request. A later field replaces an earlier one of the same name.
struct EndpointFields {
    private(set) var values: [(name: String, value: String)] = []

    /// Sets a field.
    mutating func set(_ name: String, _ value: String) {
        values.removeAll { $0.name.utf8.isSameFieldName(as: name.utf8) }
        values.append((name, value))
    }

    /// Sets the media ranges that are accepted, if there are any.
    mutating func setAccept(_ ranges: [String]) throws {
        guard !ranges.isEmpty else { return }
        guard ranges.allSatisfy({ MediaType($0) != nil && RequestPreflight.isFieldValue($0) }) else {
            throw EndpointProblem(description: "One of 'acceptedContentTypes' is not a media range.")
        }
        set("Accept", ranges.joined(separator: ", "))
    }

    /// Sets the endpoint's own header fields. Each name may appear once, ignoring case.
    mutating func set(_ fields: [String: String]) throws {
        guard Set(fields.keys.map { $0.lowercased() }).count == fields.count else {
            throw EndpointProblem(description: "'fields' has a name twice, in different cases.")
        }
        for (name, value) in fields {
            try Self.check(name, value)
            set(name, value)
        }
    }

    mutating func set(_ parameters: ParameterRecord, with encoder: URLEncodedFormEncoder) throws {
        for member in parameters.members where !member.value.isNil {
            let path = [ParameterKey(member.name)]
            let value =
                if case .list(let list) = member.value {
                    try list.elements.map { try Self.element($0, path, encoder) }.joined(separator: ", ")
                } else {
                    try encoder.text(of: member.value, path: path)
                }
            try Self.check(member.name, value)
            set(member.name, value)
        }
    }

    /// The text of a list element. A list cannot have an empty element (RFC 9110, section 5.6.1.1).
    private static func element(
        _ node: ParameterNode, _ path: [ParameterKey], _ encoder: URLEncodedFormEncoder
    ) throws -> String {
        let text = try encoder.text(of: node, path: path)
        guard !node.isNil, !text.isEmpty else {
            throw URLEncodedFormEncoder.invalid("", path, "has an element that is nil or empty, which no list can have")
        }
        return text
    }

    private static func check(_ name: String, _ value: String) throws {
        guard RequestPreflight.isToken(name) else {
            throw URLEncodedFormEncoder.invalid("", [ParameterKey(name)], "is not a name that a field can have")
        }
        guard RequestPreflight.isFieldValue(value) else {
            throw URLEncodedFormEncoder.invalid(
                "", [ParameterKey(name)], "has a line break or a NUL, which no field can have")
        }
    }
}
