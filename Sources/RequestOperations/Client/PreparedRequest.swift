/// A request of a client, made from its call, its options and the defaults.
struct PreparedRequest: Sendable {
    private(set) var request: URLRequest
    let userInfo: [String: any Sendable]
    /// Makes the body for each attempt, if the request itself does not hold it.
    private(set) var makeBody: (@Sendable () throws -> RequestBody)?
    /// Whether the caller gave the body as it is sent, or files for it. Such a body must arrive.
    let isUpload: Bool

    /// Makes the request of a path and parameters.
    ///
    /// - Parameters:
    ///   - path: A path or an absolute URL. It is no template, so braces stand for themselves.
    ///   - object: A value whose members are parameters.
    /// - Throws: A `RequestError` of the stage `process`.
    init(
        _ method: HTTPMethod, _ path: String, object: (any Encodable & Sendable)?,
        _ parameters: [String: ParameterValue], _ options: RequestOptions, _ defaults: RequestDefaults
    ) throws {
        let applied = options.applied(to: defaults)
        let files = options.body == nil ? options.files : []
        guard
            object != nil || !files.isEmpty
                || ![parameters, options.parameters, applied.parameters].allSatisfy(\.isEmpty)
                || path.utf8.contains(where: "{}".utf8.contains) || !RequestPreflight.isToken(method.rawValue)
        else {
            // There is nothing to encode.
            let location = try EndpointURL(
                path: PercentEncoding.reserved.encoded(path), isAbsolute: path.hasScheme, base: applied.base, query: "")
            var request = URLRequest(url: location.url)
            if method != .get { request.httpMethod = method.rawValue }
            if let authorization = location.authorization { request.setField("Authorization", to: authorization) }
            self.init(request, options, applied, isElsewhereThan: defaults.baseURL)
            return
        }
        let encoder = options.parameterEncoder ?? defaults.parameterEncoder
        let endpoint = PlainEndpoint(
            method: method,
            path: path.replacingOccurrences(of: "{", with: "%7B").replacingOccurrences(of: "}", with: "%7D"),
            requestObject: object.map { ParameterValue($0) } ?? nil, parameters: parameters,
            bodyEncoder: files.isEmpty ? encoder : .multipart, files: files)
        try self.init(endpoint, options, defaults)
    }

    /// Makes the request of an endpoint.
    ///
    /// - Throws: A `RequestError` of the stage `process`.
    init(_ endpoint: some Endpoint, _ options: RequestOptions, _ defaults: RequestDefaults) throws {
        let applied = options.applied(to: defaults)
        let others = RequestParameters(
            defaults: applied.parameters, own: options.parameters, placement: options.body == nil ? nil : .query)
        let made = try EndpointRequest(endpoint, relativeTo: applied.base, and: others)
        self.init(
            made.request, options, applied, isElsewhereThan: defaults.baseURL, hasFiles: !endpoint.files.isEmpty)
        if options.body == nil, made.isStreamed { makeBody = { try made.makeBody() } }
    }

    /// Adds fields and a body to a request.
    ///
    /// - Parameter baseURL: That of the client. Credentials of the client are for its origin only.
    private init(
        _ made: URLRequest, _ options: RequestOptions, _ applied: RequestDefaults, isElsewhereThan baseURL: URL?,
        hasFiles: Bool = false
    ) {
        request = made
        if !applied.fields.isEmpty {
            let isElsewhere = baseURL.map { Origin($0) != Origin(made.url) } ?? false
            for (name, value) in applied.fields where made.value(forHTTPHeaderField: name) == nil {
                if isElsewhere, Self.isCredential(name, options.configuration.redirects) { continue }
                request.setField(name, to: value)
            }
        }
        for (name, value) in options.fields { request.setField(name, to: value) }
        if let body = options.body {
            if case .data(let data) = body { request.httpBody = data } else { makeBody = { body } }
        }
        isUpload = options.body != nil || hasFiles
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

/// The requests of one call: started alone, and by a batch, a chain or a group.
struct PreparedCall: Sendable {
    private(set) var alone: Result<PreparedRequest, any Error>
    /// Makes the request of a member. `nil` if it is the same.
    private var makeMember: (@Sendable () throws -> PreparedRequest)?
    /// The request of the operation before hooks. If it could not be made, this has the method and the base URL, for the
    /// errors, and the operation fails when it begins.
    private(set) var initial: URLRequest

    /// Makes the request. The one of a member is made only if it differs.
    ///
    /// - Parameters:
    ///   - later: Makes the one of a member when a member begins. `nil` means now, because an endpoint may change.
    ///   - make: Makes a request from defaults.
    init(
        _ method: HTTPMethod, _ options: RequestOptions, _ settings: Box<ClientSettings>,
        later: (@Sendable (RequestDefaults) throws -> PreparedRequest)? = nil,
        _ make: (RequestDefaults) throws -> PreparedRequest
    ) {
        let defaults = settings.value.defaults(for: options, isMember: false)
        alone = Result { try make(defaults) }
        let base = options.baseURL ?? defaults.baseURL
        initial = (try? alone.get())?.request ?? .placeholder(method, relativeTo: base ?? URL(fileURLWithPath: "/"))
        guard settings.value.haveDefaultsOfThoseAlone else { return }
        if let later {
            makeMember = { try later(settings.value.defaults(for: options, isMember: true)) }
        } else {
            let member = Result { try make(settings.value.defaults(for: options, isMember: true)) }
            makeMember = { try member.get() }
        }
    }

    func request(forMember isMember: Bool) throws -> PreparedRequest {
        if isMember, let makeMember { return try makeMember() }
        return try alone.get()
    }

    /// Whether the request of the operation is not yet the one to send.
    func isProvisional(forMember isMember: Bool) -> Bool {
        if case .failure = alone { return true }
        return isMember && makeMember != nil
    }

    /// Turns to another page of the resource.
    mutating func turn(to page: URLRequest) {
        alone = alone.map { $0.at(page) }
        initial = page
        makeMember = nil
    }
}

/// A request of a path and parameters, as an endpoint.
struct PlainEndpoint: Endpoint {
    typealias Response = Void

    let method: HTTPMethod
    let path: String
    let requestObject: ParameterValue
    let parameters: [String: ParameterValue]
    var fields: [String: String] { [:] }
    let bodyEncoder: ParameterEncoder
    let files: [MultipartFormData.Part]

    func encode(to encoder: any Encoder) throws {
        // Everything is in the properties of the protocol.
        _ = encoder.container(keyedBy: ParameterKey.self)
    }
}

extension RequestDefaults {
    /// Without a base, only an absolute URL is a request.
    fileprivate var base: URL { baseURL ?? URL(fileURLWithPath: "/") }
}
