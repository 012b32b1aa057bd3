/// A request of a client, made from its call, its options and the defaults.
struct PreparedRequest: Sendable {
    /// The request of the operation before hooks. If it could not be made, this has only the method and the base URL, which
    /// errors report.
    var request: URLRequest
    let userInfo: [String: any Sendable]
    /// Makes the body for each attempt, if the request itself does not hold it.
    private(set) var makeBody: (@Sendable () throws -> RequestBody)?
    /// Whether the caller supplied the body itself, or files for it. A redirect must not drop such a body.
    let isUpload: Bool
    /// Why the request could not be made. The operation fails with it when it begins.
    private(set) var problem: (any Error)?

    /// Makes the request of a path and parameters.
    ///
    /// - Parameters:
    ///   - path: A path or an absolute URL. It is not a template, so braces have no special meaning.
    ///   - object: A value whose members are parameters.
    init(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)?,
        _ parameters: [String: ParameterValue], _ options: RequestOptions, _ defaults: RequestDefaults
    ) {
        let files = options.body == nil ? options.files : []
        self.init(method, options, defaults, hasFiles: !files.isEmpty) { applied, others in
            let hasParameters = object != nil || !parameters.isEmpty || !others.own.isEmpty || !others.defaults.isEmpty
            let hasBraces = path.utf8.contains { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }
            guard hasParameters || hasBraces || !files.isEmpty || !RequestPreflight.isToken(method.rawValue) else {
                return (try URLRequest(method, path, relativeTo: applied), nil)
            }
            let literal = path.replacingOccurrences(of: "{", with: "%7B").replacingOccurrences(of: "}", with: "%7D")
            let encoder = options.parameterEncoder ?? defaults.parameterEncoder
            let endpoint = PlainEndpoint(
                method: method, path: literal, requestObject: object.map { ParameterValue($0) } ?? nil,
                parameters: parameters, bodyEncoder: files.isEmpty ? encoder : .multipart, files: files)
            let made = try EndpointRequest(endpoint, relativeTo: applied.base, and: others)
            return (made.request, made.makeBody)
        }
    }

    /// Makes the request of an endpoint.
    init(_ endpoint: some Endpoint, _ options: RequestOptions, _ defaults: RequestDefaults) {
        self.init(endpoint.method, options, defaults, hasFiles: !endpoint.files.isEmpty) { applied, others in
            let made = try EndpointRequest(endpoint, relativeTo: applied.base, and: others)
            return (made.request, made.makeBody)
        }
    }

    private init(
        _ method: HTTPMethod, _ options: RequestOptions, _ defaults: RequestDefaults, hasFiles: Bool,
        _ make: (RequestDefaults, RequestParameters) throws -> (URLRequest, (@Sendable () throws -> RequestBody)?)
    ) {
        let applied = options.applied(to: defaults)
        let others = RequestParameters(
            defaults: applied.parameters, own: options.parameters, placement: options.body == nil ? nil : .query)
        userInfo = applied.userInfo
        isUpload = options.body != nil || hasFiles
        do {
            (request, makeBody) = try make(applied, others)
        } catch {
            let base = options.baseURL ?? defaults.baseURL
            request = .placeholder(method, relativeTo: base ?? URL(fileURLWithPath: "/"))
            problem = error
            return
        }
        request.setDefaultFields(applied.fields, of: defaults.baseURL, options.configuration.redirects)
        for (name, value) in options.fields { request.setField(name, to: value) }
        switch options.body {
        case nil: break
        case .data(let data)?: (request.httpBody, makeBody) = (data, nil)
        case .some(let body): (request.httpBody, makeBody) = (nil, { body })
        }
    }
}

extension RequestDefaults {
    /// Without a base, only an absolute URL is a request.
    fileprivate var base: URL { baseURL ?? URL(fileURLWithPath: "/") }
}

extension URLRequest {
    /// Makes the request of a path alone, for which nothing has to be encoded.
    fileprivate init(_ method: HTTPMethod, _ path: String, relativeTo defaults: RequestDefaults) throws {
        let location = try EndpointURL(
            path: PercentEncoding.reserved.encoded(path), isAbsolute: path.hasScheme, base: defaults.base, query: "")
        self.init(url: location.url)
        if method != .get { httpMethod = method.rawValue }
        if let authorization = location.authorization { setField("Authorization", to: authorization) }
    }

    /// Adds the fields of a client that the request does not have. Credentials go to the origin of the client's base URL only.
    fileprivate mutating func setDefaultFields(
        _ fields: [String: String], of baseURL: URL?, _ redirects: RedirectPolicy
    ) {
        guard !fields.isEmpty else { return }
        let isElsewhere = baseURL.map { Origin($0) != Origin(url) } ?? false
        for (name, value) in fields where self.value(forHTTPHeaderField: name) == nil {
            // A redirect applies the same rule.
            let isCredential =
                Redaction.default.hides(field: name)
                || redirects.credentialFields.contains { $0.utf8.isSameFieldName(as: name.utf8) }
            if !(isElsewhere && isCredential) { setField(name, to: value) }
        }
    }
}
