/// Carries requests over `URLSession`. It works on every platform.
///
/// On Linux it works around the defects of `URLSession`. The session is the transport's own: ``shared``, or
/// ``init(configuration:)``. A private delegate sends each call to its transfer. On Apple's platforms you can also give it
/// a session of yours (`init(session:)`).
///
/// The transport refuses redirects, so that the operation follows them. It delivers a `401` as a normal response. An
/// empty body is empty `Data`. It refuses background sessions: each request fails with
/// ``RequestError/Code/unsupported``.
///
/// A closure of ``TransportTask/custom(_:makeTask:)`` must make a data or upload task of the session that it gets, and
/// must not resume it. The closure is called on a Dispatch queue. `uploadTask(withStreamedRequest:)` is not supported:
/// give the request an `httpBodyStream`.
///
/// The transport reads a body from a stream to its end before it sends the request. Beyond 64 KiB it uses a temporary
/// file. It sends the body with its length. It drops `Content-Length` and `Transfer-Encoding` of a request, since the
/// transport sets the framing (RFC 9112, section 6). Besides http and https it supports `data:`.
///
/// ### What it cannot do
///
/// On every platform, because URLSession does not report it or has no setting for it:
///
/// - A task with a ``TransportTask/trust`` fails with ``RequestError/Code/unsupported``. The session and its delegate
///   decide whom to trust. On Apple's platforms, a `Delegate` can have pins.
/// - There is no separate connect limit. Until the first byte of a response, the idle limit runs from the start.
/// - Field order, repeated fields and the protocol version are lost. Only ``TransferTimings/firstByte``,
///   ``TransferTimings/total`` and ``TransferTimings/bytesSent`` are measured.
/// - A transfer does not pause while its consumer works. Bytes that the consumer does not take in time are kept, up to
///   1 MiB in memory and the rest in a temporary file.
/// - A GET with a body fails with ``RequestError/Code/unsupported``.
///
/// On Linux with Swift 6.3, because Foundation lacks a feature or has a defect:
///
/// - A request with the `cachePolicy` `returnCacheDataDontLoad`, or with `allowsCellularAccess` set to `false`, fails
///   with ``RequestError/Code/unsupported``. So does a request with `httpShouldHandleCookies` set to `false`, if the
///   configuration has a cookie storage.
/// - IPv6 literals in URLs fail with ``RequestError/Code/unsupported``.
/// - There is no pinning, and there are no custom roots and no client certificates. The system's list of roots decides
///   which servers are trusted.
/// - A response fails with ``RequestError/Code/malformedResponse`` if a field has a byte that is not UTF-8 or no space
///   after its colon. It also fails if the status line has no reason phrase.
/// - The whole body of a redirect that is not followed passes through memory.
/// - With a cache in the configuration, a cancel that arrives as its task ends would kill the process. So the session
///   has no cache. Foundation never stores a response in it anyway.
/// - If a kept connection was dead, Foundation sends the request again, without its body if it has one. The transport
///   notices a missing body, and then sends the whole request again itself, once, if the method is idempotent.
///   Otherwise, and for a custom task, it fails with ``RequestError/Code/connectionLost``. Foundation sends a request
///   without a body again, with any method, and does not report it.
/// - A response can arrive faster than Foundation reads it, over the loopback interface or a very fast network.
///   Foundation then reads it to its end before it does anything else (libcurl 7.88). A transfer that is cancelled or
///   cut ends at once for its caller. But its connection lives on until the response ends, and all other transfers
///   wait.
/// - A custom task that uploads a file (`uploadTask(with:fromFile:)`) sometimes kills the process when it is cancelled
///   or refused midway. A file that is the body of a ``TransportTask`` is sent in another way.
/// - About one transfer in ten thousand, on a busy machine, reports nothing until its idle limit ends it.
/// - A field after a chunked body (a trailer) kills the process. Rarely, a server that dies right after it got a
///   request does so too. Code outside Foundation cannot prevent that.
/// - Dispatch may kill the process once in tens of thousands of transfers of which many are cancelled. It happens when
///   several descriptors are given up at a time (`_dispatch_event_loop_drain`; swift-corelibs-libdispatch, issue 949).
/// - A compressed body that breaks off is not noticed. A body in an unknown content coding fails with
///   ``RequestError/Code/malformedResponse``.
/// - libcurl 8.8 to 8.20 drop the question mark of an empty query.
/// - About 150 bytes leak for each request (`CFURLSessionCurlHostIsEqual`).
///
/// `CurlTransport` has none of these limits.
public final class URLSessionTransport: Transport {
    /// The transport with its own session that stores nothing: no cache, no cookies, no credentials.
    public static let shared = URLSessionTransport()

