/// The place of one value while it is encoded: what it wrote, and how it is reached.
final class ParameterSlot {
    let parent: ParameterSlot?
    let key: (any CodingKey)?
    let settings: ParameterSettings
    /// The names of the value that are converted: those of its stored properties, or of its case if it is an enumeration.
    /// Any other was named by `CodingKeys`.
    private var declaredNames: Set<String>
    /// The keys that were written under converted names, by these: two of one name would be one parameter.
    private var keysOfNames: [String: String] = [:]
    /// Whether what the value writes as its only value is shown to the transform: not if the value came out of it.
    private var showsSingleValue = true
    /// What the value wrote.
    var node: ParameterNode? {
        didSet { if let receive, let node { receive(node) } }
    }
    /// Whether the members of the value may be put elsewhere by property wrappers.
    let takesPlacements: Bool
    /// Told of the node, if the value is written after the container around it has been given away.
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

    /// The place of a container within the value, whose keys are the value's own.
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
    /// If another key has that name already, the encoding fails at its end. This function does not throw, since containers
    /// that cannot throw call it.
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

    /// The name of a key without regard to others.
    func convertedName(of key: some CodingKey) -> String {
        let name = key.stringValue
        guard let convert = settings.naming.convert, declaredNames.contains(name) else { return name }
        return convert(name)
    }

    /// What a value within this one writes.
    func node<Value: Encodable>(of value: Value, at key: some CodingKey) throws -> ParameterNode {
        if Value.self == ParameterValue.self, let value = value as? ParameterValue {
            return try value.value.map { try node(of: $0, at: key) } ?? nullNode(at: key)
        }
        guard settings.transform != nil else {
            return try untransformedNode(of: value, at: key, showsSingleValue: true)
        }
        return try transformedNode(of: value, at: key)
    }

    /// Shows a value to the transform, one that is optional as what it holds.
    private func transformedNode(of value: any Encodable, at key: some CodingKey) throws -> ParameterNode {
        if let optional = value as? any OptionalParameter {
            return try optional.encodableValue.map { try transformedNode(of: $0, at: key) } ?? nullNode(at: key)
        }
        guard let transformed = try settings.transform?(value, codingPath + [key]) else { return .absent }
        let isSame = type(of: transformed) == type(of: value)
        return try untransformedNode(of: transformed, at: key, showsSingleValue: isSame)
    }

    /// What a property without a value writes.
    func absentNode(at key: some CodingKey) throws -> ParameterNode {
        try nodeOfNil(at: key) ?? .absent
    }

    /// What a `nil` that is written as such writes.
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

    /// Checks that nothing was written here yet: what a value writes is either one value, or members, or elements.
    ///
    /// Foundation's encoders trap on most other combinations. Here the encoding fails at its end, since functions that
    /// cannot throw call this one. A property without a value counts as not written.
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

    /// Encodes the only value that the value of this place writes.
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

    /// Writes that the value of this place is none.
    func fillWithNil() throws {
        checkIsUnwritten()
        guard showsSingleValue, settings.transform != nil, let parent, let key else {
            node = .null
            return
        }
        node = try parent.nullNode(at: ParameterKey(key))
    }
}

/// What holds for a whole encoding.
final class ParameterSettings {
    let naming: ParameterNaming
    let transform: ParameterTransform?
    /// The names of the types of the keys that the outermost value was written with; noted for endpoints only.
    var typesOfKeys: [String] = []
    /// What the outermost value, or one within it, wrote and cannot be written, such as two properties of one name; the first.
    private(set) var contradiction: EncodingError?
    private var namesOfTypes: [ObjectIdentifier: Set<String>] = [:]

    init(naming: ParameterNaming, transform: ParameterTransform?) {
        self.naming = naming
        self.transform = transform
    }

    /// Notes an error that fails the encoding at its end.
    func note(_ error: EncodingError) {
        contradiction = contradiction ?? error
    }

    /// The names that the type of a value declares: those of its stored properties and of those of its superclasses. For
    /// an enumeration, they are the name of its case and those of the values that come with it.
    func declaredNames(of value: any Encodable) -> Set<String> {
        let type = ObjectIdentifier(Swift.type(of: value))
        if let known = namesOfTypes[type] { return known }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .struct, .class, nil:
            let names = StoredProperty.names(of: value)
            namesOfTypes[type] = names
            return names
        case .enum:
            // Another value may be another case.
            guard let label = mirror.children.first?.label else { return [String(describing: value)] }
            let labels = mirror.children.flatMap { Mirror(reflecting: $0.value).children.compactMap(\.label) }
            return Set(labels + [label])
        default:
            // The keys of a dictionary are data.
            return []
        }
    }
}

/// The names that mirrors give to stored properties.
enum StoredProperty {
    private static let lazyPrefix = "$__lazy_storage_$_"

    /// Whether a label is of the storage of a lazy property, which is optional.
    static func isLazy(_ label: String) -> Bool { label.hasPrefix(lazyPrefix) }

    /// The declared name for a label: the storage of a wrapped property has an underscore before it.
    static func name(_ label: String) -> String {
        if label.hasPrefix(lazyPrefix) { return String(label.dropFirst(lazyPrefix.count)) }
        return label.hasPrefix("_") ? String(label.dropFirst()) : label
    }

    /// The stored properties of a value that can be encoded, those of its superclasses too, by their declared names.
    static func values(of value: Any) -> [String: any Encodable] {
        var values: [String: any Encodable] = [:]
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            for child in current.children {
                guard let label = child.label, let value = child.value as? any Encodable else { continue }
                values[name(label)] = value
            }
            mirror = current.superclassMirror
        }
        return values
    }

    /// The names of the stored properties of a value, those of its superclasses too, each as its label has it as well.
    static func names(of value: Any) -> Set<String> {
        var names: Set<String> = []
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            for label in current.children.compactMap(\.label) { names.formUnion([label, name(label)]) }
            mirror = current.superclassMirror
        }
        return names
    }
}

extension ParameterNode {
    /// The values that are written as they are, whatever they would write themselves.
    init?<Value: Encodable>(scalar value: Value) {
        // The types are compared before the value is cast: that costs a comparison of addresses, the cast far more.
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
