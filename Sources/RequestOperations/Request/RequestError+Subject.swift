extension RequestError {
    /// The request that an error is about.
    struct Subject: Sendable {
        let id: RequestID?
        let method: String
        let url: URL?
        /// `nil` for the error of an attempt.
        var notRetried: NotRetried?
        /// The other request whose operation caused the error, if any.
        var origin: OtherRequest?

        init(_ request: URLRequest, _ id: RequestID?) {
            self.id = id
            method = request.httpMethod ?? "GET"
            url = request.url
        }
    }

    /// Another request, such as one that an adapter sent.
    struct OtherRequest: Sendable {
        /// Its method and its location.
        let line: String
        let host: String?
    }

    /// The id of the request, equal to that of its operation (``RetryingOperation/id``). `nil` if the error does not
    /// come from an operation.
    public var requestID: RequestID? { subject?.value.id }

    /// The method of the request, as the adapters made it. `nil` if the error does not come from an operation.
    public var method: String? { subject?.value.method }

    /// Scheme, host, port and path of the request's URL, as the adapters made it and before redirects. It has no user,
    /// password, query or fragment. `nil` if the error does not come from an operation.
    public var location: String? { subject.map { Redaction.location(of: $0.value.url) } }

    /// Why no further attempt followed, as a phrase: `POST, no idempotency key`, `4 of 4 attempts`, `not a passing
    /// failure`, `the deadline`. `nil` in the error of a single attempt.
    public var notRetried: String? { subject?.value.notRetried?.description }

    /// The host that the error is about. After a redirect, it is the host that the redirect led to.
    var host: String? {
        subject?.value.origin?.host ?? (head?.url ?? attempts.last?.redirects.last ?? subject?.value.url)?.host
    }

    /// The error, assigned to a request. If it came from another request, it keeps that one's method and location.
    func about(_ request: URLRequest, _ id: RequestID?, notRetried: NotRetried? = nil) -> RequestError {
        var error = self
        var subject = Subject(request, id)
        subject.notRetried = notRetried
        subject.origin = origin(besides: id)
        error.subject = Box(subject)
        return error
    }

    /// The request that this error came from, if it has another id.
    private func origin(besides id: RequestID?) -> OtherRequest? {
        guard let subject = subject?.value else { return nil }
        guard subject.origin == nil, let id, let other = subject.id, other != id else { return subject.origin }
        return OtherRequest(line: "\(subject.method) \(Redaction.location(of: subject.url))", host: host)
    }
}
