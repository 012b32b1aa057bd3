extension RequestError {
    /// Which request an error is about.
    struct Subject: Sendable {
        let id: RequestID?
        let method: String
        let url: URL?
        /// `nil` for the error of an attempt.
        var notRetried: NotRetried?

        init(_ request: URLRequest, _ id: RequestID?) {
            self.id = id
            method = request.httpMethod ?? "GET"
            url = request.url
        }
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

    /// The host that the error is about.
    var host: String? { (head?.url ?? subject?.value.url)?.host }

    /// The error as one of a request.
    func about(_ request: URLRequest, _ id: RequestID?, notRetried: NotRetried? = nil) -> RequestError {
        var error = self
        var subject = Subject(request, id)
        subject.notRetried = notRetried
        error.subject = Box(subject)
        return error
    }
}
