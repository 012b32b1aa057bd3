/// Records what a value writes, as a tree.
struct ParameterTreeEncoder: Encoder {
    let slot: ParameterSlot

    var codingPath: [any CodingKey] { slot.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The tree of a value.
    static func tree<Value: Encodable>(
        of value: Value, naming: ParameterNaming, transform: ParameterTransform?
    ) throws -> ParameterNode {
        try tree(of: value, with: ParameterSettings(naming: naming, transform: transform), takesPlacements: false)
    }

    /// The tree of an endpoint or of its request object, with the notes from the encoding. Property wrappers may move
    /// their properties to other parts of the request.
    static func notedTree<Value: Encodable>(
        of value: Value, naming: ParameterNaming, transform: ParameterTransform?
    ) throws -> (ParameterNode, ParameterSettings) {
        let settings = ParameterSettings(naming: naming, transform: transform)
        return (try tree(of: value, with: settings, takesPlacements: true), settings)
    }

    private static func tree<Value: Encodable>(
        of value: Value, with settings: ParameterSettings, takesPlacements: Bool
    ) throws -> ParameterNode {
        let slot = ParameterSlot(settings: settings, takesPlacements: takesPlacements)
        try slot.fill(with: value)
        if let contradiction = settings.contradiction { throw contradiction }
        return slot.node ?? .absent
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if slot.takesPlacements { slot.settings.typesOfKeys.append(String(reflecting: type)) }
        return KeyedEncodingContainer(KeyedParameters<Key>(slot: slot, record: slot.record()))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedParameters(slot: slot, list: slot.list())
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleParameter(slot: slot)
    }
}

extension ParameterSlot {
    /// The record that the value writes. A subclass and its superclass each ask for a container, and get the same
    /// record.
    fileprivate func record() -> ParameterRecord {
        if case .record(let record) = node { return record }
        checkIsUnwritten()
        let record = ParameterRecord()
        node = .record(record)
        return record
    }

    fileprivate func list() -> ParameterList {
        if case .list(let list) = node { return list }
        checkIsUnwritten()
        let list = ParameterList()
        node = .list(list)
        return list
    }
}

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

/// The number of an element of an array, or the name of a member, as a key.
struct ParameterKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ key: any CodingKey) {
        stringValue = key.stringValue
        intValue = key.intValue
    }

    init(index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init?(stringValue: String) {
        self.init(stringValue)
    }

    init?(intValue: Int) {
        self.init(index: intValue)
    }

    static let `super` = ParameterKey("super")
}
