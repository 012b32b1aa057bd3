/// Carries requests over `URLSession`: on every platform, with each of its sessions, and around the defects that it has on
/// Linux.
///
/// There are three ways to a session, and the same checks in each (``Transport/perform(_:onHead:)``):
///
/// 1. **Its own**: ``shared``, or ``init(configuration:)``. One private delegate routes what it hears to the transfers.
/// 2. **Yours, with our delegate**: make the session with a ``Delegate`` and hand it to ``init(session:)``.
/// 3. **Yours, with a delegate of yours or none**, by ``init(session:)``: the transport uses tasks with completion handlers
///    and leaves your delegate alone, but for credentials and the trust of servers, for which it is asked as ever.
///    A response then comes when it has ended: `onHead` hears of it late, size limits are checked late, the whole body
///    passes through memory, there is no progress, and the idle limit is URLSession's own, in whole seconds.
///
/// In all three redirects are refused, so that the operation follows them; a `401` is delivered as the response that it is;
/// an empty body is empty `Data`. Background sessions are refused: each request fails as
/// ``RequestError/Code/unsupported``. So does a request of a session with a concurrent delegate queue.
///
/// Tasks made by ``TransportTask/custom(_:makeTask:)`` must be data or upload tasks of the session that the closure is
/// given, not resumed. In the third situation on Linux that is a session of ours with your configuration. The closure is
/// called on a queue of Dispatch. `uploadTask(withStreamedRequest:)` is not supported: give the request an `httpBodyStream`.
///
/// A body from a stream is read to its end before the request is sent, beyond 64 KiB into a temporary file, and is sent
/// with its length. `Content-Length` and `Transfer-Encoding` of a request are dropped: the framing is the transport's
/// (RFC 9112, section 6). Besides http and https it speaks `data:`.
///
/// ### What it cannot do
///
/// Everywhere, since URLSession does not tell or cannot be told:
///
/// - A task with a ``TransportTask/trust`` fails as ``RequestError/Code/unsupported``: whom it trusts is up to the session
///   and its delegate.
/// - The connect limit is not kept apart: until the first byte of a response, the idle limit runs from the start.
/// - Field order, repeated fields and the protocol version are lost. Only ``TransferTimings/firstByte``,
///   ``TransferTimings/total`` and ``TransferTimings/bytesSent`` are measured.
/// - A transfer is not paused while its consumer works. What it does not take in time is kept up to 1 MiB in memory and
///   beyond it in a temporary file.
/// - A GET with a body fails as ``RequestError/Code/unsupported``.
///
/// On Linux with Swift 6.3, since Foundation has no means or a defect there:
///
/// - A request with `cachePolicy` `returnCacheDataDontLoad` or with `allowsCellularAccess` set to `false` fails as
///   ``RequestError/Code/unsupported``. So does one with `httpShouldHandleCookies` set to `false` over a session of yours that
///   has a cookie storage.
/// - IPv6 literals in URLs fail as ``RequestError/Code/unsupported``.
/// - No pinning, no own roots, no client certificates: server trust is the system's, by its list of roots.
/// - A response fails as ``RequestError/Code/malformedResponse`` if a field has a byte that is not UTF-8 or no space after
///   its colon, or if the status line has no reason phrase.
/// - The body of a redirect that is not followed has passed through memory whole, and in the third situation it is lost, as
///   is that of a `401` with a `Basic` or `Digest` challenge.
/// - Configurations with a cache: a cancel that meets the end of its task would kill the process. The configuration of your
///   session is then copied into a session of ours without the cache. Foundation never stores a response in it anyway.
/// - A kept connection that was dead makes Foundation send a request again, without its body if it has one. The transport
///   notices the latter, and sends the whole again itself, once, if its method is idempotent; otherwise, and for a custom
///   task, it fails as ``RequestError/Code/connectionLost``. A request without a body is sent again whatever its method,
///   and nobody hears of it.
/// - A response that arrives faster than Foundation reads it, which is to say over the loopback interface or the fastest
///   of networks, is read to its end before anything else has a turn (libcurl 7.88): a transfer that is cancelled or cut
///   ends at once for its caller, but its connection lives on till then, and all others wait.
/// - A custom task that uploads a file (`uploadTask(with:fromFile:)`) kills the process, now and then, when it is cancelled or
///   refused midway. A file that is the body of a ``TransportTask`` is sent in another way.
/// - Of one transfer in some ten thousand, on a busy machine, nothing is heard until its idle limit ends it.
/// - A field after a chunked body (a trailer) kills the process. So does, rarely, a server that dies right after it was
///   sent a request. There is nothing that could be done about it from outside.
/// - Dispatch may kill the process among ten thousands of transfers of which many are cancelled, when the descriptors of
///   several are given up at a time (`_dispatch_event_loop_drain`; swift-corelibs-libdispatch, issue 949).
/// - A body whose compression breaks off is not noticed; one in an unknown content coding fails as
///   ``RequestError/Code/malformedResponse``.
/// - libcurl 8.8 to 8.20 leave out the mark of an empty query.
/// - About 150 bytes leak for each request (`CFURLSessionCurlHostIsEqual`).
///
/// `CurlTransport` has none of these limits.
public final class URLSessionTransport: BuiltInTransport {
    /// The transport with a session of its own that keeps nothing: no cache, no cookies, no credentials.
    public static let shared = URLSessionTransport()

