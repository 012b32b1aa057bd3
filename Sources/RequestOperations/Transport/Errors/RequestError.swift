/// Why a request failed for good, or why one of its attempts failed.
///
/// Every failure of a ``URLRequestOperation`` is a `RequestError` or a `CancellationError`, which is never wrapped. An
/// error that your own code threw in a stage is in ``underlying``, unchanged.
public struct RequestError: Error, Sendable {
    /// What went wrong.
    public let code: Code

    /// The stage in which it went wrong.
    public let stage: Stage

    /// The error that caused this one, if any. It comes from your code, a decoder or the transport.
    public let underlying: (any Error)?

    /// The head of the response, if one had arrived.
    public internal(set) var head: ResponseHead?

    /// The first bytes of the response's body, for diagnosis. At most 4 KiB.
    public internal(set) var bodyPrefix: Data

    /// The problem, if it was read from a body that is longer than ``bodyPrefix``.
    var readProblem: Box<ProblemDetails>?

    /// Every attempt so far, including the last one that failed. Each record has the times, the failure, the wait
    /// before the attempt, and what ended that wait. If there are more than 100, the first 10 and the last 90 are kept.
    /// Empty in the error of a single attempt.
    public internal(set) var attempts: [Attempt]

    /// One sentence that says more than the code, such as which field or which limit. It has no credentials and nothing
    /// that the server sent.
    public let reason: String?

    /// The request, and why it was not retried.
    var subject: Box<Subject>?

    /// Makes an error, for your own stage, decision or transport.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - stage: The stage in which it went wrong.
    ///   - underlying: The cause. `nil` by default.
    ///   - head: The head of the response. `nil` by default.
    ///   - bodyPrefix: The beginning of the response's body. Only its first 4 KiB are kept. Empty by default.
    ///   - reason: One sentence without credentials. `nil` by default.
    public init(
        _ code: Code, stage: Stage, underlying: (any Error)? = nil, head: ResponseHead? = nil,
        bodyPrefix: Data = Data(), reason: String? = nil
    ) {
        self.code = code
        self.stage = stage
        self.underlying = underlying
        self.head = head
        // It is copied, because a slice would keep the whole body.
        self.bodyPrefix = Data(bodyPrefix.prefix(TransferLimits.keptErrorBody))
        self.reason = reason
        attempts = []
    }

    /// An error of a transport, in the stage ``Stage/transfer``.
    init(_ code: Code, _ reason: String?, underlying: (any Error)? = nil) {
        self.init(code, stage: .transfer, underlying: underlying, reason: reason)
    }

    /// The stages of a request, in order.
    public enum Stage: String, Sendable, CaseIterable {
        /// The operation has not begun: it waits for its dependencies, or its conditions are evaluated.
        case start
        /// Adapters make the request that this attempt sends.
        case process
        /// The transport task is made.
        case makeTask
        /// The attempt waits for its slot.
        case slot
        /// The request is sent and its response read.
        case transfer
        /// The head of the response is judged.
        case validate
        /// The value is made from the response.
        case decode
        /// The retry policy decides.
        case retryDecision
        /// The operation waits for its next attempt.
        case wait
    }
}

