/// A request of a client, made from its call, its options and the defaults.
struct PreparedRequest: Sendable {
    private(set) var request: URLRequest
    let userInfo: [String: any Sendable]
    /// Makes the body for each attempt, if the request itself does not hold it.
    let makeBody: (@Sendable () throws -> RequestBody)?
    /// Whether the caller gave the body as it is sent, or files for it. Such a body must arrive.
    let isUpload: Bool

    /// Makes the request of a path and parameters.
    ///
    /// - Throws: A `RequestError` of the stage `process`.
    init(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)?,
        _ parameters: [String: ParameterValue], _ options: RequestOptions, _ defaults: RequestDefaults
    ) throws {
        let endpoint = PlainEndpoint(
            method, path, object: object, parameters: parameters,
            encoder: options.parameterEncoder ?? defaults.parameterEncoder,
            files: options.body == nil ? options.files : [])
        try self.init(endpoint, options, defaults)
    }

    /// Makes the request of an endpoint.
    ///
    /// - Throws: A `RequestError` of the stage `process`.
    init(_ endpoint: some Endpoint, _ options: RequestOptions, _ defaults: RequestDefaults) throws {
        let applied = options.applied(to: defaults)
        // Without a base, only an absolute URL is a request.
        let base = applied.baseURL ?? URL(fileURLWithPath: "/")
        let others = RequestParameters(
            defaults: applied.parameters, own: options.parameters, placement: options.body == nil ? nil : .query)
        let made = try EndpointRequest(endpoint, relativeTo: base, and: others)
        var request = made.request
        let isElsewhere = defaults.baseURL.map { Origin($0) != Origin(request.url) } ?? false
        for (name, value) in applied.fields where request.value(forHTTPHeaderField: name) == nil {
            if isElsewhere, Self.isCredential(name, options.configuration.redirects) { continue }
            request.setField(name, to: value)
        }
        for (name, value) in options.fields { request.setField(name, to: value) }
        let makeOwnBody: @Sendable () throws -> RequestBody = { try made.makeBody() }
        switch options.body {
        case nil:
            makeBody = made.isStreamed ? makeOwnBody : nil
        case .data(let data)?:
            request.httpBody = data
            makeBody = nil
        case .some(let body):
            request.httpBody = nil
            makeBody = { body }
        }
        self.request = request
        isUpload = options.body != nil || !endpoint.files.isEmpty
        userInfo = applied.userInfo
    }

    /// The same for another page of the resource.
    func at(_ page: URLRequest) -> PreparedRequest {
        var copy = self
        copy.request = page
        return copy
    }

    /// Whether a field belongs to the server that it was meant for, as a redirect judges it.
    private static func isCredential(_ name: String, _ redirects: RedirectPolicy) -> Bool {
        Redaction.default.hides(field: name)
            || redirects.credentialFields.contains { $0.utf8.isSameFieldName(as: name.utf8) }
    }
}

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