    private let route: SessionRoute

    /// Makes a transport with a session of its own.
    ///
    /// - Parameter configuration: The configuration of that session, which is copied; on Linux without its cache. By default
    ///   an ephemeral one without cache, cookies and credentials and with up to 256 connections to one host.
    public init(configuration: URLSessionConfiguration? = nil) {
        route = SessionRoute(configuration ?? .ofTransport())
    }

    /// Makes a transport over a session of yours.
    ///
    /// The session must not be invalidated while requests are made: Foundation traps when a task is made by a session that
    /// was. (With a ``Delegate`` as its delegate, requests fail as ``RequestError/Code/unsupported`` from the moment when it
    /// has heard of that.)
    ///
    /// - Parameter session: The session; what is done with it depends on its delegate, as the description of this class
    ///   says.
    public init(session: URLSession) {
        route = SessionRoute(session)
    }

    /// Carries out a task; see ``Transport/perform(_:onHead:)``.
    public func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        try RequestPreflight.check(task, schemes: ["http", "https", "data"])
        guard task.trust == nil else { throw Self.unsupported(Self.trustSentence) }
        #if canImport(FoundationNetworking)
            try refuseWhatFoundationIgnores(task.request)
        #endif
        let start = ContinuousClock.now
        if case .urlSessionTask(let makeTask) = task.execution {
            return try await perform(task, start, onHead, makeTask)
        }
        let body = try await prepareBody(of: task)
        var wasReplayed = false
        while true {
            let transfer = Transfer(task, bytesToSend: body.length, start: start)
            let make = try maker(of: task, body)
            let exchange = Exchange(task: task, transfer: transfer, onHead: onHead)
            do {
                var response = try await withTaskCancellationHandler {
                    transfer.begin(make)
                    return try await exchange.run()
                } onCancel: {
                    transfer.cancel()
                }
                response.timings?.wasReplayed = wasReplayed
                return response
            } catch is Exchange.DeadConnection {
                guard RetryPolicy.isIdempotent(task.request.httpMethod), task.mayBeSentAgain != false, !wasReplayed
                else {
                    throw Self.deadConnection(transfer)
                }
                wasReplayed = true
            }
        }
    }

    /// Carries out a task whose session task the caller makes.
    private func perform(
        _ task: TransportTask, _ start: ContinuousClock.Instant,
        _ onHead: @escaping @Sendable (ResponseHead) throws -> Void,
        _ makeTask: @escaping @Sendable (URLSession, URLRequest) throws -> URLSessionTask
    ) async throws -> TransportResponse {
        let (session, delegate) = try customSession()
        let sessionTask = try await Self.make(session, request(of: task), makeTask)
        let transfer = Transfer(task, bytesToSend: nil, start: start)
        defer {
            // A cancel may have come before the task was resumed; Foundation keeps such a task until it is cancelled.
            SessionTaskLine.async { if sessionTask.state == .suspended { SessionTaskLine.cancel(sessionTask) } }
        }
        do {
            return try await withTaskCancellationHandler {
                transfer.begin { transfer in
                    delegate.add(transfer, for: sessionTask)
                    return sessionTask
                }
                return try await Exchange(task: task, transfer: transfer, onHead: onHead).run()
            } onCancel: {
                transfer.cancel()
            }
        } catch is Exchange.DeadConnection {
            throw Self.deadConnection(transfer)
        }
    }

    // MARK: Session tasks

    /// Makes the session task of a transfer, on the line of session tasks.
    private func maker(
        of task: TransportTask, _ body: PreparedBody
    ) throws -> @Sendable (Transfer) -> URLSessionTask {
        let request = request(of: task)
        switch route {
        case .refused(let sentence):
            throw Self.unsupported(sentence)
        case .routed(let session, let delegate):
            guard !delegate.isInvalidated else { throw Self.unsupported(Self.invalidatedSentence) }
            return { transfer in
                let sessionTask: URLSessionTask =
                    switch body {
                    case .none: session.dataTask(with: request)
                    case .data(let data) where data.isEmpty: session.dataTask(with: request)
                    // An upload task, since Foundation invents a media type for the body of a data task.
                    case .data(let data): session.uploadTask(with: request, from: data)
                    case .file(let url, let length): session.uploadTask(with: request, from: url, length: length)
                    case .spooled(let file, let length):
                        session.uploadTask(with: request, from: file.url, length: length)
                    }
                delegate.add(transfer, for: sessionTask)
                return sessionTask
            }
        case .handlers(let session, let owner, _):
            return { HandlerTask.make(request, body, on: session, of: owner, for: $0) }
        }
    }

    private func customSession() throws -> (URLSession, Delegate) {
        switch route {
        case .refused(let sentence):
            throw Self.unsupported(sentence)
        case .routed(let session, let delegate):
            guard !delegate.isInvalidated else { throw Self.unsupported(Self.invalidatedSentence) }
            return (session, delegate)
        case .handlers(_, _, let custom):
            return custom.session
        }
    }

    /// Has the caller make its session task: off the cooperative pool, since that blocks on Linux, and off the line.
    private static func make(
        _ session: URLSession, _ request: URLRequest,
        _ makeTask: @escaping @Sendable (URLSession, URLRequest) throws -> URLSessionTask
    ) async throws -> URLSessionTask {
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { try makeTask(session, request) })
            }
        }
        let task: URLSessionTask
        do { task = try result.get() } catch { throw TransferFailure(error, phase: .connect) }
        guard task is URLSessionDataTask, task.state == .suspended else {
            SessionTaskLine.async { SessionTaskLine.cancel(task) }
            throw unsupported("a custom session task must be a data or an upload task that was not resumed")
        }
        return task
    }

    // MARK: Requests

    #if canImport(FoundationNetworking)
        /// Refuses what Foundation on Linux would not keep to, and would not tell.
        private func refuseWhatFoundationIgnores(_ request: URLRequest) throws {
            do {
                try RequestPreflight.checkRestrictions(of: request)
            } catch {
                throw TransferFailure(error, phase: .connect)
            }
            guard request.httpShouldHandleCookies || !route.keepsCookies else {
                throw Self.unsupported(
                    "the request is to handle no cookies, and Foundation on Linux would with this session")
            }
        }
    #endif

    /// The request as a session task is to send it.
    private func request(of task: TransportTask) -> URLRequest {
        var request = task.request
        for name in ["Content-Length", "Transfer-Encoding"] where request.value(forHTTPHeaderField: name) != nil {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        if let url = request.url, let scheme = url.scheme, scheme != scheme.lowercased(),
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        {
            // Foundation on Linux knows schemes in lower case only.
            components.scheme = scheme.lowercased()
            request.url = components.url
        }
        #if canImport(FoundationNetworking)
            if request.cachePolicy != .useProtocolCachePolicy { request.allHTTPHeaderFields = request.fieldsToSend }
        #endif
        request.timeoutInterval = timeoutInterval(of: task)
        guard case .standard = task.execution else { return request.carrying(task.body) }
        if request.httpBody != nil { request.httpBody = nil }
        if request.httpBodyStream != nil { request.httpBodyStream = nil }
        return request
    }

    /// Time limits are the transport's own, so that of Foundation is put far away, at a week: on Linux it counts in whole
    /// seconds, a fraction of one is none, and it may end a task in a moment in which that kills the process. Only where a
    /// response comes whole nobody but Foundation sees its bytes move.
    private func timeoutInterval(of task: TransportTask) -> TimeInterval {
        let week: TimeInterval = 7 * 24 * 3600
        guard case .handlers = route, case .standard = task.execution, let idle = task.effectiveLimits.idle else {
            return week
        }
        let (seconds, attoseconds) = idle.components
        return min(max(TimeInterval(seconds) + (attoseconds > 0 ? 1 : 0), 1), week)
    }

    private func prepareBody(of task: TransportTask) async throws -> PreparedBody {
        do {
            let body = try await PreparedBody(task.body)
            if (task.request.httpMethod ?? "GET") == "GET", let length = body.length, length > 0 {
                throw RequestError(
                    .unsupported, stage: .transfer, reason: "URLSession does not send a GET with a body")
            }
            return body
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            throw TransferFailure(error, phase: .connect)
        }
    }

    // MARK: Failures

    private static let trustSentence = "a URLSession's trust is that of its session and delegate, not of a task"

    private static let invalidatedSentence = "the session has been invalidated"

    private static func unsupported(_ sentence: String) -> TransferFailure {
        TransferFailure(RequestError(.unsupported, stage: .transfer, reason: sentence), phase: .connect)
    }

    private static func deadConnection(_ transfer: Transfer) -> TransferFailure {
        TransferFailure(
            RequestError(
                .connectionLost, stage: .transfer, reason: "a kept connection ended before a response came"),
            phase: .head, connectionWasReused: true, timings: transfer.timings)
    }
}

extension URLRequest {
    /// The request with the body of its task, for a session task that the caller makes.
    fileprivate func carrying(_ body: RequestBody) -> URLRequest {
        var request = self
        switch body {
        case .none:
            request.httpBody = nil
            request.httpBodyStream = nil
        case .data(let data):
            request.httpBody = data
        case .file(let url):
            request.httpBodyStream = InputStream(url: url)
        case .stream:
            break  // Its own: there is no other way to a stream in a task of this kind.
        }
        return request
    }
}

extension URLSessionTransport: CustomReflectable {
    /// No children: the session's configuration may have fields with credentials.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
