/// Makes the body of a request from its parameters. It is one closure; several are ready-made.
public struct ParameterEncoder: Sendable {
    /// A body and its media type.
    struct Output: Sendable {
        let contentType: String
        let body: Body
    }

    /// What a body is made of.
    enum Body: Sendable {
        case data(Data)
        /// A body that is made anew each time it is sent, because files change.
        case streamed(@Sendable () throws -> RequestBody)
    }

    let makeBody: @Sendable (ParameterRecord, [MultipartFormData.Part]) throws -> Output

    private init(makeBody: @escaping @Sendable (ParameterRecord, [MultipartFormData.Part]) throws -> Output) {
        self.makeBody = makeBody
    }

    /// Makes an encoder from a closure, for example one that uses another library.
    ///
    /// - Parameters:
    ///   - contentType: The media type of the body.
    ///   - encode: Makes the body from the parameters. They encode themselves as a value with members.
    public init(
        contentType: String, encode: @escaping @Sendable (_ parameters: any Encodable) throws -> Data
    ) {
        self.init(contentType: contentType) { (record: ParameterRecord) in
            try encode(EncodableParameters(.record(record)))
        }
    }

    private init(contentType: String, makeData: @escaping @Sendable (ParameterRecord) throws -> Data) {
        makeBody = { parameters, files in
            guard files.isEmpty else {
                throw EndpointProblem(description: "Only a multipart body can hold files; this is \(contentType).")
            }
            return Output(contentType: contentType, body: .data(try makeData(parameters)))
        }
    }

    /// `application/x-www-form-urlencoded`, with the defaults of ``URLEncodedFormEncoder``. It also allows names such
    /// as `filter[name]`.
    public static let form = form(.lenient)

    /// `application/x-www-form-urlencoded`, with an encoder of your own. The endpoint's naming and transform are used,
    /// and those of the encoder are ignored.
    public static func form(_ encoder: URLEncodedFormEncoder) -> ParameterEncoder {
        ParameterEncoder(contentType: URLEncodedFormEncoder.contentType) { Data(try encoder.bytes(of: $0)) }
    }

    /// `application/json`. Properties without a value are not written.
    public static let json = json { JSONEncoder() }

    /// `application/json`.
    ///
    /// - Parameter makeEncoder: Makes the encoder for each body. Its strategies for dates, data and numbers are used.
    public static func json(_ makeEncoder: @escaping @Sendable () -> JSONEncoder) -> ParameterEncoder {
        ParameterEncoder(contentType: "application/json") { try makeEncoder().encode($0) }
    }

    /// `application/x-plist`, as XML.
    ///
    /// Properties without a value are not written. Any other `nil` is an error, because a property list cannot hold
    /// one.
    public static let propertyList = propertyList {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        return encoder
    }

    /// `application/x-plist`.
    ///
    /// - Parameter makeEncoder: Makes the encoder for each body.
    public static func propertyList(
        _ makeEncoder: @escaping @Sendable () -> PropertyListEncoder
    ) -> ParameterEncoder {
        ParameterEncoder(contentType: "application/x-plist") { (record: ParameterRecord) in
            try ParameterNode.record(record).checkHasNoNull(at: [])
            return try makeEncoder().encode(EncodableParameters(.record(record)))
        }
    }

    /// `multipart/form-data` (RFC 7578): one part for each parameter, named as in a form, then the files.
    ///
    /// A value of type `Data` becomes a part with its bytes.
    public static let multipart = multipart(.lenient)

    /// `multipart/form-data` (RFC 7578). The form encoder decides how the parameters are named and written.
    public static func multipart(_ encoder: URLEncodedFormEncoder) -> ParameterEncoder {
        ParameterEncoder { parameters, files in
            var form = MultipartFormData()
            try encoder.forEachValue(of: parameters) { name, value, path in
                if case .data(let data) = value {
                    form.append(data, name: name, contentType: MIMEType.octets)
                } else {
                    form.append(try encoder.text(of: value, path: path), name: name)
                }
            }
            for file in files { form.append(file) }
            guard let data = try form.dataInMemory() else {
                return Output(contentType: form.contentType, body: .streamed { [form] in try form.body() })
            }
            return Output(contentType: form.contentType, body: .data(data))
        }
    }
}

extension ParameterNode {
    /// Checks that a value fits into a property list. Foundation would write a `nil` as the text `$null`.
    fileprivate func checkHasNoNull(at path: [ParameterKey]) throws {
        switch self {
        case .null: throw URLEncodedFormEncoder.invalid("", path, "is a nil, which a property list cannot have")
        case .record(let record):
            for member in record.members {
                try member.value.checkHasNoNull(at: path + [ParameterKey(member.name)])
            }
        case .list(let list):
            for (index, element) in list.elements.enumerated() {
                try (element.isNil ? .null : element).checkHasNoNull(at: path + [ParameterKey(index: index)])
            }
        default: break
        }
    }
}

extension URLEncodedFormEncoder {
    /// The encoder that endpoints use by default. It allows names such as `filter[name]`.
    static var lenient: URLEncodedFormEncoder {
        var encoder = URLEncodedFormEncoder()
        encoder.acceptsStructuredNames = true
        return encoder
    }
}

/// A tree of parameters as a value for any encoder.
struct EncodableParameters: Encodable {
    private let node: ParameterNode

    init(_ node: ParameterNode) {
        self.node = node
    }

    func encode(to encoder: any Encoder) throws {
        switch node {
        case .record(let record):
            var container = encoder.container(keyedBy: ParameterKey.self)
            for member in record.members {
                if case .absent = member.value { continue }
                try container.encode(EncodableParameters(member.value), forKey: ParameterKey(member.name))
            }
        case .list(let list):
            var container = encoder.unkeyedContainer()
            for element in list.elements { try container.encode(EncodableParameters(element)) }
        default:
            var container = encoder.singleValueContainer()
            try encodeValue(into: &container)
        }
    }

    private func encodeValue(into container: inout any SingleValueEncodingContainer) throws {
        switch node {
        case .absent, .null, .record, .list: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .float(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        }
    }
}
