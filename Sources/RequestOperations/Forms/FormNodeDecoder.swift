/// Decodes one value from what a form holds under its name. The form may hold nothing there.
struct FormNodeDecoder: Decoder {
    let node: FormNode?
    let options: URLEncodedFormDecoder
    let codingPath: [any CodingKey]

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard node?.values.isEmpty ?? true else { throw mismatch([String: String].self, "is a value without members") }
        return KeyedDecodingContainer(KeyedForm<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = node.map(\.elements) ?? [] else {
            throw mismatch([String].self, "has members that are no elements of an array")
        }
        return UnkeyedForm(decoder: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleForm(decoder: self)
    }

    /// The decoder for a value inside this one.
    func decoder(of node: FormNode?, at key: some CodingKey) -> FormNodeDecoder {
        FormNodeDecoder(node: node, options: options, codingPath: codingPath + [key])
    }

    // MARK: Values

    var isNil: Bool {
        guard let node, !node.isEmpty else { return true }
        guard node.names.isEmpty, node.values.count == 1 else { return false }
        switch options.nils {
        case .dropped: return false
        case .empty: return node.values[0].isEmpty
        case .null: return node.values[0] == "null"
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == Date.self, let date = try date() as? Value { return date }
        if type == Data.self, let data = try data() as? Value { return data }
        if type == URL.self, let url = try value(as: URL.self, { URL(string: $0) }) as? Value { return url }
        if type == Decimal.self, let decimal = try value(as: Decimal.self, { Decimal(exactly: $0) }) as? Value {
            return decimal
        }
        return try Value(from: self)
    }

    func value<Value>(as type: Value.Type, _ make: (String) throws -> Value?) throws -> Value {
        let text = try text(for: type)
        guard let value = try make(text) else { throw mismatch(type, "does not hold a \(type)") }
        return value
    }

    func boolean() throws -> Bool {
        try value(as: Bool.self) { text in
            switch text {
            case "1", "true": true
            case "0", "false": false
            default: nil
            }
        }
    }

    private func text(for type: Any.Type) throws -> String {
        guard let node, !node.isEmpty else {
            let key = codingPath.last ?? ParameterKey("")
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath.dropLast(), debugDescription: "'\(path)' is not there."))
        }
        guard node.names.isEmpty, node.values.count == 1 else { throw mismatch(type, "has several values or members") }
        return node.values[0]
    }

    private func date() throws -> Date {
        switch options.dates {
        case .deferred: Date(timeIntervalSinceReferenceDate: try value(as: Double.self) { Double(plain: $0) })
        case .secondsSince1970: Date(timeIntervalSince1970: try value(as: Double.self) { Double(plain: $0) })
        case .millisecondsSince1970:
            Date(timeIntervalSince1970: try value(as: Double.self) { Double(plain: $0) } / 1000)
        case .iso8601: try value(as: Date.self) { try? Date($0, strategy: .iso8601) }
        case .custom(let read): try value(as: Date.self, read)
        }
    }

    private func data() throws -> Data {
        switch options.data {
        case .base64: try value(as: Data.self) { Data(base64Encoded: $0) }
        case .custom(let read): try value(as: Data.self, read)
        }
    }

    private var path: String { codingPath.map(\.stringValue).joined(separator: ".") }

    func mismatch(_ type: Any.Type, _ reason: String) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "'\(path)' \(reason)."))
    }
}

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    /// Reads a finite number in decimal digits. Swift's own initializer also accepts `nan`, `inf` and hexadecimal
    /// digits, which the encoder never writes.
    init?(plain text: String) {
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let number = Self(text), number.isFinite
        else { return nil }
        self = number
    }
}

extension Decimal {
    /// Reads a number that takes up the whole text. Foundation's own initializer ignores what follows a number.
    fileprivate init?(exactly text: String) {
        guard text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil else { return nil }
        self.init(string: text, locale: nil)
    }
}

