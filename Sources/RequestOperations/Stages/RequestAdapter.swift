/// Changes a request before it is sent: one closure, with ready-made ones.
///
/// The adapters of a configuration run in their order at every attempt, each time from the original request, so that a
/// token is fresh and an edit is never applied twice. An error out of one fails the attempt in the stage `process`.
public struct RequestAdapter: Sendable {
    /// Returns the request to send in place of the one given. Called once for each attempt (and again if the attempt
    /// waited for its slot longer than ``RequestConfiguration/freshness``), on the Task of the operation, without a slot,
    /// so it may send requests itself.
    public let adapt: @Sendable (URLRequest) async throws -> URLRequest

    /// Makes an adapter from its one function.
    public init(_ adapt: @escaping @Sendable (URLRequest) async throws -> URLRequest) {
        self.adapt = adapt
    }

    /// Runs the function of an adapter on an operation queue, for work that needs it: a serial queue, the main one.
    ///
    /// - Parameter queue: The queue. If it drops or cancels the work, the request ends as cancelled.
    public func on(_ queue: OperationQueue) -> RequestAdapter {
        RequestAdapter { [adapt] request in
            try await queue.run { try await adapt(request) }
        }
    }

    /// Edits the request in place.
    public static func edit(_ edit: @escaping @Sendable (inout URLRequest) throws -> Void) -> RequestAdapter {
        RequestAdapter { request in
            var edited = request
            try edit(&edited)
            return edited
        }
    }

    /// Sets a field, in place of one of the same name.
    public static func header(_ name: String, _ value: String) -> RequestAdapter {
        edit { $0.setValue(value, forHTTPHeaderField: name) }
    }

    /// Sets a field unless the request has one of the name.
    public static func defaultHeader(_ name: String, _ value: String) -> RequestAdapter {
        edit { request in
            if request.value(forHTTPHeaderField: name) == nil { request.setValue(value, forHTTPHeaderField: name) }
        }
    }

    /// Sets `Authorization: Bearer …` (RFC 6750) with a token that the closure gives.
    ///
    /// - Parameter token: Asked at every attempt; an error out of it fails the attempt.
    public static func bearerToken(_ token: @escaping @Sendable () async throws -> String) -> RequestAdapter {
        RequestAdapter { request in
            var authorized = request
            authorized.setValue("Bearer \(try await token())", forHTTPHeaderField: "Authorization")
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
        edit { request in
            guard let url = request.url, url.scheme == nil else { return }
            guard url.host == nil, let placed = url.placed(under: base) else {
                throw RequestError(.badURL, stage: .process, reason: "the URL cannot be placed under a base")
            }
            request.url = placed
        }
    }
}

extension URL {
    fileprivate func placed(under base: URL) -> URL? {
        guard var joined = URLComponents(url: base, resolvingAgainstBaseURL: true),
            let relative = URLComponents(url: self, resolvingAgainstBaseURL: false)
        else { return nil }
        let head = joined.percentEncodedPath
        let tail = relative.percentEncodedPath
        if !tail.isEmpty {
            joined.percentEncodedPath =
                (head.hasSuffix("/") ? String(head.dropLast()) : head)
                + (tail.hasPrefix("/") ? tail : "/" + tail)
        }
        let queries = [joined.percentEncodedQuery ?? "", relative.percentEncodedQuery ?? ""].filter { !$0.isEmpty }
        joined.percentEncodedQuery = queries.isEmpty ? nil : queries.joined(separator: "&")
        joined.percentEncodedFragment = relative.percentEncodedFragment
        return joined.url
    }
}
