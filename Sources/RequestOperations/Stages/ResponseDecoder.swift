/// Makes the value of a request from its response: one closure, with ready-made ones.
///
/// Runs once for each accepted response, on the Task of the operation, without a slot. An empty body is a success for the
/// types that have an empty form (``EmptyRepresentable``) and fails as ``RequestError/Code/emptyBody`` for others,
/// whatever the status.
public struct ResponseDecoder<Value: Sendable>: Sendable {
    /// Makes the value. An error that is not a ``RequestError`` becomes the cause of one with the code
    /// ``RequestError/Code/undecodable``, which keeps the head and the first 4 KiB of the body.
    public let decode: @Sendable (TransportResponse) async throws -> Value

    /// Makes a decoder from its one function.
    public init(_ decode: @escaping @Sendable (TransportResponse) async throws -> Value) {
        self.decode = decode
    }

    /// Runs the function of a decoder on an operation queue, for work that needs it: a serial queue, the main one.
    ///
    /// - Parameter queue: The queue. If it drops or cancels the work, the request ends as cancelled.
    public func on(_ queue: OperationQueue) -> ResponseDecoder {
        ResponseDecoder { [decode] response in
            try await queue.run { try await decode(response) }
        }
    }

    /// A decoder that changes the value of this one.
    public func map<Mapped: Sendable>(
        _ transform: @escaping @Sendable (Value) async throws -> Mapped
    ) -> ResponseDecoder<Mapped> {
        ResponseDecoder<Mapped> { [decode] response in try await transform(decode(response)) }
    }

    /// A decoder that gives `nil` for an empty body and leaves any other to this one.
    public func optional() -> ResponseDecoder<Value?> {
        ResponseDecoder<Value?> { [decode] response in
            response.bodySize == 0 ? nil : try await decode(response)
        }
    }
}

extension ResponseDecoder where Value == Data {
    /// The body as it arrived; empty for an empty one.
    public static let data = ResponseDecoder { response in response.body }
}

extension ResponseDecoder where Value == Void {
    /// Takes no notice of the body.
    public static let void = ResponseDecoder { _ in }
}

extension ResponseDecoder where Value == String {
    /// The body as text in the charset that the response declares; `""` for an empty one.
    public static let string = string(default: .utf8)

    /// The body as text.
    ///
    /// A byte that is not valid in the charset, or a charset that is not known, fails as
    /// ``RequestError/Code/undecodable``: text is never replaced or guessed. A byte order mark is not part of the text;
    /// UTF-16 and UTF-32 without one are big-endian (RFC 2781, section 4.3).
    ///
    /// - Parameter encoding: The encoding for a response that declares no charset. UTF-8 if not given.
    public static func string(default encoding: String.Encoding) -> ResponseDecoder {
        ResponseDecoder { response in
            guard !response.body.isEmpty else { return "" }
            let charset = response.head.field("Content-Type").flatMap { MediaType($0)?.parameters["charset"] }
            guard let declared = charset.map(String.Encoding.init(charset:)) ?? encoding else {
                throw RequestError(
                    .undecodable, stage: .decode, head: response.head, reason: "the charset is not known")
            }
            guard let text = String(response.body, in: declared) else {
                throw RequestError(
                    .undecodable, stage: .decode, head: response.head, reason: "the body is not valid in its charset")
            }
            return text
        }
    }
}

