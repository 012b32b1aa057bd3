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
