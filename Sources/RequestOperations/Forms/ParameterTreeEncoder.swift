/// The settings and notes of a whole encoding.
final class ParameterSettings {
    let naming: ParameterNaming
    let transform: ParameterTransform?
    /// Whether the outermost value is an endpoint or its request object. Property wrappers may then move its members to
    /// other parts of the request.
    let isForEndpoint: Bool
    /// The types of the keys that the outermost value of an endpoint was written with.
    var typesOfKeys: [Any.Type] = []
    /// The keys of an endpoint that are names of the protocol, by the names that they were written under.
    var reservedKeys: [String: String] = [:]
    /// The first error that was noted, for example two properties with the same name.
    private(set) var contradiction: EncodingError?

    init(naming: ParameterNaming, transform: ParameterTransform?, isForEndpoint: Bool = false) {
        self.naming = naming
        self.transform = transform
        self.isForEndpoint = isForEndpoint
    }

    /// Notes an error that fails the encoding at its end.
    func note(_ error: EncodingError) {
        contradiction = contradiction ?? error
    }
}

/// Records what one value writes, as a tree. Each value inside it has an encoder of its own.
final class ParameterTreeEncoder: Encoder {
    private let parent: ParameterTreeEncoder?
    private let key: (any CodingKey)?
    private let settings: ParameterSettings
    /// The names that are converted: those of the value's stored properties, or of its case if it is an enumeration.
    /// `CodingKeys` named any other, so it stays unchanged.
    private var declaredNames: Set<String>
    /// Maps each converted name to the key that was written under it. Two keys with the same name would become one
    /// parameter.
    private var keysOfNames: [String: String] = [:]
    /// Whether the transform is shown the single value that this value writes. It is not if the transform made this
    /// value from a `nil` or from a value of another type.
    private var showsSingleValue = true
    /// What the value wrote.
    var node: ParameterNode? {
        didSet { if let receive, let node { receive(node) } }
    }
    /// Receives the node of a value that is written later, after the container around it was returned.
    private let receive: ((ParameterNode) -> Void)?

    private init(_ settings: ParameterSettings) {
        self.settings = settings
        parent = nil
        key = nil
        receive = nil
        declaredNames = []
    }

    /// The encoder of a value inside another one.
    fileprivate init(
        at key: some CodingKey, in parent: ParameterTreeEncoder, receive: ((ParameterNode) -> Void)? = nil
    ) {
        settings = parent.settings
        self.parent = parent
        self.key = key
        self.receive = receive
        declaredNames = parent.declaredNames
    }

    /// The tree of a value.
    static func tree(of value: some Encodable, _ settings: ParameterSettings) throws -> ParameterNode {
        let encoder = ParameterTreeEncoder(settings)
        try encoder.fill(with: value)
        if let contradiction = settings.contradiction { throw contradiction }
        return encoder.node ?? .absent
    }

    /// The tree of a value that is a member of another one.
    static func node(
        of value: some Encodable, at key: some CodingKey, _ settings: ParameterSettings
    ) throws -> ParameterNode {
        try ParameterTreeEncoder(settings).node(of: value, at: key)
    }

    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var codingPath: [any CodingKey] {
        sequence(first: self, next: \.parent).compactMap(\.key).reversed()
    }

    /// Whether property wrappers may put the members of the value elsewhere.
    fileprivate var takesPlacements: Bool { parent == nil && settings.isForEndpoint }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // A subclass and its superclass each ask for a container, and get the same record.
        guard case .record(let record) = node else {
            checkIsUnwritten()
            node = .record(ParameterRecord())
            return container(keyedBy: type)
        }
        if takesPlacements { settings.typesOfKeys.append(type) }
        return KeyedEncodingContainer(KeyedParameters(encoder: self, record: record))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        guard case .list(let list) = node else {
            checkIsUnwritten()
            node = .list(ParameterList())
            return unkeyedContainer()
        }
        return UnkeyedParameters(encoder: self, list: list)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Encodes a value into this place.
    private func fill(with value: some Encodable) throws {
        if settings.naming.convert != nil { declaredNames = StoredProperty.declaredNames(of: value) }
        try value.encode(to: self)
        if node == nil { node = .record(ParameterRecord()) }
    }