extension RequestError: CustomStringConvertible, LoggableError {
    /// One line: the code, the stage, the method, the location of the URL, where a redirect led, the status and the reason. Then
    /// come the request's id, the number of attempts, and why no further one followed. If the error came from another request,
    /// for example from an adapter, the line also has that request's method and location. For other work than a request, and for
    /// an upload by tus, a name replaces the method. The line has no query, no field and no body.
    public var description: String {
        // An attempt of other work has no stages.
        let hasStages = subject?.value.work.isOther != true || stage != .transfer
        var line = hasStages ? "\(code) in \(stage.rawValue)" : "\(code)"
        if let subject = subject?.value {
            line += ", \(subject.line)"
        } else if let head {
            line += ", \(Redaction.location(of: head.url))"
        }
        if let redirect = attempts.last?.redirects.last {
            line += ", redirected to \(Redaction.location(of: redirect))"
        }
        if let origin = subject?.value.origin { line += ", in \(origin.line)" }
        if let head, head.isHTTP { line += ", status \(head.status)" }
        if let reason {
            line += ": \(reason)"
            if let cause = underlying as? RequestError { line += ", after \(cause.code)" }
        } else if let cause {
            line += ": \(cause.redacted)"
        }
        if !remarks.isEmpty { line += " (\(remarks.joined(separator: "; ")))" }
        // It must be one line, even if your reason has several.
        return line.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// The cause. If operations did not run because others failed, only the first in the row has its own cause.
    private var cause: (any Error)? {
        var cause = underlying
        while let error = cause as? RequestError, error.code == .dependencyFailed || error.code == .skipped,
            let next = error.underlying
        { cause = next }
        return cause
    }

    private var remarks: [String] {
        var remarks: [String] = []
        if let requestID { remarks.append("request \(requestID)") }
        if let last = attempts.last, last.number > 1 {
            // Not all attempts count for the maximum that a policy allows.
            let counted = subject?.value.notRetried?.countedAttempts
            let isPart = counted.map { $0 < last.number } ?? false
            remarks.append("\(last.number) attempts" + (isPart ? ", of which \(counted ?? 0) count" : ""))
        }
        // If the reason says why there was no retry, the line already has it.
        if let notRetried, notRetried != reason { remarks.append("not retried: \(notRetried)") }
        return remarks
    }
}

extension RequestError: CustomReflectable {
    /// What `dump` shows: everything but the body and the URLs. The cause is one line.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "stage": stage, "reason": reason as Any, "underlying": underlying?.redacted as Any,
                "requestID": requestID as Any, "method": method as Any, "location": location as Any,
                "notRetried": notRetried as Any, "head": head as Any, "attempts": attempts,
            ])
    }
}

extension RequestError {
    /// The error of a stage, as a ``RequestError``.
    ///
    /// A ``RequestError`` stays as it is, and a transport's failure yields its cause. Any other error is wrapped. It
    /// becomes ``Code/undecodable`` if it says that a value cannot be decoded, and else ``Code/stageFailed``.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - stage: The stage that threw it.
    ///   - isOfDecoder: Whether the decoder threw it in the stage `decode`, rather than an override.
    init(wrapping error: any Error, stage: Stage, isOfDecoder: Bool = true) {
        switch error {
        case let error as RequestError:
            self = error
        case let failure as TransferFailure where stage.isOfTransfer:
            self.init(wrapping: failure.error, stage: stage, isOfDecoder: isOfDecoder)
            head = head ?? failure.head
            if bodyPrefix.isEmpty { bodyPrefix = Data(failure.bodyPrefix.prefix(TransferLimits.keptErrorBody)) }
        default:
            let undecodable = error as? DecodingError
            let isUndecodable = stage == .decode && (isOfDecoder || undecodable != nil)
            self.init(
                isUndecodable ? .undecodable : .stageFailed, stage: stage, underlying: error,
                reason: undecodable?.phrase)
        }
    }
}

extension RequestError.Stage {
    /// Whether an error that the transport throws fails the attempt in this stage.
    var isOfTransfer: Bool { self == .transfer || self == .validate }
}

extension RequestError: LocalizedError {
    /// An English sentence for people who know nothing about HTTP: what happened, and with which host.
    ///
    /// If the cause is your own `LocalizedError`, its `errorDescription` replaces this sentence. That applies to
    /// ``Code/stageFailed``, and to the error that an ``ErrorBodyDecoder`` makes of a rejected response. For a log, use
    /// ``description``.
    public var errorDescription: String? { sentenceOfCause ?? sentence }

    private var sentenceOfCause: String? {
        switch code {
        case .unacceptableStatus, .stageFailed: (underlying as? any LocalizedError)?.errorDescription
        default: nil
        }
    }

