/// Decodes values from queries and forms of the media type `application/x-www-form-urlencoded`.
///
/// It restores what a ``URLEncodedFormEncoder`` with the same options wrote. It understands all spellings of arrays.
///
/// Empty arrays and values without members write nothing. So a missing value decodes as an empty array, or as a value
/// without members, if the type asks for one. For an optional property it decodes as `nil`. For any other type it is an
/// error.
///
/// Some values are not restored:
///
/// - An optional array that was empty decodes as `nil`.
/// - Empty arrays among the values of a dictionary are lost.
/// - An optional text that equals the spelling of `nil` decodes as `nil`: `""` with ``FormOptions/Nils/empty``,
///   `"null"` with ``FormOptions/Nils/null``.
public struct URLEncodedFormDecoder: Sendable {
    /// How nested names are read. ``FormOptions/Nesting/brackets`` by default.
    ///
    /// With `nil`, and with ``FormOptions/Nesting/custom(_:)``, the whole name is one name, even if it holds brackets or dots.
    public var nesting: FormOptions.Nesting? = .brackets
    /// How dates are read. ``FormOptions/Dates/deferred`` by default.
    public var dates = FormOptions.Dates<@Sendable (String) throws -> Date>.deferred
    /// How data is read. ``FormOptions/DataValues/base64`` by default.
    public var data = FormOptions.DataValues<@Sendable (String) throws -> Data>.base64
    /// How `nil` is written. ``FormOptions/Nils/dropped`` by default.
    public var nils = FormOptions.Nils.dropped
    /// How the encoder converted the names of properties. Not at all by default.
    ///
    /// The decoder first looks for the name as `CodingKeys` has it, then for the converted name.
    public var naming = ParameterNaming.asDeclared

    /// Makes a decoder with the defaults given at each property.
    public init() {}

    /// Decodes a value from text.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - form: The form, without a question mark before it.
    /// - Throws: A `DecodingError`, or an error that the value itself throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from form: String) throws -> Value {
        try decode(type, parsing: form.utf8)
    }

    /// Decodes a value from the bytes of a body.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - form: The form.
    /// - Throws: A `DecodingError`, or an error that the value itself throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from form: Data) throws -> Value {
        try decode(type, parsing: form)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, parsing form: some Sequence<UInt8>) throws -> Value {
        let root = try FormNode(parsing: form, nesting: nesting)
        return try Value(from: FormNodeDecoder(root, self))
    }
}

/// The values and the members that a form has under one name.
final class FormNode {
    /// The values given under exactly this name, in their order.
    var values: [String] = []
    /// The names of the members, in order of appearance. The empty name of `a[]` is one of them.
    private(set) var names: [String] = []
    private var members: [String: FormNode] = [:]

    /// The maximum depth of nested names. Decoding deeper names would exhaust the stack, and no legitimate form needs
    /// them.
    static let maximumDepth = 128

    var isEmpty: Bool { values.isEmpty && names.isEmpty }

    func member(_ name: String) -> FormNode? { members[name] }

    func makeMember(_ name: String) -> FormNode {
        if let member = members[name] { return member }
        let member = FormNode()
        members[name] = member
        names.append(name)
        return member
    }

    /// The elements, if this is an array. The values of a repeated name come first, then those of `a[]`, then `a[0]`
    /// and so on by number.
    ///
    /// - Returns: `nil` if the name of a member is not a number.
    var elements: [FormNode]? {
        var numbered: [(number: Int, node: FormNode)] = []
        for name in names where !name.isEmpty {
            guard let number = Int(name), number >= 0, let node = members[name] else { return nil }
            numbered.append((number, node))
        }
        let appended = members[""].map { $0.names.isEmpty ? $0.values.map { FormNode([$0]) } : [$0] } ?? []
        return values.map { FormNode([$0]) } + appended + numbered.sorted { $0.number < $1.number }.map(\.node)
    }

    private init(_ values: [String] = []) {
        self.values = values
    }

    /// Reads a form: pairs separated by `&`, in percent-encoded UTF-8, with `+` for a space (WHATWG URL, section 5.1).
    ///
    /// - Throws: A `DecodingError` if the bytes are not UTF-8, or if names are nested deeper than ``maximumDepth``.
    init(parsing form: some Sequence<UInt8>, nesting: FormOptions.Nesting?) throws {
        for pair in Array(form).split(separator: UInt8(ascii: "&")) {
            let sign = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = try Self.text(pair[..<sign])
            let segments = nesting?.segments(of: name) ?? [name]
            guard segments.count <= Self.maximumDepth else {
                throw Self.corrupted("A name is nested deeper than \(Self.maximumDepth) levels.")
            }
            var node: FormNode = self
            for segment in segments { node = node.makeMember(segment) }
            node.values.append(try Self.text(pair[sign...].dropFirst()))
        }
    }

