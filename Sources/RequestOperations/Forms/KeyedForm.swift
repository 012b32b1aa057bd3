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