    private var sentence: String {
        let server = host.map { "server \($0)" } ?? "server"
        return switch code {
        case .badURL: "This address cannot be requested."
        case .unsupportedScheme: "Addresses of this kind cannot be requested."
        case .invalidField, .unencodableBody, .unencodableParameter: "The request could not be created."
        case .bodyNotReplayable: "The data could not be sent a second time."
        case .unsupported: "The request asks for something that is not possible here."
        case .timedOut: "The request to the \(server) took too long."
        case .cannotResolveHost: "The \(server) could not be found."
        case .cannotConnect: "No connection to the \(server) could be made."
        case .notConnected: "There is no connection to a network."
        case .outOfLocalResources: "This process has no files, threads, memory or ports left for the request."
        case .connectionLost, .truncatedBody: "The connection to the \(server) was lost."
        case .secureConnectionFailed: "No secure connection to the \(server) could be made."
        case .untrustedCertificate, .pinningFailed: "The identity of the \(server) could not be verified."
        case .clientCertificateRejected:
            "The certificate that identifies this client could not be used or was not accepted."
        case .proxyFailed: "No connection could be made through the proxy."
        case .unacceptableStatus: sentence(ofStatus: head?.status, server)
        case .unacceptableContentType, .malformedResponse, .undecodable, .emptyBody:
            "The answer of the \(server) could not be read."
        case .undecodableContent: "The answer of the \(server) could not be decompressed."
        case .bodyTooLarge: "The answer of the \(server) is too large."
        case .fileFailed: "The answer of the \(server) could not be saved."
        case .tooManyRedirects, .redirectLoop: "The \(server) redirected the request too often."
        case .insecureRedirect: "The \(server) redirected the request to an address that is not secure."
        case .dependencyFailed, .skipped: "An earlier step, which this one needs, did not succeed."
        case .conditionFailed: "A required condition is not met."
        case .slotRejected: "Too many requests are waiting already."
        case .retryAfterTooLong, .retryBudgetExhausted, .circuitOpen:
            "The \(server) is not available at the moment."
        default: subject?.value.work.name.map { "The work “\($0)” failed." } ?? "The request to the \(server) failed."
        }
    }

    private func sentence(ofStatus status: Int?, _ server: String) -> String {
        guard let status else { return "The \(server) did not accept the request." }
        return switch status {
        case 401, 407: "The \(server) asks for a sign-in (status \(status))."
        case 403: "The \(server) does not allow the request (status 403)."
        case 404, 410: "The \(server) has nothing at this address (status \(status))."
        case 429: "The \(server) received too many requests (status 429)."
        case 500, 502, 503, 504: "The \(server) is not able to answer at the moment (status \(status))."
        default: "The \(server) answered with status \(status)."
        }
    }
}

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

    /// The method of the request, as the adapters made it. `nil` for an error from outside an operation, or for other work
    /// than a request. For an upload by tus, it is the method of the request that failed; `nil` if none failed.
    public var method: String? { subject.flatMap { $0.value.work == .request ? $0.value.method : nil } }

    /// Scheme, host, port and path of the request's URL, as the adapters made it and before redirects. It has no user,
    /// password, query or fragment. `nil` for an error from outside an operation, or for work without a resource.
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

extension DecodingError {
    /// What was wrong with a body, and at which coding path, such as `no value for 'name' at users[3]`. It contains no
    /// value of the body, which the decoder's own text may quote.
    var phrase: String {
        switch self {
        case .keyNotFound(let key, let context): "no value for '\(key.stringValue)'" + Self.place(of: context)
        case .valueNotFound(let type, let context): "no value of type \(type)" + Self.place(of: context)
        case .typeMismatch(let type, let context): "another type than \(type)" + Self.place(of: context)
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the body is not in its format"
        case .dataCorrupted(let context): "a value that is not valid" + Self.place(of: context)
        @unknown default: "the body is not in its format"
        }
    }

    /// The most characters of a path that are shown. They are its last ones, because these name the place.
    private static let longestPath = 200

    private static func place(of context: Context) -> String {
        var path = ""
        for key in context.codingPath {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        guard !path.isEmpty else { return " at the top" }
        return " at " + (path.count > longestPath ? "…" + path.suffix(longestPath) : path)
    }
}
