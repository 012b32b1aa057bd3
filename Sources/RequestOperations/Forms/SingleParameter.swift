/// Writes the single value that a value encodes as.
struct SingleParameter: SingleValueEncodingContainer {
    let slot: ParameterSlot

    var codingPath: [any CodingKey] { slot.codingPath }

    func encodeNil() throws {
        try slot.fillWithNil()
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try slot.fillWithSingle(value)
    }

    private func set<Value: Encodable>(_ value: Value, _ node: ParameterNode) throws {
        guard slot.settings.transform == nil else { return try slot.fillWithSingle(value) }
        slot.checkIsUnwritten()
        slot.node = node
    }

    func encode(_ value: Bool) throws { try set(value, .boolean(value)) }
    func encode(_ value: String) throws { try set(value, .text(value)) }
    func encode(_ value: Double) throws { try set(value, .double(value)) }
    func encode(_ value: Float) throws { try set(value, .float(value)) }
    func encode(_ value: Int) throws { try set(value, .integer(Int64(value))) }
    func encode(_ value: Int8) throws { try set(value, .integer(Int64(value))) }
    func encode(_ value: Int16) throws { try set(value, .integer(Int64(value))) }
    func encode(_ value: Int32) throws { try set(value, .integer(Int64(value))) }
    func encode(_ value: Int64) throws { try set(value, .integer(Int64(value))) }
    func encode(_ value: UInt) throws { try set(value, .unsigned(UInt64(value))) }
    func encode(_ value: UInt8) throws { try set(value, .unsigned(UInt64(value))) }
    func encode(_ value: UInt16) throws { try set(value, .unsigned(UInt64(value))) }
    func encode(_ value: UInt32) throws { try set(value, .unsigned(UInt64(value))) }
    func encode(_ value: UInt64) throws { try set(value, .unsigned(UInt64(value))) }
}
