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
