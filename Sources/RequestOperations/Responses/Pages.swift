/// The pages of a resource, one after another. Each response names the next page by a link with the relation `next`
/// (RFC 8288).
///
/// ```swift
/// for try await issues in queue.pages(of: URLRequest(url: url), decoder: .json([Issue].self)) {
///     print(issues.count)
/// }
/// ```
///
/// `pages(of:)` of a queue or of a ``RequestClient`` makes this sequence. A page is requested when the iteration asks for
/// it, as a separate operation with its own retries. The next page is requested with the method and the fields of the first. Each
/// iteration begins with the first page.
///
/// A next page at another origin would receive the credentials of this one. So it ends the sequence with
/// ``RequestError/Code/insecureRedirect``. A page that was requested before ends the sequence with
/// ``RequestError/Code/redirectLoop``.
///
/// If redirects led the page itself to another origin, the next page may be at that origin too. It is requested without
/// the fields that a redirect drops (``RedirectPolicy/credentialFields``). If the host differs too, it is requested
/// only if the configuration has no adapters and the client no hooks, because they could add credentials.
public typealias Pages<Value: Sendable> = ElementSequence<Value>

extension ElementSequence {
    /// The pages that begin with a request.
    init(
        on queue: OperationQueue, first: URLRequest, configuration: RequestConfiguration, hasHooks: Bool = false,
        makeOperation: @escaping @Sendable (URLRequest) -> URLRequestOperation<Element>
    ) {
        let start = PageReader(
            queue: queue, redirects: configuration.redirects,
            isAdapted: hasHooks || !configuration.adapters.isEmpty, makeOperation: makeOperation, next: .request(first))
        self.init {
            "pages of \(Redaction.line(of: first))"
        } begin: {
            var reader = start
            return ElementIterator { try await reader.next() }
        }
    }
}

/// Requests one page after another.
private struct PageReader<Value: Sendable>: Sendable {
    /// What the next call does.
    enum Next {
        case request(URLRequest)
        case fail(RequestError)
        case end
    }

    let queue: OperationQueue
    let redirects: RedirectPolicy
    /// Whether something may add credentials to the request of a page.
    let isAdapted: Bool
    let makeOperation: @Sendable (URLRequest) -> URLRequestOperation<Value>
    var next: Next
    var visited: Set<URL> = []

    mutating func next() async throws -> Value? {
        switch next {
        case .end: return nil
        case .fail(let error):
            next = .end
            throw error
        case .request(let request): return try await page(of: request)
        }
    }

    private mutating func page(of request: URLRequest) async throws -> Value {
        next = .end
        if let url = request.url { visited.insert(url) }
        let operation = makeOperation(request)
        queue.addOperation(operation)
        let value = try await operation.value
        if let head = operation.response?.head, let link = head.link("next") {
            next = following(link, after: request, head)
        }
        return value
    }

    private func following(_ link: Link, after request: URLRequest, _ head: ResponseHead) -> Next {
        guard mayFollow(link, after: request, head) else {
            return .fail(
                RequestError(
                    .insecureRedirect, stage: .process, head: head, reason: "the next page is at another origin"))
        }
        guard !visited.contains(link.target) else {
            return .fail(
                RequestError(
                    .redirectLoop, stage: .process, head: head, reason: "the next page was requested before"))
        }
        return .request(redirects.request(request, at: link.target))
    }

    private func mayFollow(_ link: Link, after request: URLRequest, _ head: ResponseHead) -> Bool {
        let (target, requested) = (Origin(link.target), Origin(request.url))
        guard target != requested else { return true }
        return target == Origin(head.url) && (target.host == requested.host || !isAdapted)
    }
}

extension OperationQueue {
    /// The pages of a resource.
    ///
    /// - Parameters:
    ///   - request: The request of the first page.
    ///   - decoder: Makes the value of a page from its response.
    ///   - configuration: How the requests are made. ``RequestConfiguration/default`` if not given.
    public func pages<Value: Sendable>(
        of request: URLRequest, decoder: ResponseDecoder<Value>, configuration: RequestConfiguration = .default
    ) -> Pages<Value> {
        Pages(on: self, first: request, configuration: configuration) { request in
            URLRequestOperation(request, decoder: decoder, configuration: configuration)
        }
    }
}