    /// Checks that nothing was written here yet. A value may write either one value, or members, or elements.
    ///
    /// Foundation's encoders trap on most other combinations. Here the encoding fails at its end, because functions
    /// that cannot throw call this one. A property without a value counts as not written.
    private func checkIsUnwritten() {
        switch node {
        case nil, .absent: break
        default:
            settings.note(
                URLEncodedFormEncoder.invalid("", codingPath, "is written twice, in ways that exclude each other"))
        }
    }

    // MARK: Names

    /// The name under which a key is written.
    ///
    /// If another key already has that name, the encoding fails at its end. This function does not throw, because
    /// containers that cannot throw call it.
    fileprivate func name(of key: some CodingKey) -> String {
        let name = convertedName(of: key)
        if takesPlacements, ReservedProperties.names.contains(key.stringValue) {
            settings.reservedKeys[name] = key.stringValue
        }
        guard settings.naming.convert != nil else { return name }
        if let other = keysOfNames.updateValue(key.stringValue, forKey: name), other != key.stringValue {
            let problem = "'\(other)' and '\(key.stringValue)' would both be written as '\(name)'."
            settings.note(.invalidValue(name, .init(codingPath: codingPath + [key], debugDescription: problem)))
        }
        return name
    }

    /// The name of a key. It does not check whether another key has the same name.
    fileprivate func convertedName(of key: some CodingKey) -> String {
        let name = key.stringValue
        guard let convert = settings.naming.convert, declaredNames.contains(name) else { return name }
        return convert(name)
    }

    // MARK: Values

    /// The node that a value inside this one writes.
    fileprivate func node<Value: Encodable>(of value: Value, at key: some CodingKey) throws -> ParameterNode {
        if Value.self == ParameterValue.self, let value = value as? ParameterValue {
            return try value.value.map { try node(of: $0, at: key) } ?? nilNode(.null, at: key)
        }
        guard settings.transform != nil else {
            return try untransformedNode(of: value, at: key, showsSingleValue: true)
        }
        return try transformedNode(of: value, at: key)
    }

    /// The node of a `nil`: `null` if it is written explicitly, `absent` for a property without a value.
    fileprivate func nilNode(_ node: ParameterNode, at key: some CodingKey) throws -> ParameterNode {
        guard let value = try settings.transform?(nil, codingPath + [key]) else { return node }
        return try untransformedNode(of: value, at: key, showsSingleValue: false)
    }

    /// Shows a value to the transform. An optional is shown as the value that it holds.
    private func transformedNode(of value: any Encodable, at key: some CodingKey) throws -> ParameterNode {
        if let optional = value as? any OptionalParameter {
            return try optional.encodableValue.map { try transformedNode(of: $0, at: key) } ?? nilNode(.null, at: key)
        }
        guard let transformed = try settings.transform?(value, codingPath + [key]) else { return .absent }
        let isSame = type(of: transformed) == type(of: value)
        return try untransformedNode(of: transformed, at: key, showsSingleValue: isSame)
    }

    private func untransformedNode(
        of value: some Encodable, at key: some CodingKey, showsSingleValue: Bool
    ) throws -> ParameterNode {
        if let scalar = ParameterNode(scalar: value) { return scalar }
        let encoder = ParameterTreeEncoder(at: key, in: self)
        encoder.showsSingleValue = showsSingleValue
        try encoder.fill(with: value)
        return encoder.node ?? .absent
    }
}

extension ParameterTreeEncoder: SingleValueEncodingContainer {
    func encode(_ value: some Encodable) throws {
        checkIsUnwritten()
        if showsSingleValue, settings.transform != nil, let parent, let key {
            node = try parent.transformedNode(of: value, at: key)
        } else if let scalar = ParameterNode(scalar: value) {
            node = scalar
        } else {
            try fill(with: value)
        }
    }

