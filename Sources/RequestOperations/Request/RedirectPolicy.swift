/// How redirects are followed. The policy is plain data, and one function applies it for all transports.
///
/// The rules are those of RFC 9110, section 15.4:
///
/// - 301 and 302 turn a POST into a GET.
/// - 303 turns every method except HEAD into a GET.
/// - 307 and 308 keep the method and send the body again from its source.
/// - Uploads and offline queues follow no redirect that changes the method (``allowsMethodChange``).
///
/// A response without a readable `Location`, or with several different ones, is not followed. It is an ordinary
/// response. The validation sees only the last head.
///
/// A redirect to a request that this attempt has already sent is followed like any other: the server may answer it
/// differently now. If it does not, the maximum ends the loop.
///
/// A user and a password in a `Location` are never used. A user and a password in the request's URL are kept only
/// within its origin.
public struct RedirectPolicy: Sendable, Hashable {
    /// The most redirects that one attempt follows. 10 by default.
    ///
    /// One more redirect fails as ``RequestError/Code/tooManyRedirects``, or as ``RequestError/Code/redirectLoop`` if it
    /// leads to a request that this attempt has already sent. At 0, redirects are not followed: the redirecting response
    /// is an ordinary response.
    public var maximum: Int

    /// Whether a redirect from https to http is followed. `false` by default.
    ///
    /// With `false`, such a redirect fails as ``RequestError/Code/insecureRedirect``.
    public var allowsInsecure: Bool

    /// Whether a redirect that changes the method, and so drops the body, is followed. `nil`, the default, leaves that to the
    /// operation.
    ///
    /// A plain request follows it, as browsers do. An ``UploadOperation``, a request of a ``RequestClient`` with a body or
    /// files of its own, and the requests of an offline queue do not: they fail as
    /// ``RequestError/Code/unacceptableStatus``, because their body would not arrive. With ``UploadProtocol/tus``, `true`
    /// creates the upload at the target.
    public var allowsMethodChange: Bool?

    /// Further header fields to drop when a redirect leads to another origin (scheme, host or port). None by default.
    ///
    /// The names are compared without regard to case. Every field whose value ``Redaction/default`` leaves out is
    /// dropped then too: `Authorization`, `Cookie`, `Proxy-Authorization`, `X-API-Key`, `PRIVATE-TOKEN` and others like
    /// them. `Host` and `Origin` are also dropped.
    public var credentialFields: Set<String>

    /// Makes a policy. Each parameter has the default of its property.
    public init(
        maximum: Int = 10, allowsInsecure: Bool = false, allowsMethodChange: Bool? = nil,
        credentialFields: Set<String> = []
    ) {
        self.maximum = maximum
        self.allowsInsecure = allowsInsecure
        self.allowsMethodChange = allowsMethodChange
        self.credentialFields = credentialFields
    }

    /// Does not follow any redirects.
    public static let none = RedirectPolicy(maximum: 0)

    /// The target of a redirecting response. `nil` if this policy does not follow it.
    func target(of head: ResponseHead) -> URL? {
        guard maximum > 0, [301, 302, 303, 307, 308].contains(head.status),
            let location = head.location
        else { return nil }
        return URL(location: location, relativeTo: head.url)
    }

    /// The task that follows a redirect.
    ///
    /// - Parameters:
    ///   - head: The redirecting response.
    ///   - target: Where it leads.
    ///   - task: The task that received this response.
    ///   - visited: The requests of this attempt so far, including the first.
    func next(after head: ResponseHead, to target: URL, task: TransportTask, visited: [Hop]) throws -> TransportTask {
        func refused(_ code: RequestError.Code, _ reason: String) -> RequestError {
            RequestError(code, stage: .transfer, head: head, reason: reason)
        }
        let from = Origin(head.url)
        let to = Origin(target)
        guard to.scheme == "http" || to.scheme == "https" else {
            throw refused(.unsupportedScheme, "a redirect led to another scheme than http and https")
        }
        guard allowsInsecure || from.scheme != "https" || to.scheme == "https" else {
            throw refused(.insecureRedirect, "a redirect led from https to http")
        }
        var next = task
        next.request = request(task.request, at: target)
        if to != from { next.wantsNewConnection = false }
        if keepsMethod(head.status, task.request.httpMethod ?? "GET") {
            guard task.body.isReplayable else {
                throw refused(.bodyNotReplayable, "the body's stream cannot be opened a second time for a redirect")
            }
        } else {
            try checkMethodChange(by: head, of: task.request.httpMethod)
            next.request.httpMethod = task.request.httpMethod == "HEAD" ? "HEAD" : "GET"
            next.dropBody()
        }
        guard visited.count <= maximum else {
            throw visited.contains(Hop(next.request))
                ? refused(.redirectLoop, "more than \(maximum) redirects in a loop")
                : refused(.tooManyRedirects, "more than \(maximum)")
        }
        return next
    }

