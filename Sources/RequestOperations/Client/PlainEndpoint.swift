/// A request of a path and parameters, as an endpoint.
struct PlainEndpoint: Endpoint {
    typealias Response = Void

    let method: HTTPMethod
    let path: String
    let requestObject: ParameterValue
    let parameters: [String: ParameterValue]
    let fields: [String: String]
    let bodyEncoder: ParameterEncoder
    let files: [MultipartFormData.Part]

    /// Makes an endpoint.
    ///
    /// - Parameters:
    ///   - path: A path or an absolute URL. It is no template, so braces stand for themselves.
    ///   - object: A value whose members are parameters.
    init(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)?, parameters: [String: ParameterValue],
        encoder: ParameterEncoder, files: [MultipartFormData.Part]
    ) {
        self.method = method
        self.path = path.replacingOccurrences(of: "{", with: "%7B").replacingOccurrences(of: "}", with: "%7D")
        requestObject = object.map { Self.erased($0) } ?? nil
        self.parameters = parameters
        fields = [:]
        bodyEncoder = files.isEmpty ? encoder : .multipart
        self.files = files
    }

    private static func erased(_ object: some Encodable & Sendable) -> ParameterValue { ParameterValue(object) }

    func encode(to encoder: any Encoder) throws {
        // Everything is in the properties of the protocol.
        _ = encoder.container(keyedBy: ParameterKey.self)
    }
}