    func encodeNil() throws {
        checkIsUnwritten()
        guard showsSingleValue, let parent, let key else {
            node = .null
            return
        }
        node = try parent.nilNode(.null, at: key)
    }
}

/// Writes the members of a record.
private struct KeyedParameters<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ParameterTreeEncoder
    let record: ParameterRecord

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) throws {
        record.set(encoder.name(of: key), try encoder.nilNode(.null, at: key))
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if encoder.takesPlacements, let placed = value as? any PlacedParameter { return try set(placed, key) }
        record.set(encoder.name(of: key), try encoder.node(of: value, at: key))
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        try encodeOptional(value, key)
    }

    private func encodeOptional(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { return try encode(value, forKey: key) }
        record.set(encoder.name(of: key), try encoder.nilNode(.absent, at: key))
    }

    private func set(_ placed: any PlacedParameter, _ key: Key) throws {
        if placed.placement == .ignored { return }
        let node = try placed.wrapped.map { try encoder.node(of: $0, at: key) } ?? encoder.nilNode(.absent, at: key)
        // Variables of a template and names of header fields are not converted by a naming convention.
        let isConverted = placed.placement == .query || placed.placement == .body
        let name = placed.name ?? (isConverted ? encoder.convertedName(of: key) : key.stringValue)
        record.setPlaced(
            ParameterRecord.PlacedMember(
                placement: placed.placement, key: key.stringValue,
                member: ParameterRecord.Member(name: name, value: node)))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nested(key) { $0.container(keyedBy: type) }
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key) { $0.unkeyedContainer() }
    }

    private func nested<Container>(_ key: Key, _ open: (ParameterTreeEncoder) -> Container) -> Container {
        let name = encoder.name(of: key)
        let nested = ParameterTreeEncoder(at: key, in: encoder)
        nested.node = record.value(name)
        let container = open(nested)
        if let node = nested.node { record.set(name, node) }
        return container
    }

    func superEncoder() -> any Encoder { superEncoder(under: ParameterKey.super) }

    func superEncoder(forKey key: Key) -> any Encoder { superEncoder(under: key) }

    private func superEncoder(under key: some CodingKey) -> any Encoder {
        ParameterTreeEncoder(at: key, in: encoder) { [record, encoder] in record.set(encoder.name(of: key), $0) }
    }

    // The protocol has a function for each of these types, and its own would leave out a property without a value.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }
}

/// Writes the elements of a list.
private struct UnkeyedParameters: UnkeyedEncodingContainer {
    let encoder: ParameterTreeEncoder
    let list: ParameterList

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { list.elements.count }

    private var key: ParameterKey { ParameterKey(index: count) }

    func encodeNil() throws { list.elements.append(try encoder.nilNode(.null, at: key)) }

    func encode(_ value: some Encodable) throws { list.elements.append(try encoder.node(of: value, at: key)) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        nested { $0.container(keyedBy: type) }
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested { $0.unkeyedContainer() } }

    private func nested<Container>(_ open: (ParameterTreeEncoder) -> Container) -> Container {
        let nested = ParameterTreeEncoder(at: key, in: encoder)
        let container = open(nested)
        if let node = nested.node { list.elements.append(node) }
        return container
    }

    func superEncoder() -> any Encoder {
        let key = key
        let place = count
        list.elements.append(.absent)
        return ParameterTreeEncoder(at: key, in: encoder) { [list] in list.elements[place] = $0 }
    }
}

/// The number of an element of an array, or the name of a member, as a key.
struct ParameterKey: CodingKey {
    private let name: String
    let intValue: Int?

    init(_ name: String) {
        self.name = name
        intValue = nil
    }

    init(index: Int) {
        name = ""
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) { self.init(index: intValue) }

    /// A number becomes text only when it is asked for, because most keys are not.
    var stringValue: String { intValue.map { String($0) } ?? name }

    static let `super` = ParameterKey("super")
}