/// Reads the members of a value in a form.
struct KeyedForm<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: FormNodeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.node?.names.compactMap(Key.init) ?? [] }

    func contains(_ key: Key) -> Bool {
        node(key) != nil
    }

    func decodeNil(forKey key: Key) -> Bool {
        member(key).isNil
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try member(key).decode(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        let key = ParameterKey.super
        return decoder.decoder(of: decoder.node?.member(key.stringValue), at: key)
    }

    func superDecoder(forKey key: Key) -> any Decoder {
        member(key)
    }

    private func node(_ key: Key) -> FormNode? {
        // The unchanged name is tried first. The keys of a dictionary are data, and one may look like a converted name.
        decoder.node?.member(key.stringValue) ?? decoder.node?.member(decoder.options.naming.name(for: key.stringValue))
    }

    private func member(_ key: Key) -> FormNodeDecoder {
        decoder.decoder(of: node(key), at: key)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).boolean() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).value(as: type) { $0 } }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try member(key).value(as: type) { Double(plain: $0) }
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try member(key).value(as: type) { Float(plain: $0) }
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).value(as: type) { Int($0) } }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).value(as: type) { Int8($0) } }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).value(as: type) { Int16($0) } }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).value(as: type) { Int32($0) } }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).value(as: type) { Int64($0) } }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).value(as: type) { UInt($0) } }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).value(as: type) { UInt8($0) } }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try member(key).value(as: type) { UInt16($0) }
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try member(key).value(as: type) { UInt32($0) }
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try member(key).value(as: type) { UInt64($0) }
    }
}

/// Reads the elements of an array in a form.
struct UnkeyedForm: UnkeyedDecodingContainer {
    let decoder: FormNodeDecoder
    let elements: [FormNode]
    private(set) var currentIndex = 0

    init(decoder: FormNodeDecoder, elements: [FormNode]) {
        self.decoder = decoder
        self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try next(Never?.self).isNil else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try take(type) { try $0.decode(type) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try take(type) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take([String].self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try take((any Decoder).self) { $0 }
    }

    private func next(_ type: Any.Type) throws -> FormNodeDecoder {
        let key = ParameterKey(index: currentIndex)
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, .init(codingPath: codingPath + [key], debugDescription: "The array has no more elements."))
        }
        return decoder.decoder(of: elements[currentIndex], at: key)
    }

    private mutating func take<Value>(_ type: Any.Type, _ read: (FormNodeDecoder) throws -> Value) throws -> Value {
        let value = try read(next(type))
        currentIndex += 1
        return value
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try take(type) { try $0.boolean() } }
    mutating func decode(_ type: String.Type) throws -> String { try take(type) { try $0.value(as: type) { $0 } } }
    mutating func decode(_ type: Double.Type) throws -> Double {
        try take(type) { try $0.value(as: type) { Double(plain: $0) } }
    }
    mutating func decode(_ type: Float.Type) throws -> Float {
        try take(type) { try $0.value(as: type) { Float(plain: $0) } }
    }
    mutating func decode(_ type: Int.Type) throws -> Int { try take(type) { try $0.value(as: type) { Int($0) } } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try take(type) { try $0.value(as: type) { Int8($0) } } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try take(type) { try $0.value(as: type) { Int16($0) } } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try take(type) { try $0.value(as: type) { Int32($0) } } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try take(type) { try $0.value(as: type) { Int64($0) } } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try take(type) { try $0.value(as: type) { UInt($0) } } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try take(type) { try $0.value(as: type) { UInt8($0) } } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        try take(type) { try $0.value(as: type) { UInt16($0) } }
    }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        try take(type) { try $0.value(as: type) { UInt32($0) } }
    }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        try take(type) { try $0.value(as: type) { UInt64($0) } }
    }
}

/// Reads the single value that a form has under a name.
struct SingleForm: SingleValueDecodingContainer {
    let decoder: FormNodeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool {
        decoder.isNil
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.decode(type)
    }

    func decode(_ type: Bool.Type) throws -> Bool { try decoder.boolean() }
    func decode(_ type: String.Type) throws -> String { try decoder.value(as: type) { $0 } }
    func decode(_ type: Double.Type) throws -> Double { try decoder.value(as: type) { Double(plain: $0) } }
    func decode(_ type: Float.Type) throws -> Float { try decoder.value(as: type) { Float(plain: $0) } }
    func decode(_ type: Int.Type) throws -> Int { try decoder.value(as: type) { Int($0) } }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.value(as: type) { Int8($0) } }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.value(as: type) { Int16($0) } }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.value(as: type) { Int32($0) } }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.value(as: type) { Int64($0) } }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.value(as: type) { UInt($0) } }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.value(as: type) { UInt8($0) } }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.value(as: type) { UInt16($0) } }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.value(as: type) { UInt32($0) } }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.value(as: type) { UInt64($0) } }
}
