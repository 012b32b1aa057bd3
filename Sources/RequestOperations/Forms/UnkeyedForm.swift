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
