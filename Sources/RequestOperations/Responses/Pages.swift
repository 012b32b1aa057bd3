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
public struct Pages<Value: Sendable>: AsyncSequence, Sendable {
    /// The value of a page.
    public typealias Element = Value

    private let queue: OperationQueue
    private let first: URLRequest
    private let redirects: RedirectPolicy
    /// Whether something may add credentials to the request of a page.
    private let isAdapted: Bool
    private let makeOperation: @Sendable (URLRequest) -> URLRequestOperation<Value>

    init(
        on queue: OperationQueue, first: URLRequest, configuration: RequestConfiguration, hasHooks: Bool = false,
        makeOperation: @escaping @Sendable (URLRequest) -> URLRequestOperation<Value>
    ) {
        self.queue = queue
        self.first = first
        redirects = configuration.redirects
        isAdapted = hasHooks || !configuration.adapters.isEmpty
        self.makeOperation = makeOperation
    }

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: self, next: .request(first))
    }

    /// Requests one page after another.
    public struct Iterator: AsyncIteratorProtocol {
        /// What the next call does.
        fileprivate enum Next {
            case request(URLRequest)
            case fail(RequestError)
            case end
        }

        fileprivate let pages: Pages
        fileprivate var next: Next
        private var visited: Set<URL> = []

        fileprivate init(pages: Pages, next: Next) {
            self.pages = pages
            self.next = next
        }

        /// Requests the next page; `nil` if the last response named none. Cancelling the Task cancels the request.
        ///
        /// - Throws: The error that the operation of the page fails with. After that, the sequence is at its end.
        public mutating func next() async throws -> Value? {
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
            let operation = pages.makeOperation(request)
            pages.queue.addOperation(operation)
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
            return .request(pages.redirects.request(request, at: link.target))
        }

        private func mayFollow(_ link: Link, after request: URLRequest, _ head: ResponseHead) -> Bool {
            let (target, requested) = (Origin(link.target), Origin(request.url))
            guard target != requested else { return true }
            return target == Origin(head.url) && (target.host == requested.host || !pages.isAdapted)
        }
    }
}

extension Pages: CustomStringConvertible, CustomReflectable {
    /// The method and the location of the first page.
    public var description: String { "pages of \(Redaction.line(of: first))" }

    /// No children, so that `dump` does not show the request.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

extension Pages.Iterator: CustomStringConvertible, CustomReflectable {
    /// The same as the description of the pages.
    public var description: String { pages.description }

    /// No children, so that `dump` does not show the next request.
    public var customMirror: Mirror { Mirror(opaque: self) }
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
