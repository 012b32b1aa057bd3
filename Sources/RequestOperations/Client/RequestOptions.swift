/// The options of one request of a ``RequestClient``. The closure of a call sets them.
///
/// ```swift
/// let users = try await client.get("users", as: [User].self) { options in
///     options.tag = "list"
///     options.fields["Accept-Language"] = "de"
///     options.configuration.deadline = .seconds(10)
/// }
/// ```
public struct RequestOptions: Sendable {
    /// The base URL of this request. `nil`, the default, means the client's base URL.
    public var baseURL: URL?

    /// Header fields. They win over those of the client, of an endpoint, and over the `Content-Type` of the body. None by
    /// default.
    public var fields: [String: String] = [:]

    /// Parameters. They win over those of the client, of the call and of an endpoint. None by default.
    public var parameters: [String: ParameterValue] = [:]

    /// How parameters in a body are encoded. `nil`, the default, means the client's encoder. An ``Endpoint`` uses its own
    /// encoder.
    public var parameterEncoder: ParameterEncoder?

    /// Files that follow the parameters in the body. A body with files is encoded by ``ParameterEncoder/multipart``. None by
    /// default. An ``Endpoint`` uses its own files.
    public var files: [MultipartFormData.Part] = []

    /// The body. All parameters then go into the query. `nil`, the default, means a body of the parameters.
    public var body: RequestBody?

    /// Values for hooks and observers. They win over those of the client. None by default.
    public var userInfo: [String: any Sendable] = [:]

    /// A name for cancelling several requests together. `nil` by default.
    public var tag: String?

    /// Whether the base URL of the client is used. `true` by default.
    public var usesDefaultBaseURL = true

    /// Whether the header fields of the client are added. `true` by default.
    public var usesDefaultFields = true

    /// Whether the parameters of the client are added. `true` by default.
    public var usesDefaultParameters = true

    /// Whether the user info of the client is added. `true` by default.
    public var usesDefaultUserInfo = true

    private var omittedFields: Set<String> = []
    private var omittedParameters: Set<String> = []

    /// Leaves out one header field of the client, such as `Authorization`. The case is ignored. A field of that name in
    /// ``fields`` is still sent.
    public mutating func omitDefaultField(_ name: String) { omittedFields.insert(name) }

    /// Leaves out one parameter of the client. A parameter of that name in ``parameters`` is still sent.
    public mutating func omitDefaultParameter(_ name: String) { omittedParameters.insert(name) }

    /// How the request is made. Starts as the client's configuration, with the changes of an ``Endpoint``.
    public var configuration: RequestConfiguration { didSet { isConfigured = true } }

    /// Whether the configuration was changed for this request.
    private(set) var isConfigured = false

    /// Whether the request is shared with identical ones in flight. `nil`, the default, means as
    /// ``RequestClient/sharesIdenticalRequests`` says.
    public var sharing: RequestSharing?

    init(_ configuration: RequestConfiguration) { self.configuration = configuration }

    /// The defaults that apply to the request.
    func applied(to defaults: RequestDefaults) -> RequestDefaults {
        var applied = defaults
        applied.baseURL = baseURL ?? (usesDefaultBaseURL ? defaults.baseURL : nil)
        if !usesDefaultFields { applied.fields = [:] }
        if !usesDefaultParameters { applied.parameters = [:] }
        for name in omittedFields { applied.setField(nil, for: name) }
        for name in omittedParameters { applied.parameters[name] = nil }
        if !usesDefaultUserInfo { applied.userInfo = [:] }
        if !userInfo.isEmpty { applied.userInfo.merge(userInfo) { $1 } }
        return applied
    }
}

/// What the requests of a ``RequestClient`` have in common. A request's own values win over these.
public struct RequestDefaults: Sendable {
    /// The URL that paths are joined to. `nil` by default: each request then needs an absolute URL or a base of its own.
    public var baseURL: URL?

    /// Header fields. A request that has a field of the same name, in any case, keeps its own. None by default.
    ///
    /// Credentials, such as `Authorization`, are sent only to the scheme, host and port of ``baseURL``. Credentials are the
    /// fields that a redirect drops; see ``RedirectPolicy/credentialFields``. Without a base URL, they go with all requests.
    public var fields: [String: String] = [:]

    /// Parameters. They go where the request's own parameters go. If the request or its URL has a parameter of the same name, the
    /// default is left out. None by default.
    public var parameters: [String: ParameterValue] = [:]

    /// Values for hooks and observers, such as the screen that a request belongs to. They are not sent. None by default.
    public var userInfo: [String: any Sendable] = [:]

    /// How parameters in a body are encoded. ``ParameterEncoder/form`` by default. An ``Endpoint`` has its own encoder.
    public var parameterEncoder: ParameterEncoder {
        get { ownParameterEncoder ?? .form }
        set { ownParameterEncoder = newValue }
    }

    private var ownParameterEncoder: ParameterEncoder?

    /// Makes defaults without a base URL and without values.
    public init() {}

    /// Sets or removes a header field. The case of its name is ignored.
    mutating func setField(_ value: String?, for name: String) {
        for other in fields.keys where other.utf8.isSameFieldName(as: name.utf8) { fields[other] = nil }
        fields[name] = value
    }
}

extension RequestDefaults: CustomStringConvertible, OpaqueReflectable {
    /// The location of the base URL, and the names of fields, parameters and user info, without their values.
    public var description: String { described(or: "no defaults") }

    fileprivate func described(_ more: String?..., or nothing: String) -> String {
        func names(_ word: String, _ names: [String]) -> String? {
            names.isEmpty ? nil : "\(word): \(names.sorted().joined(separator: " "))"
        }
        let own = [
            baseURL.map { "base URL: \(Redaction.location(of: $0))" }, names("fields", Array(fields.keys)),
            names("parameters", Array(parameters.keys)), names("user info", Array(userInfo.keys)),
        ]
        let parts = (own + more).compactMap(\.self)
        return parts.isEmpty ? nothing : parts.joined(separator: ", ")
    }
}

extension RequestOptions: CustomStringConvertible, OpaqueReflectable {
    /// The location of the base URL, and the names of fields, parameters, files and user info, without their values.
    public var description: String {
        var own = RequestDefaults()
        (own.baseURL, own.fields, own.parameters, own.userInfo) = (baseURL, fields, parameters, userInfo)
        return own.described(files.isEmpty ? nil : "\(files.count) files", tag.map { "tag: \($0)" }, or: "no options")
    }
}