    private let access: Access

    /// The session, or why it cannot be used.
    private enum Access {
        case open(URLSession, Delegate)
        case refused(String)
    }

    /// Makes a transport with its own session.
    ///
    /// - Parameter configuration: The configuration of that session. It is copied, on Linux without its cache. By
    ///   default an ephemeral one without cache, cookies and credentials, and with up to 256 connections to one host.
    public init(configuration: URLSessionConfiguration? = nil) {
        let configuration = configuration?.safeCopy() ?? .ofTransport()
        if configuration.identifier == nil {
            let delegate = Delegate()
            access = .open(
                URLSession(configuration: configuration, delegate: delegate, delegateQueue: .forDelivery), delegate)
        } else {
            access = .refused(Self.backgroundSentence)
        }
    }

    #if canImport(Darwin)
        /// Makes a transport over a session of yours. This is for Apple's platforms only.
        ///
        /// If the session's delegate is not a `Delegate`, each task of the transport gets one. Your delegate is then
        /// still asked for credentials and about the trust of servers, but it gets no responses. A session whose delegate
        /// queue is concurrent is refused: each request fails with ``RequestError/Code/unsupported``. Do not invalidate
        /// the session while requests are made.
        ///
        /// - Parameter session: The session.
        public init(session: URLSession) {
            if session.configuration.identifier != nil {
                access = .refused(Self.backgroundSentence)
            } else if session.delegateQueue.maxConcurrentOperationCount != 1 {
                access = .refused(
                    "the session's delegate queue is not serial, so that bodies could arrive out of order")
            } else {
                access = .open(session, session.delegate as? Delegate ?? Delegate(inPlaceOf: session.delegate))
            }
        }
    #endif

