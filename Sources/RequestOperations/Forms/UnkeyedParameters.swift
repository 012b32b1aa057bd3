/// Writes the elements of a list.
struct UnkeyedParameters: UnkeyedEncodingContainer {
    let slot: ParameterSlot
    let list: ParameterList

    var codingPath: [any CodingKey] { slot.codingPath }
    var count: Int { list.elements.count }

    private var key: ParameterKey { ParameterKey(index: count) }

    func encodeNil() throws {
        list.elements.append(try slot.nullNode(at: key))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        list.elements.append(try slot.node(of: value, at: key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        let nested = slot.nested(at: key)
        let container = ParameterTreeEncoder(slot: nested).container(keyedBy: type)
        if let node = nested.node { list.elements.append(node) }
        return container
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let nested = slot.nested(at: key)
        let container = ParameterTreeEncoder(slot: nested).unkeyedContainer()
        if let node = nested.node { list.elements.append(node) }
        return container
    }

    func superEncoder() -> any Encoder {
        let place = count
        list.elements.append(.absent)
        let nested = slot.nested(at: ParameterKey(index: place)) {
            [list] in list.elements[place] = $0
        }
        return ParameterTreeEncoder(slot: nested)
    }

    private func append<Value: Encodable>(_ value: Value, _ node: ParameterNode) throws {
        list.elements.append(slot.settings.transform == nil ? node : try slot.node(of: value, at: key))
    }

    func encode(_ value: Bool) throws { try append(value, .boolean(value)) }
    func encode(_ value: String) throws { try append(value, .text(value)) }
    func encode(_ value: Double) throws { try append(value, .double(value)) }
    func encode(_ value: Float) throws { try append(value, .float(value)) }
    func encode(_ value: Int) throws { try append(value, .integer(Int64(value))) }
    func encode(_ value: Int8) throws { try append(value, .integer(Int64(value))) }
    func encode(_ value: Int16) throws { try append(value, .integer(Int64(value))) }
    func encode(_ value: Int32) throws { try append(value, .integer(Int64(value))) }
    func encode(_ value: Int64) throws { try append(value, .integer(Int64(value))) }
    func encode(_ value: UInt) throws { try append(value, .unsigned(UInt64(value))) }
    func encode(_ value: UInt8) throws { try append(value, .unsigned(UInt64(value))) }
    func encode(_ value: UInt16) throws { try append(value, .unsigned(UInt64(value))) }
    func encode(_ value: UInt32) throws { try append(value, .unsigned(UInt64(value))) }
    func encode(_ value: UInt64) throws { try append(value, .unsigned(UInt64(value))) }
}
