extension RequestError {
    /// Which request an error is about.
    struct Subject: Sendable {
        let id: RequestID?
        let method: String
        let url: URL?
        /// `nil` for the error of an attempt.
        var notRetried: NotRetried?
        /// The other request out of whose operation the error came, if it did.
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

    /// The id of the request, that of its operation (``URLRequestOperation/id``); `nil` in an error that did not come from an
    /// operation.
    public var requestID: RequestID? { subject?.value.id }

    /// The method of the request, as the adapters made it; `nil` in an error that did not come from an operation.
    public var method: String? { subject?.value.method }

    /// Scheme, host, port and path of the request's URL, as the adapters made it and before redirects: without user, password,
    /// query and fragment. `nil` in an error that did not come from an operation.
    public var location: String? { subject.map { Redaction.location(of: $0.value.url) } }

    /// Why no further attempt followed, as a phrase: `POST, no idempotency key`, `4 of 4 attempts`, `not a passing failure`,
    /// `the deadline`. `nil` in the error of a single attempt.
    public var notRetried: String? { subject?.value.notRetried?.description }

    /// The host that the error is about: of the request that failed, and where a redirect led.
    var host: String? {
        subject?.value.origin?.host ?? (head?.url ?? attempts.last?.redirects.last ?? subject?.value.url)?.host
    }

    /// The error as one of a request. An error of another request keeps its method and location.
    func about(_ request: URLRequest, _ id: RequestID?, notRetried: NotRetried? = nil) -> RequestError {
        var error = self
        var subject = Subject(request, id)
        subject.notRetried = notRetried
        subject.origin = origin(besides: id)
        error.subject = Box(subject)
        return error
    }

    /// The request that this error came from, if it is not the one with the id.
    private func origin(besides id: RequestID?) -> OtherRequest? {
        guard let subject = subject?.value else { return nil }
        guard subject.origin == nil, let id, let other = subject.id, other != id else { return subject.origin }
        return OtherRequest(line: "\(subject.method) \(Redaction.location(of: subject.url))", host: host)
    }
}
