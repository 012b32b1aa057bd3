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
