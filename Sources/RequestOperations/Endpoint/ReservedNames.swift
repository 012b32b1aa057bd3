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
