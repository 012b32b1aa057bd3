extension RequestError {
    /// The request that an error is about.
    struct Subject: Sendable {
        let id: RequestID?
        private(set) var work: AttemptedWork
        private(set) var method: String
        private(set) var url: URL?
        /// Whether this is one of several requests of an attempt. The attempt itself has another method and URL.
        private(set) var isPart = false
        /// `nil` for the error of an attempt.
        var notRetried: NotRetried?
        /// The other request whose operation caused the error, if any.
        var origin: OtherRequest?

        init(_ request: URLRequest, _ id: RequestID?, _ work: AttemptedWork = .request) {
            self.id = id
            self.work = work
            method = request.httpMethod ?? "GET"
            url = request.url
        }

        /// One of several requests that an attempt sends.
        init(part request: URLRequest) {
            self.init(request, nil)
            isPart = true
        }

        /// Keeps what an error says about a part of the same attempt.
        mutating func keepPart(of former: Subject?) {
            guard let former, former.isPart, former.id == nil || former.id == id else { return }
            (work, method, url, isPart) = (.request, former.method, former.url, true)
        }

        /// The method and the location of a request, or the name of the work and the location of its resource.
        var line: String {
            let location = url.map { Redaction.location(of: $0) }
            guard let work = work.name else { return "\(method) \(location ?? "no URL")" }
            return location.map { "\(work), \($0)" } ?? work
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

    /// The method of the request, as the adapters made it. `nil` if the error does not come from an operation, or from one
    /// for other work than requests. Of an upload by tus, it is that of the request that failed, and `nil` if none did.
    public var method: String? { subject.flatMap { $0.value.work == .request ? $0.value.method : nil } }

    /// Scheme, host, port and path of the request's URL, as the adapters made it and before redirects. It has no user,
    /// password, query or fragment. `nil` if the error does not come from an operation, or from one for work without a
    /// resource.
    public var location: String? {
        guard let subject = subject?.value, !subject.work.isOther || subject.url != nil else { return nil }
        return Redaction.location(of: subject.url)
    }

    /// Why no further attempt followed, as a phrase: `POST, no idempotency key`, `4 of 4 attempts`, `not a passing
    /// failure`, `the deadline`. `nil` in the error of a single attempt.
    public var notRetried: String? { subject?.value.notRetried?.description }

    /// The host that the error is about. After a redirect, it is the host that the redirect led to.
    var host: String? {
        subject?.value.origin?.host ?? (head?.url ?? attempts.last?.redirects.last ?? subject?.value.url)?.host
    }

    /// The error, assigned to a request. If it came from another request, it keeps that one's method and location.
    func about(
        _ request: URLRequest, _ id: RequestID?, as work: AttemptedWork = .request, notRetried: NotRetried? = nil
    ) -> RequestError {
        var error = self
        var subject = Subject(request, id, work)
        subject.keepPart(of: self.subject?.value)
        subject.notRetried = notRetried
        subject.origin = origin(besides: id)
        error.subject = Box(subject)
        return error
    }

    /// The request that this error came from, if it has another id.
    private func origin(besides id: RequestID?) -> OtherRequest? {
        guard let subject = subject?.value else { return nil }
        guard subject.origin == nil, let id, let other = subject.id, other != id else { return subject.origin }
        return OtherRequest(line: subject.line, host: host)
    }

    /// The error, as one of a request that is a part of its attempt.
    func ofPart(_ request: URLRequest) -> RequestError {
        var error = self
        error.subject = Box(Subject(part: request))
        return error
    }
}
