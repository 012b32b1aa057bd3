/// What an `Encodable` value wrote, before it becomes a query, a body or a header field.
enum ParameterNode {
    /// An optional property without a value.
    case absent
    /// A `nil` that was written explicitly.
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case float(Float)
    case double(Double)
    case decimal(Decimal)
    case text(String)
    case date(Date)
    case data(Data)
    case list(ParameterList)
    case record(ParameterRecord)

    var isNil: Bool {
        switch self {
        case .absent, .null: true
        default: false
        }
    }

    var isContainer: Bool {
        switch self {
        case .list, .record: true
        default: false
        }
    }
}

/// The elements of an unkeyed container.
final class ParameterList {
    var elements: [ParameterNode] = []
}

/// The members of a keyed container, in the order in which they were written. If a name is written twice, the last
/// value is kept.
final class ParameterRecord {
    struct Member {
        let name: String
        var value: ParameterNode
    }

    /// A member that an endpoint's property wrapper puts elsewhere. Several may have the same name.
    struct PlacedMember {
        let placement: ParameterPlacement
        /// The key under which the member was written. It may differ from the member's name.
        let key: String
        let member: Member
    }

    private(set) var members: [Member] = []
    private(set) var placedMembers: [PlacedMember] = []
    /// The index of each name. Only a record with many members has it, because a linear search is faster for few
    /// members.
    private var places: [String: Int]?

    private static let manyMembers = 16

    func set(_ name: String, _ value: ParameterNode) {
        if let place = place(of: name) {
            members[place].value = value
            return
        }
        places?[name] = members.count
        members.append(Member(name: name, value: value))
        if members.count == Self.manyMembers { notePlaces() }
    }

    /// Sets a member that goes elsewhere. It replaces one with the same key and place.
    func setPlaced(_ member: PlacedMember) {
        placedMembers.removeAll { $0.key == member.key && $0.placement == member.placement }
        placedMembers.append(member)
    }

    func value(_ name: String) -> ParameterNode? {
        place(of: name).map { members[$0].value }
    }

    func removeAll(where isRemoved: (String) -> Bool) {
        members.removeAll { isRemoved($0.name) }
        if places != nil { notePlaces() }
    }

    private func notePlaces() {
        places = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1.name, $0) })
    }

    private func place(of name: String) -> Int? {
        if let places { return places[name] }
        return members.firstIndex { $0.name == name }
    }
}

/// The place of one value during encoding: what the value wrote, and which keys lead to it.
final class ParameterSlot {
    let parent: ParameterSlot?
    let key: (any CodingKey)?
    let settings: ParameterSettings
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
    /// Whether property wrappers may put the members of the value elsewhere.
    let takesPlacements: Bool
    /// Receives the node of a value that is written later, after the container around it was returned.
    private let receive: ((ParameterNode) -> Void)?

    init(
        parent: ParameterSlot? = nil, key: (any CodingKey)? = nil, settings: ParameterSettings,
        takesPlacements: Bool = false, receive: ((ParameterNode) -> Void)? = nil
    ) {
        self.parent = parent
        self.key = key
        self.settings = settings
        self.takesPlacements = takesPlacements
        self.receive = receive
        declaredNames = parent?.declaredNames ?? []
    }

