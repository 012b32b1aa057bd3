/// A tree of parameters as a value for any encoder.
struct EncodableParameters: Encodable {
    private let node: ParameterNode

    init(_ node: ParameterNode) {
        self.node = node
    }

    func encode(to encoder: any Encoder) throws {
        switch node {
        case .record(let record):
            var container = encoder.container(keyedBy: ParameterKey.self)
            for member in record.members {
                if case .absent = member.value { continue }
                try container.encode(EncodableParameters(member.value), forKey: ParameterKey(member.name))
            }
        case .list(let list):
            var container = encoder.unkeyedContainer()
            for element in list.elements { try container.encode(EncodableParameters(element)) }
        default:
            var container = encoder.singleValueContainer()
            try encodeValue(into: &container)
        }
    }

    private func encodeValue(into container: inout any SingleValueEncodingContainer) throws {
        switch node {
        case .absent, .null, .record, .list: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .float(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        }
    }
}