    private static func text(_ escaped: ArraySlice<UInt8>) throws -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(escaped.count)
        var place = escaped.startIndex
        while place < escaped.endIndex {
            switch escaped[place] {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                if place + 2 < escaped.endIndex, let high = escaped[place + 1].hexadecimalDigit,
                    let low = escaped[place + 2].hexadecimalDigit
                {
                    bytes.append(high << 4 | low)
                    place += 2
                } else {
                    // A `%` that does not begin an escape stands for itself, as in browsers.
                    bytes.append(UInt8(ascii: "%"))
                }
            case let byte: bytes.append(byte)
            }
            place += 1
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw corrupted("A name or a value is not valid UTF-8.")
        }
        return text
    }

    private static func corrupted(_ reason: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: reason))
    }
}

/// Decodes one value from what a form holds under its name. The form may hold nothing there.
final class FormNodeDecoder: Decoder {
    let node: FormNode?
    let options: URLEncodedFormDecoder
    private let parent: FormNodeDecoder?
    private let key: (any CodingKey)?

    init(_ root: FormNode, _ options: URLEncodedFormDecoder) {
        node = root
        self.options = options
        parent = nil
        key = nil
    }

    /// The decoder for a value inside another one.
    fileprivate init(_ node: FormNode?, at key: some CodingKey, in parent: FormNodeDecoder) {
        self.node = node
        options = parent.options
        self.parent = parent
        self.key = key
    }

    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var codingPath: [any CodingKey] {
        sequence(first: self, next: \.parent).compactMap(\.key).reversed()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard node?.values.isEmpty ?? true else { throw mismatch([String: String].self, "is a value without members") }
        return KeyedDecodingContainer(KeyedForm<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = node.map(\.elements) ?? [] else {
            throw mismatch([String].self, "has members that are not elements of an array")
        }
        return UnkeyedForm(decoder: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func value<Value>(_ type: Value.Type, _ make: (String) throws -> Value?) throws -> Value {
        guard let node, !node.isEmpty else {
            throw DecodingError.keyNotFound(
                key ?? ParameterKey(""),
                .init(codingPath: codingPath.dropLast(), debugDescription: "'\(path)' is not there."))
        }
        guard node.names.isEmpty, node.values.count == 1 else { throw mismatch(type, "has several values or members") }
        guard let value = try make(node.values[0]) else { throw mismatch(type, "does not hold a \(type)") }
        return value
    }

    private var path: String { codingPath.map(\.stringValue).joined(separator: ".") }

    private func mismatch(_ type: Any.Type, _ reason: String) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "'\(path)' \(reason)."))
    }
}

// The functions with constraints are those that the protocol asks for by each type: `Int8`, `Double` and so on.
extension FormNodeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        guard let node, !node.isEmpty else { return true }
        guard node.names.isEmpty, node.values.count == 1 else { return false }
        return switch options.nils {
        case .dropped: false
        case .empty: node.values[0].isEmpty
        case .null: node.values[0] == "null"
        }
    }

    func decode(_ type: String.Type) throws -> String { try value(type) { $0 } }

    func decode(_ type: Bool.Type) throws -> Bool {
        try value(type) { text in
            switch text {
            case "1", "true": true
            case "0", "false": false
            default: nil
            }
        }
    }

    func decode<Integer: FixedWidthInteger & Decodable>(_ type: Integer.Type) throws -> Integer {
        try value(type) { Integer($0) }
    }

    func decode<Number: BinaryFloatingPoint & LosslessStringConvertible & Decodable>(
        _ type: Number.Type
    ) throws -> Number {
        try value(type) { Number(plain: $0) }
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // The types that a form writes in its own way. The comparison comes first, because a cast costs far more.
        if type == Date.self, let date = try value(Date.self, options.dates.date) as? Value { return date }
        if type == Data.self, let data = try value(Data.self, options.data.data) as? Value { return data }
        if type == URL.self, let url = try value(URL.self, { URL(string: $0) }) as? Value { return url }
        if type == Decimal.self, let decimal = try value(Decimal.self, { Decimal(exactly: $0) }) as? Value {
            return decimal
        }
        return try Value(from: self)
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
private struct KeyedForm<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: FormNodeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.node?.names.compactMap(Key.init) ?? [] }

    func contains(_ key: Key) -> Bool { node(key) != nil }

    func decodeNil(forKey key: Key) -> Bool { member(key).decodeNil() }

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
        return FormNodeDecoder(decoder.node?.member(key.stringValue), at: key, in: decoder)
    }

    func superDecoder(forKey key: Key) -> any Decoder { member(key) }

    private func node(_ key: Key) -> FormNode? {
        // The unchanged name is tried first. The keys of a dictionary are data, and one may look like a converted name.
        decoder.node?.member(key.stringValue) ?? decoder.node?.member(decoder.options.naming.name(for: key.stringValue))
    }

    private func member(_ key: Key) -> FormNodeDecoder { FormNodeDecoder(node(key), at: key, in: decoder) }
}

/// Reads the elements of an array in a form.
private struct UnkeyedForm: UnkeyedDecodingContainer {
    let decoder: FormNodeDecoder
    let elements: [FormNode]
    var currentIndex = 0

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try next(Never?.self).decodeNil() else { return false }
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
        return FormNodeDecoder(elements[currentIndex], at: key, in: decoder)
    }

    private mutating func take<Value>(_ type: Any.Type, _ read: (FormNodeDecoder) throws -> Value) throws -> Value {
        let value = try read(next(type))
        currentIndex += 1
        return value
    }
}