extension ResponseDecoder where Value: Decodable {
    /// A value from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - makeDecoder: Makes the decoder of each response. A `JSONDecoder` with its defaults if not given.
    public static func json(
        _ type: Value.Type = Value.self, decoder makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> ResponseDecoder {
        ResponseDecoder { response in
            try emptyValue(for: response) ?? makeDecoder().decode(Value.self, from: response.body)
        }
    }

    /// A value from a property list, XML or binary.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - makeDecoder: Makes the decoder of each response. A `PropertyListDecoder` with its defaults if not given.
    public static func propertyList(
        _ type: Value.Type = Value.self,
        decoder makeDecoder: @escaping @Sendable () -> PropertyListDecoder = { PropertyListDecoder() }
    ) -> ResponseDecoder {
        ResponseDecoder { response in
            try emptyValue(for: response) ?? makeDecoder().decode(Value.self, from: response.body)
        }
    }

    private static func emptyValue(for response: TransportResponse) throws -> Value? {
        guard response.body.isEmpty else { return nil }
        guard let type = Value.self as? any EmptyRepresentable.Type, let value = type.emptyValue as? Value else {
            throw RequestError(
                .emptyBody, stage: .decode, head: response.head, reason: "\(Value.self) has no empty form")
        }
        return value
    }
}

/// A type that has a value for a response without content, such as one of status 204.
public protocol EmptyRepresentable {
    /// The value of an empty body.
    static var emptyValue: Self { get }
}

extension Data: EmptyRepresentable {
    /// No bytes.
    public static var emptyValue: Data { Data() }
}

extension String: EmptyRepresentable {
    /// `""`.
    public static var emptyValue: String { "" }
}

extension Optional: EmptyRepresentable {
    /// `nil`.
    public static var emptyValue: Wrapped? { .none }
}

extension String.Encoding {
    /// The encoding of a charset's name (IANA character sets), without regard to case; `nil` if it is not known.
    fileprivate init?(charset: String) {
        guard let encoding = Self.charsets[charset.lowercased()] else { return nil }
        self = encoding
    }

    /// Those that Foundation decodes rightly on every platform: on Linux Mac OS Roman comes out wrong and EUC-JP not at
    /// all.
    private static let charsets: [String: String.Encoding] = [
        "utf-8": .utf8, "utf8": .utf8, "us-ascii": .ascii, "ascii": .ascii,
        "iso-8859-1": .isoLatin1, "latin1": .isoLatin1, "iso-8859-2": .isoLatin2, "latin2": .isoLatin2,
        "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251, "windows-1252": .windowsCP1252,
        "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
        "utf-16": .utf16, "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
        "utf-32": .utf32, "utf-32le": .utf32LittleEndian, "utf-32be": .utf32BigEndian,
        "shift_jis": .shiftJIS, "iso-2022-jp": .iso2022JP,
    ]
}

extension String {
    /// Text in an encoding, or `nil` if the bytes are not valid in it: Foundation drops an odd byte at the end and guesses
    /// the byte order.
    fileprivate init?(_ bytes: Data, in encoding: String.Encoding) {
        let mark = encoding.marks.first { bytes.starts(with: $0.bytes) }
        let text = bytes.dropFirst(mark?.bytes.count ?? 0)
        guard text.count.isMultiple(of: encoding.unitSize) else { return nil }
        self.init(data: text, encoding: mark?.encoding ?? encoding.withoutMark)
    }
}

extension String.Encoding {
    /// The byte order marks that text in this encoding may begin with, and the encoding of what follows.
    fileprivate var marks: [(bytes: [UInt8], encoding: String.Encoding)] {
        switch self {
        case .utf8: [([0xEF, 0xBB, 0xBF], .utf8)]
        case .utf16: Self.utf16BigEndian.marks + Self.utf16LittleEndian.marks
        case .utf16BigEndian: [([0xFE, 0xFF], self)]
        case .utf16LittleEndian: [([0xFF, 0xFE], self)]
        case .utf32: Self.utf32BigEndian.marks + Self.utf32LittleEndian.marks
        case .utf32BigEndian: [([0, 0, 0xFE, 0xFF], self)]
        case .utf32LittleEndian: [([0xFF, 0xFE, 0, 0], self)]
        default: []
        }
    }

    fileprivate var withoutMark: String.Encoding {
        switch self {
        case .utf16: .utf16BigEndian
        case .utf32: .utf32BigEndian
        default: self
        }
    }

    fileprivate var unitSize: Int {
        switch self {
        case .utf16, .utf16BigEndian, .utf16LittleEndian: 2
        case .utf32, .utf32BigEndian, .utf32LittleEndian: 4
        default: 1
        }
    }
}
