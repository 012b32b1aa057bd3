/// Changes a request before it is sent: one closure, with ready-made ones.
///
/// The adapters of a configuration run in their order at every attempt, each time from the original request. So a token is
/// fresh, and an edit is never applied twice. An error that an adapter throws fails the attempt in the stage `process`.
public struct RequestAdapter: Sendable {
    private enum Work {
        case field(name: String, value: String, isDefault: Bool)
        case edit(Edit)
        case function(@Sendable (URLRequest, any IdempotencyKeySource) async throws -> URLRequest)
    }

    /// Edits a request in place, and may ask for its key.
    typealias Edit = @Sendable (inout URLRequest, any IdempotencyKeySource) throws -> Void

    private let work: Work

    /// Whether a request that the adapter made may be sent a second time as it is.
    ///
    /// That matters where a connection that was used again is lost before a byte of the response has come
    /// (``TransportTask/mayBeSentAgain``). If one adapter of a configuration is not repeatable, the transport does not send such
    /// a request again by itself. The attempt fails, and the next one runs the adapters anew.
    ///
    /// `true` for adapters that give the same each time: fields, a base URL, an idempotency key. `false` for each that runs
    /// a closure, such as ``bearerToken(_:)``. The closure may put in something that counts once: a one-time token, a
    /// nonce, a time stamp. ``repeatable()`` declares that it does not.
    public let isRepeatable: Bool

    /// Makes an adapter from its one function, which returns the request to send in place of the one given.
    ///
    /// It is called once for each attempt, and again if the attempt waited for its slot longer than
    /// ``RequestConfiguration/freshness``. It runs on the Task of the operation, without a slot, so it may send requests
    /// itself.
    public init(_ adapt: @escaping @Sendable (URLRequest) async throws -> URLRequest) {
        self.init(.function { request, _ in try await adapt(request) }, isRepeatable: false)
    }

    private init(_ work: Work, isRepeatable: Bool) {
        self.work = work
        self.isRepeatable = isRepeatable
    }

    init(isRepeatable: Bool, edit: @escaping Edit) {
        self.init(.edit(edit), isRepeatable: isRepeatable)
    }

    /// The adapter, declared to be repeatable: what it puts into a request may be sent twice. See ``isRepeatable``.
    public func repeatable() -> RequestAdapter {
        RequestAdapter(work, isRepeatable: true)
    }

    /// Returns the request to send in place of the one given, as an operation does with each adapter of its configuration.
    /// Here each call is another request.
    ///
    /// - Throws: What the function of the adapter throws.
    public func adapt(_ request: URLRequest) async throws -> URLRequest {
        try await adapt(request, keys: NewIdempotencyKeys())
    }

    func adapt(_ request: URLRequest, keys: any IdempotencyKeySource) async throws -> URLRequest {
        if case .function(let function) = work { return try await function(request, keys) }
        var edited = request
        try edit(&edited, keys: keys)
        return edited
    }

    /// Runs the function of an adapter on an operation queue, for work that needs it: a serial queue, the main one.
    ///
    /// - Parameter queue: The queue. If it drops or cancels the work, the request ends as cancelled.
    public func on(_ queue: OperationQueue) -> RequestAdapter {
        RequestAdapter(
            .function { request, keys in
                try await queue.run { try await adapt(request, keys: keys) }
            }, isRepeatable: isRepeatable)
    }

    /// Edits the request in place.
    public static func edit(_ edit: @escaping @Sendable (inout URLRequest) throws -> Void) -> RequestAdapter {
        RequestAdapter(isRepeatable: false, edit: { request, _ in try edit(&request) })
    }

    /// Sets a field, in place of one of the same name.
    public static func header(_ name: String, _ value: String) -> RequestAdapter {
        RequestAdapter(.field(name: name, value: value, isDefault: false), isRepeatable: true)
    }

    /// Sets a field unless the request has one of the name.
    public static func defaultHeader(_ name: String, _ value: String) -> RequestAdapter {
        RequestAdapter(.field(name: name, value: value, isDefault: true), isRepeatable: true)
    }

    /// Sets `Authorization: Bearer …` (RFC 6750) with a token that the closure gives.
    ///
    /// - Parameter token: Asked at every attempt; an error out of it fails the attempt.
    public static func bearerToken(_ token: @escaping @Sendable () async throws -> String) -> RequestAdapter {
        RequestAdapter { request in
            var authorized = request
            authorized.setField("Authorization", to: "Bearer \(try await token())")
            return authorized
        }
    }

    /// Places a relative URL under a base; an absolute URL stays as it is.
    ///
    /// Paths are joined: `/user/x` under `https://a.example/api` is `https://a.example/api/user/x`, as is `user/x`. The
    /// request's query is kept; the base's comes before it. A relative URL that names a host (`//b.example/x`) fails as
    /// ``RequestError/Code/badURL``: neither host can be what was meant.
    ///
    /// - Parameter base: An absolute URL.
    public static func baseURL(_ base: URL) -> RequestAdapter {
        RequestAdapter(isRepeatable: true) { request, _ in
            guard let url = request.url, url.scheme == nil else { return }
            guard url.host == nil, let placed = url.placed(under: base) else {
                throw RequestError(.badURL, stage: .process, reason: "the URL cannot be placed under a base")
            }
            request.url = placed
        }
    }
}

extension RequestAdapter {
    /// What an adapter can do to a request.
    enum Reach: Int, Comparable {
        /// It sets a field.
        case fields
        /// It edits the request in place, and never suspends: so it uses no queue either.
        case request
        case anything

        static func < (lesser: Reach, greater: Reach) -> Bool { lesser.rawValue < greater.rawValue }
    }

    var reach: Reach {
        switch work {
        case .field: .fields
        case .edit: .request
        case .function: .anything
        }
    }

    /// Edits a request, as an adapter whose reach is not ``Reach/anything`` does.
    func edit(_ request: inout URLRequest, keys: any IdempotencyKeySource) throws {
        switch work {
        case .field: setField(of: &request)
        case .edit(let edit): try edit(&request, keys)
        case .function: preconditionFailure("An adapter that does anything does not edit in place.")
        }
    }

    /// Sets the field, as an adapter whose reach is ``Reach/fields`` does.
    func setField(of request: inout URLRequest) {
        guard case .field(let name, let value, let isDefault) = work else {
            preconditionFailure("An adapter that sets no field sets none.")
        }
        if isDefault, request.value(forHTTPHeaderField: name) != nil { return }
        request.setField(name, to: value)
    }
}

extension RequestAdapter: CustomStringConvertible, CustomReflectable {
    /// What the adapter does: the name of the field that it sets, without the value, or that it changes the request.
    public var description: String {
        switch work {
        case .field(let name, _, let isDefault): isDefault ? "sets \(name) unless it is set" : "sets \(name)"
        case .edit: "edits the request"
        case .function: "changes the request"
        }
    }

    /// No children, so that `dump` does not show the value of a field.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

extension URL {
    fileprivate func placed(under base: URL) -> URL? {
        guard var joined = URLComponents(url: base, resolvingAgainstBaseURL: true),
            let relative = URLComponents(url: self, resolvingAgainstBaseURL: false)
        else { return nil }
        joined.percentEncodedPath = joined.percentEncodedPath.joined(withPath: relative.percentEncodedPath)
        let queries = [joined.percentEncodedQuery ?? "", relative.percentEncodedQuery ?? ""].filter { !$0.isEmpty }
        joined.percentEncodedQuery = queries.isEmpty ? nil : queries.joined(separator: "&")
        joined.percentEncodedFragment = relative.percentEncodedFragment
        return joined.url
    }
}
