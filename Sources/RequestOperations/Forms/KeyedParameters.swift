/// Writes the members of a record.
struct KeyedParameters<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: ParameterSlot
    let record: ParameterRecord

    var codingPath: [any CodingKey] { slot.codingPath }

    func encodeNil(forKey key: Key) throws {
        record.set(slot.name(of: key), try slot.nullNode(at: key))
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if slot.takesPlacements, let placed = value as? any PlacedParameter {
            try set(placed, key)
        } else {
            record.set(slot.name(of: key), try slot.node(of: value, at: key))
        }
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        let name = slot.name(of: key)
        let nested = slot.nested(at: key)
        nested.node = record.value(name)
        let container = ParameterTreeEncoder(slot: nested).container(keyedBy: type)
        if let node = nested.node { record.set(name, node) }
        return container
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let name = slot.name(of: key)
        let nested = slot.nested(at: key)
        nested.node = record.value(name)
        let container = ParameterTreeEncoder(slot: nested).unkeyedContainer()
        if let node = nested.node { record.set(name, node) }
        return container
    }

    func superEncoder() -> any Encoder {
        superEncoder(under: ParameterKey.super)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        superEncoder(under: key)
    }

    private func superEncoder(under key: some CodingKey) -> any Encoder {
        let nested = slot.nested(at: key) { [record, slot] node in
            record.set(slot.name(of: key), node)
        }
        return ParameterTreeEncoder(slot: nested)
    }

    private func set(_ placed: any PlacedParameter, _ key: Key) throws {
        if placed.placement == .ignored { return }
        let node = try placed.wrapped.map { try slot.node(of: $0, at: key) } ?? slot.absentNode(at: key)
        // Variables of a template and names of header fields are not converted by a naming convention.
        let isConverted = placed.placement == .query || placed.placement == .body
        let name = placed.name ?? (isConverted ? slot.convertedName(of: key) : key.stringValue)
        record.setPlaced(
            ParameterRecord.PlacedMember(
                placement: placed.placement, key: key.stringValue,
                member: ParameterRecord.Member(name: name, value: node)))
    }

    private func set<Value>(_ value: Value?, _ key: Key, present: (Value) throws -> Void) throws {
        if let value { return try present(value) }
        record.set(slot.name(of: key), try slot.absentNode(at: key))
    }

    private func set<Value: Encodable>(_ value: Value, _ key: Key, _ node: ParameterNode) throws {
        record.set(slot.name(of: key), slot.settings.transform == nil ? node : try slot.node(of: value, at: key))
    }

    func encode(_ value: Bool, forKey key: Key) throws { try set(value, key, .boolean(value)) }
    func encode(_ value: String, forKey key: Key) throws { try set(value, key, .text(value)) }
    func encode(_ value: Double, forKey key: Key) throws { try set(value, key, .double(value)) }
    func encode(_ value: Float, forKey key: Key) throws { try set(value, key, .float(value)) }
    func encode(_ value: Int, forKey key: Key) throws { try set(value, key, .integer(Int64(value))) }
    func encode(_ value: Int8, forKey key: Key) throws { try set(value, key, .integer(Int64(value))) }
    func encode(_ value: Int16, forKey key: Key) throws { try set(value, key, .integer(Int64(value))) }
    func encode(_ value: Int32, forKey key: Key) throws { try set(value, key, .integer(Int64(value))) }
    func encode(_ value: Int64, forKey key: Key) throws { try set(value, key, .integer(Int64(value))) }
    func encode(_ value: UInt, forKey key: Key) throws { try set(value, key, .unsigned(UInt64(value))) }
    func encode(_ value: UInt8, forKey key: Key) throws { try set(value, key, .unsigned(UInt64(value))) }
    func encode(_ value: UInt16, forKey key: Key) throws { try set(value, key, .unsigned(UInt64(value))) }
    func encode(_ value: UInt32, forKey key: Key) throws { try set(value, key, .unsigned(UInt64(value))) }
    func encode(_ value: UInt64, forKey key: Key) throws { try set(value, key, .unsigned(UInt64(value))) }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try set(value, key) { try encode($0, forKey: key) } }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try set(value, key) { try encode($0, forKey: key) } }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try set(value, key) { try encode($0, forKey: key) } }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try set(value, key) { try encode($0, forKey: key) } }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        try set(value, key) { try encode($0, forKey: key) }
    }
}