    /// Fails if a redirect changes the method and must not.
    func checkMethodChange(by head: ResponseHead, of method: String?) throws {
        let method = method ?? "GET"
        guard allowsMethodChange == false, !["GET", "HEAD"].contains(method), !keepsMethod(head.status, method) else {
            return
        }
        throw RequestError(
            .unacceptableStatus, stage: .transfer, head: head,
            reason: "the redirect turns \(method) into GET, so the body would not arrive")
    }

    /// A request at another URL. If the origin changes, fields that belong to the old origin are dropped.
    func request(_ request: URLRequest, at target: URL) -> URLRequest {
        var moved = request
        moved.url = target
        if Origin(request.url) != Origin(target) {
            let known = request.allHTTPHeaderFields?.keys.filter(Redaction.default.hides(field:)) ?? []
            moved.removeFields(credentialFields.union(known).union(["Host", "Origin"]))
        }
        return moved
    }

    private func keepsMethod(_ status: Int, _ method: String) -> Bool {
        switch status {
        case 303: false
        case 301, 302: method != "POST"
        default: true
        }
    }

    /// One request in a chain of redirects, without the fragment, as the server sees it.
    struct Hop: Hashable {
        let method: String
        let url: Substring?

        init(_ request: URLRequest) {
            method = request.httpMethod ?? "GET"
            url = request.url?.absoluteString.prefix { $0 != "#" }
        }
    }
}

extension RequestConfiguration {
    /// The same for a request that has failed if its body did not arrive, unless the caller has set what applies.
    package var requiringBody: RequestConfiguration {
        guard redirects.allowsMethodChange == nil else { return self }
        var configuration = self
        configuration.redirects.allowsMethodChange = false
        return configuration
    }
}

extension ResponseHead {
    /// The value of `Location`, if there is exactly one, or several equal ones.
    fileprivate var location: String? {
        let values = Set(fields.lazy.filter { $0.name.lowercased() == "location" }.map(\.value))
        return values.count == 1 ? values.first?.trimmingCharacters(in: .whitespaces) : nil
    }
}

extension URL {
    /// The target of a `Location` value.
    ///
    /// A target without a fragment takes over that of the request (RFC 9110, section 10.2.2). Within the request's
    /// origin, the target gets the user and password of the request. Elsewhere it gets none.
    init?(location: String, relativeTo base: URL) {
        guard let resolved = URL(reference: location, relativeTo: base)?.absoluteURL, resolved.host != nil,
            var target = URLComponents(url: resolved, resolvingAgainstBaseURL: true)
        else { return nil }
        let source = URLComponents(url: base, resolvingAgainstBaseURL: true)
        let staysAtOrigin = Origin(base) == Origin(resolved)
        target.percentEncodedUser = staysAtOrigin ? source?.percentEncodedUser : nil
        target.percentEncodedPassword = staysAtOrigin ? source?.percentEncodedPassword : nil
        target.percentEncodedFragment = target.percentEncodedFragment ?? source?.percentEncodedFragment
        guard let url = target.url else { return nil }
        self = url
    }
}

extension TransportTask {
    fileprivate mutating func dropBody() {
        body = .none
        request.httpBody = nil
        request.removeFields([
            "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location",
            "Last-Modified", "Transfer-Encoding", "Digest", "Content-Digest", "Repr-Digest", "Expect",
        ])
    }
}

extension URLRequest {
    fileprivate mutating func removeFields(_ names: Set<String>) {
        for name in names { setValue(nil, forHTTPHeaderField: name) }
    }
}