    /// The place of a container inside the value. Its keys belong to the value itself.
    func nested(at key: some CodingKey, receive: ((ParameterNode) -> Void)? = nil) -> ParameterSlot {
        ParameterSlot(parent: self, key: key, settings: settings, receive: receive)
    }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var slot: ParameterSlot? = self
        while let current = slot {
            if let key = current.key { path.append(key) }
            slot = current.parent
        }
        return path.reversed()
    }

    /// Encodes a value into this place.
    func fill<Value: Encodable>(with value: Value) throws {
        if settings.naming.convert != nil { declaredNames = settings.declaredNames(of: value) }
        try value.encode(to: ParameterTreeEncoder(slot: self))
        if node == nil { node = .record(ParameterRecord()) }
    }

    /// The name under which a key is written.
    ///
    /// If another key already has that name, the encoding fails at its end. This function does not throw, because
    /// containers that cannot throw call it.
    func name(of key: some CodingKey) -> String {
        guard settings.naming.convert != nil else { return key.stringValue }
        let name = convertedName(of: key)
        if let other = keysOfNames.updateValue(key.stringValue, forKey: name), other != key.stringValue {
            settings.note(
                EncodingError.invalidValue(
                    name,
                    .init(
                        codingPath: codingPath + [key],
                        debugDescription: "'\(other)' and '\(key.stringValue)' would both be written as '\(name)'.")))
        }
        return name
    }

    /// The name of a key. It does not check whether another key has the same name.
    func convertedName(of key: some CodingKey) -> String {
        let name = key.stringValue
        guard let convert = settings.naming.convert, declaredNames.contains(name) else { return name }
        return convert(name)
    }

    /// The node that a value inside this one writes.
    func node<Value: Encodable>(of value: Value, at key: some CodingKey) throws -> ParameterNode {
        if Value.self == ParameterValue.self, let value = value as? ParameterValue {
            return try value.value.map { try node(of: $0, at: key) } ?? nullNode(at: key)
        }
        guard settings.transform != nil else {
            return try untransformedNode(of: value, at: key, showsSingleValue: true)
        }
        return try transformedNode(of: value, at: key)
    }

    /// Shows a value to the transform. An optional is shown as the value that it holds.
    private func transformedNode(of value: any Encodable, at key: some CodingKey) throws -> ParameterNode {
        if let optional = value as? any OptionalParameter {
            return try optional.encodableValue.map { try transformedNode(of: $0, at: key) } ?? nullNode(at: key)
        }
        guard let transformed = try settings.transform?(value, codingPath + [key]) else { return .absent }
        let isSame = type(of: transformed) == type(of: value)
        return try untransformedNode(of: transformed, at: key, showsSingleValue: isSame)
    }

    /// The node of a property without a value.
    func absentNode(at key: some CodingKey) throws -> ParameterNode {
        try nodeOfNil(at: key) ?? .absent
    }

    /// The node of a `nil` that is written explicitly.
    func nullNode(at key: some CodingKey) throws -> ParameterNode {
        try nodeOfNil(at: key) ?? .null
    }

    private func nodeOfNil(at key: some CodingKey) throws -> ParameterNode? {
        guard let value = try settings.transform?(nil, codingPath + [key]) else { return nil }
        return try untransformedNode(of: value, at: key, showsSingleValue: false)
    }

    private func untransformedNode<Value: Encodable>(
        of value: Value, at key: some CodingKey, showsSingleValue: Bool
    ) throws -> ParameterNode {
        if let scalar = ParameterNode(scalar: value) { return scalar }
        let slot = ParameterSlot(parent: self, key: key, settings: settings)
        slot.showsSingleValue = showsSingleValue
        try slot.fill(with: value)
        return slot.node ?? .absent
    }

    /// Checks that nothing was written here yet. A value may write either one value, or members, or elements.
    ///
    /// Foundation's encoders trap on most other combinations. Here the encoding fails at its end, because functions
    /// that cannot throw call this one. A property without a value counts as not written.
    func checkIsUnwritten() {
        switch node {
        case nil, .absent: break
        default:
            let name = codingPath.map(\.stringValue).joined(separator: ".")
            settings.note(
                EncodingError.invalidValue(
                    name,
                    .init(
                        codingPath: codingPath,
                        debugDescription: "'\(name)' is written twice, in ways that exclude each other.")))
        }
    }

    /// Encodes the single value that the value at this place writes.
    func fillWithSingle<Value: Encodable>(_ value: Value) throws {
        checkIsUnwritten()
        if showsSingleValue, settings.transform != nil, let parent, let key {
            node = try parent.transformedNode(of: value, at: ParameterKey(key))
        } else if let scalar = ParameterNode(scalar: value) {
            node = scalar
        } else {
            try fill(with: value)
        }
    }

    /// Writes a `nil` at this place.
    func fillWithNil() throws {
        checkIsUnwritten()
        guard showsSingleValue, settings.transform != nil, let parent, let key else {
            node = .null
            return
        }
        node = try parent.nullNode(at: ParameterKey(key))
    }
}

extension ParameterNode {
    /// The types that are always written as they are. Their own `encode(to:)` is not called.
    init?<Value: Encodable>(scalar value: Value) {
        // The types are compared before the cast. The comparison only compares addresses, but the cast costs far more.
        if Value.self == String.self, let text = value as? String {
            self = .text(text)
        } else if Value.self == Int.self, let number = value as? Int {
            self = .integer(Int64(number))
        } else if Value.self == Double.self, let number = value as? Double {
            self = .double(number)
        } else if Value.self == Bool.self, let boolean = value as? Bool {
            self = .boolean(boolean)
        } else if Value.self == Date.self, let date = value as? Date {
            self = .date(date)
        } else if Value.self == Data.self, let data = value as? Data {
            self = .data(data)
        } else if Value.self == URL.self, let url = value as? URL {
            self = .text(url.absoluteString)
        } else if Value.self == Decimal.self, let decimal = value as? Decimal {
            self = .decimal(decimal)
        } else {
            return nil
        }
    }
}