    /// Carries out a task; see ``Transport/perform(_:onHead:)``.
    public func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        try RequestPreflight.check(task, schemes: ["http", "https", "data"])
        guard task.trust == nil else { throw Self.unsupported(Self.trustSentence) }
        let (session, delegate) = try openSession()
        #if canImport(FoundationNetworking)
            try refuseWhatFoundationIgnores(task.request, session)
        #endif
        let start = ContinuousClock.now
        let request = request(of: task)
        if case .urlSessionTask(let makeTask) = task.execution {
            let sessionTask = try await Self.make(session, request, makeTask)
            // A cancel may have come before the task was resumed. Foundation keeps such a task until it is cancelled.
            defer {
                SessionTaskQueue.async { if sessionTask.state == .suspended { SessionTaskQueue.cancel(sessionTask) } }
            }
            let transfer = SessionTransfer(task, bytesToSend: nil, start: start, onHead: onHead)
            do {
                return try await Self.carryOut(transfer, session, delegate) { sessionTask }
            } catch is SessionTransfer.DeadConnection {
                throw Self.deadConnection(transfer)
            }
        }
        let body = try await prepareBody(of: task)
        var wasReplayed = false
        while true {
            let transfer = SessionTransfer(task, bytesToSend: body.length, start: start, onHead: onHead)
            do {
                var response = try await Self.carryOut(transfer, session, delegate) {
                    session.task(with: request, body)
                }
                response.timings?.wasReplayed = wasReplayed
                return response
            } catch is SessionTransfer.DeadConnection {
                guard RequestPreflight.isIdempotent(task.request.httpMethod), task.mayBeSentAgain != false, !wasReplayed
                else {
                    throw Self.deadConnection(transfer)
                }
                wasReplayed = true
            }
        }
    }

    // MARK: Session tasks

    private func openSession() throws -> (URLSession, Delegate) {
        switch access {
        case .refused(let sentence): throw Self.unsupported(sentence)
        case .open(_, let delegate) where delegate.isInvalidated: throw Self.unsupported(Self.invalidatedSentence)
        case .open(let session, let delegate): return (session, delegate)
        }
    }

    /// Carries out a transfer over the session task that a closure makes, on the queue of session tasks.
    private static func carryOut(
        _ transfer: SessionTransfer, _ session: URLSession, _ delegate: Delegate,
        _ makeTask: @escaping @Sendable () -> URLSessionTask
    ) async throws -> TransportResponse {
        try await withTaskCancellationHandler {
            transfer.begin { transfer in
                let task = makeTask()
                delegate.add(transfer, for: task, of: session)
                return task
            }
            return try await transfer.respond()
        } onCancel: {
            transfer.cancel()
        }
    }

    /// Lets the caller make its session task. This blocks on Linux, so it runs on neither the cooperative pool nor our
    /// queue.
    private static func make(
        _ session: URLSession, _ request: URLRequest,
        _ makeTask: @escaping @Sendable (URLSession, URLRequest) throws -> URLSessionTask
    ) async throws -> URLSessionTask {
        let task: URLSessionTask
        do {
            task = try await DispatchQueue.global().run { try makeTask(session, request) }
        } catch {
            throw TransferFailure(error, phase: .connect)
        }
        guard task is URLSessionDataTask, task.state == .suspended else {
            SessionTaskQueue.async { SessionTaskQueue.cancel(task) }
            throw unsupported("a custom session task must be a data or an upload task that was not resumed")
        }
        return task
    }

    // MARK: Requests

    #if canImport(FoundationNetworking)
        /// Refuses a request with a setting that Foundation on Linux would ignore without an error.
        private func refuseWhatFoundationIgnores(_ request: URLRequest, _ session: URLSession) throws {
            do {
                try RequestPreflight.checkRestrictions(of: request)
            } catch {
                throw TransferFailure(error, phase: .connect)
            }
            guard request.httpShouldHandleCookies || session.configuration.httpCookieStorage == nil else {
                throw Self.unsupported(
                    "the request must not use cookies, but Foundation on Linux would use those of this session")
            }
        }
    #endif

    /// The request in the form in which a session task sends it.
    private func request(of task: TransportTask) -> URLRequest {
        var request = task.request
        for name in ["Content-Length", "Transfer-Encoding"] where request.value(forHTTPHeaderField: name) != nil {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        if let url = request.url, let scheme = url.scheme, scheme != scheme.lowercased(),
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        {
            // Foundation on Linux knows schemes only in lower case.
            components.scheme = scheme.lowercased()
            request.url = components.url
        }
        #if canImport(FoundationNetworking)
            if request.cachePolicy != .useProtocolCachePolicy { request.allHTTPHeaderFields = request.fieldsToSend }
        #endif
        // A week, since the transport has its own time limits. On Linux, Foundation counts in whole seconds. It may also
        // end a task at a moment when that kills the process.
        request.timeoutInterval = 7 * 24 * 3600
        guard case .standard = task.execution else { return request.carrying(task.body) }
        if request.httpBody != nil { request.httpBody = nil }
        if request.httpBodyStream != nil { request.httpBodyStream = nil }
        return request
    }

    private func prepareBody(of task: TransportTask) async throws -> PreparedBody {
        do {
            let body = try await PreparedBody(task.body)
            if (task.request.httpMethod ?? "GET") == "GET", let length = body.length, length > 0 {
                throw RequestError(.unsupported, "URLSession does not send a GET with a body")
            }
            return body
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            throw TransferFailure(error, phase: .connect)
        }
    }

    // MARK: Failures

    private static let trustSentence =
        "the session and its delegate decide which servers to trust, not the trust of a task"

    private static let backgroundSentence =
        "a background session outlives the process, and an operation does not; use a session with another configuration"

    private static let invalidatedSentence = "the session has been invalidated"

    private static func unsupported(_ sentence: String) -> TransferFailure {
        TransferFailure(RequestError(.unsupported, sentence), phase: .connect)
    }

    private static func deadConnection(_ transfer: SessionTransfer) -> TransferFailure {
        TransferFailure(
            RequestError(.connectionLost, "a kept connection ended before a response came"),
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

extension URLSessionConfiguration {
    /// The configuration of a transport that gets none from the caller. It stores nothing and sends nothing from a
    /// store.
    ///
    /// A cache, cookies and credentials are the job of the layers above. It allows up to 256 connections to one host.
    fileprivate static func ofTransport() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        // Requests beyond this limit wait inside URLSession. They lose their order, and their time limits run.
        configuration.httpMaximumConnectionsPerHost = 256
        return configuration
    }

    /// The same configuration, made safe for this platform.
    fileprivate func safeCopy() -> URLSessionConfiguration {
        // `copy()` returns the type of `self`.
        let copy = self.copy() as! URLSessionConfiguration
        #if canImport(FoundationNetworking)
            // With a cache, a cancel that arrives as its task ends kills the process. A header field that is no string
            // does too.
            copy.urlCache = nil
            copy.httpAdditionalHeaders = httpAdditionalHeaders?.reduce(into: [:]) { fields, field in
                fields[String(describing: field.key)] = String(describing: field.value)
            }
        #endif
        return copy
    }
}

// The session's configuration may have fields with credentials.
extension URLSessionTransport: OpaqueReflectable {}
