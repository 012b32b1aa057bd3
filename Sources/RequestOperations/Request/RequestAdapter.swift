/// Changes a request before it is sent. It is one closure, and several are ready-made.
///
/// The adapters of a configuration run in order at every attempt, each time from the original request. So a token is
/// fresh, and an edit is never applied twice. If an adapter throws, the attempt fails in the stage `process`.
public struct RequestAdapter: Sendable {
    private enum Work {
        case field(name: String, value: String, isDefault: Bool)
        case edit(Edit)
        case function(@Sendable (URLRequest, any IdempotencyKeySource) async throws -> URLRequest)
    }

    /// Edits a request in place, and may ask for an idempotency key.
    typealias Edit = @Sendable (inout URLRequest, any IdempotencyKeySource) throws -> Void

    private let work: Work

    /// Whether the request that the adapter made may be sent a second time unchanged.
    ///
    /// This matters when a reused connection is lost before the first byte of the response
    /// (``TransportTask/mayBeSentAgain``). If one adapter of a configuration is not repeatable, the transport does not
    /// send such a request again by itself. The attempt fails, and the next attempt runs the adapters again.
    ///
    /// It is `true` for adapters that always give the same result: fields, a base URL, an idempotency key. It is
    /// `false` for adapters that run a closure, such as `bearerToken(_:)`. The closure may insert a value that counts
    /// only once: a one-time token, a nonce, a time stamp. ``repeatable()`` declares that it does not.
    public let isRepeatable: Bool

    /// Makes an adapter from one function. The function returns the request to send instead of the given one.
    ///
    /// It is called once for each attempt. It is called again if the attempt waited for its slot longer than
    /// ``RequestConfiguration/freshness``. It runs on the Task of the operation, without a slot, so it may send
    /// requests itself.
    public init(_ adapt: @escaping @Sendable (URLRequest) async throws -> URLRequest) {
        self.init(.function { request, _ in try await adapt(request) }, isRepeatable: false)
    }

    /// Whether it reads the body, which an offline queue otherwise keeps apart from the request.
    package let readsBody: Bool

    private init(_ work: Work, isRepeatable: Bool, readsBody: Bool = false) {
        self.work = work
        self.isRepeatable = isRepeatable
        self.readsBody = readsBody
    }

    init(isRepeatable: Bool, readsBody: Bool = false, edit: @escaping Edit) {
        self.init(.edit(edit), isRepeatable: isRepeatable, readsBody: readsBody)
    }

    /// The adapter, declared repeatable: what it puts into a request may be sent twice. See ``isRepeatable``.
    public func repeatable() -> RequestAdapter {
        RequestAdapter(work, isRepeatable: true, readsBody: readsBody)
    }

    /// Returns the request to send instead of the given one. An operation does the same with each adapter of its
    /// configuration.
    ///
    /// Each call here counts as a separate request.
    ///
    /// - Throws: The error that the function of the adapter throws.
    public func adapt(_ request: URLRequest) async throws -> URLRequest {
        try await adapt(request, keys: NewIdempotencyKeys())
    }

    func adapt(_ request: URLRequest, keys: any IdempotencyKeySource) async throws -> URLRequest {
        var adapted = request
        switch work {
        case .field(let name, _, isDefault: true) where request.value(forHTTPHeaderField: name) != nil: break
        case .field(let name, let value, _): adapted.setField(name, to: value)
        case .edit(let edit): try edit(&adapted, keys)
        case .function(let function): adapted = try await function(request, keys)
        }
        return adapted
    }

    /// Runs the function of the adapter on an operation queue. Use it for work that needs a serial queue or the main
    /// queue.
    ///
    /// - Parameter queue: The queue. If the queue drops or cancels the work, the request ends as cancelled.
    public func on(_ queue: OperationQueue) -> RequestAdapter {
        RequestAdapter(
            .function { request, keys in
                try await queue.run { try await adapt(request, keys: keys) }
            }, isRepeatable: isRepeatable, readsBody: readsBody)
    }

    /// Edits the request in place.
    public static func edit(_ edit: @escaping @Sendable (inout URLRequest) throws -> Void) -> RequestAdapter {
        RequestAdapter(isRepeatable: false, edit: { request, _ in try edit(&request) })
    }

    /// Sets a header field. It replaces a field of the same name.
    public static func field(_ name: String, _ value: String) -> RequestAdapter {
        RequestAdapter(.field(name: name, value: value, isDefault: false), isRepeatable: true)
    }

    /// Sets a header field unless the request already has a field of that name.
    public static func defaultField(_ name: String, _ value: String) -> RequestAdapter {
        RequestAdapter(.field(name: name, value: value, isDefault: true), isRepeatable: true)
    }

