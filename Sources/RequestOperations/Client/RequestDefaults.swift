/// What the requests of a ``RequestClient`` have in common. A request's own values win over these.
public struct RequestDefaults: Sendable {
    /// The URL that paths are joined to. `nil` by default: each request then needs an absolute URL or a base of its own.
    public var baseURL: URL?

    /// Header fields. A request that has a field of the same name, in any case, keeps its own. None by default.
    ///
    /// Credentials, such as `Authorization`, are not sent to another scheme, host or port than those of ``baseURL``. They
    /// are the fields that a redirect drops; see ``RedirectPolicy/credentialFields``. Without a base URL, all requests have
    /// them.
    public var fields: [String: String] = [:]

    /// Parameters. They go where the request's own parameters go, unless it has one of the same name, in its URL or
    /// elsewhere. None by default.
    public var parameters: [String: ParameterValue] = [:]

    /// Values for hooks and observers, such as the screen that a request belongs to. They are not sent. None by default.
    public var userInfo: [String: any Sendable] = [:]

    /// How parameters in a body are encoded. ``ParameterEncoder/form`` by default. An ``Endpoint`` has its own encoder.
    public var parameterEncoder: ParameterEncoder = .form

    /// Makes defaults without a base URL and without values.
    public init() {}

    /// Sets a header field, or removes it, whatever the case of its name.
    mutating func setField(_ value: String?, for name: String) {
        for other in fields.keys where other.utf8.isSameFieldName(as: name.utf8) { fields[other] = nil }
        fields[name] = value
    }
}