    /// Sets `Authorization: Bearer …` (RFC 6750) with a token from a closure.
    ///
    /// - Parameter token: Gets the token. It is called at every attempt, and an error makes the attempt fail.
    public static func bearerToken(_ token: @escaping @Sendable () async throws -> String) -> RequestAdapter {
        RequestAdapter { request in
            var authorized = request
            authorized.setField("Authorization", to: "Bearer \(try await token())")
            return authorized
        }
    }

    /// Sets `Authorization: Bearer …` (RFC 6750) with a token that does not change.
    public static func bearerToken(_ token: String) -> RequestAdapter {
        field("Authorization", "Bearer \(token)")
    }

    /// Places a relative URL under a base URL. An absolute URL stays as it is.
    ///
    /// Paths are joined: `/user/x` under `https://a.example/api` is `https://a.example/api/user/x`, and so is `user/x`.
    /// The query of the request is kept; the query of the base comes before it. A relative URL that names a host
    /// (`//b.example/x`) fails as ``RequestError/Code/badURL``, because it is unclear which host is meant.
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

extension RequestAdapter: CustomStringConvertible, OpaqueReflectable {
    /// What the adapter does. For a field it gives the name, without the value.
    public var description: String {
        switch work {
        case .field(let name, _, let isDefault): isDefault ? "sets \(name) unless it is set" : "sets \(name)"
        case .edit: "edits the request"
        case .function: "changes the request"
        }
    }
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

extension RequestAdapter {
    /// Gives each request a key that all its attempts share (draft-ietf-httpapi-idempotency-key-header).
    ///
    /// The key lets the server tell a repeated request from a second one. So the retry policy may repeat the request.
    ///
    /// The value is a random UUID (RFC 9562, version 4), as a string in quotation marks (RFC 9651, section 3.3.3). It
    /// cannot be guessed, and the keys of two requests are unrelated. It does not come from
    /// ``RequestConfiguration/randomSource``, because two processes with the same seed would then have the same keys. A
    /// decision that replaces the request
    /// (``RetryDecision/retry(after:or:restartingBackoff:restartingCount:with:)``) gives it a new key. A request that already
    /// has a key keeps it. The key prevents a second action only on a server that supports the field. You must know whether
    /// your server does.
    ///
    /// - Parameter methods: The methods of the requests that get a key, without regard to case. POST and PATCH by
    ///   default.
    public static func idempotencyKey(methods: Set<String> = ["POST", "PATCH"]) -> RequestAdapter {
        let methods = Set(methods.map { $0.uppercased() })
        return RequestAdapter(isRepeatable: true) { request, keys in
            guard methods.contains((request.httpMethod ?? "GET").uppercased()) else { return }
            guard request.value(forHTTPHeaderField: IdempotencyKey.field) == nil else { return }
            request.setField(IdempotencyKey.field, to: keys.idempotencyKey())
        }
    }
}

extension RequestAdapter {
    /// Signs each attempt anew, after Standard Webhooks 1.0. It must be the last adapter that changes the body.
    ///
    /// `webhook-id` is the `Idempotency-Key` of the request, without its quotation marks. In an offline queue that is the key of
    /// the record. A request without one gets a key that all its attempts share. The body must be `httpBody`, or that of a record
    /// of an offline queue, which no adapter may change. A body that is a stream fails with ``RequestError/Code/unsupported``.
    ///
    /// It is repeatable: receivers tell a repetition by its id.
    ///
    /// - Parameters:
    ///   - signature: The secrets.
    ///   - date: The present time, in `webhook-timestamp`.
    public static func webhookSignature(
        _ signature: WebhookSignature, date: @escaping @Sendable () -> Date = { Date() }
    ) -> RequestAdapter {
        webhookSignature(date: date) { _ in signature }
    }

    /// Signs each attempt as ``webhookSignature(_:date:)`` does, with secrets that depend on the request.
    ///
    /// - Parameters:
    ///   - date: The present time, in `webhook-timestamp`.
    ///   - signature: Returns the secrets of a receiver, or `nil` for a request that is not signed. Called once for each attempt.
    public static func webhookSignature(
        date: @escaping @Sendable () -> Date = { Date() },
        for signature: @escaping @Sendable (URLRequest) throws -> WebhookSignature?
    ) -> RequestAdapter {
        RequestAdapter(isRepeatable: true, readsBody: true) { request, keys in
            guard let signature = try signature(request) else { return }
            guard request.httpBodyStream == nil else {
                throw RequestError(.unsupported, stage: .process, reason: "a stream cannot be signed")
            }
            let key = request.value(forHTTPHeaderField: IdempotencyKey.field) ?? keys.idempotencyKey()
            let id = key.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            for (name, value) in try signature.fields(for: request.httpBody ?? Data(), id: id, at: date()) {
                request.setField(name, to: value)
            }
        }
    }
}
