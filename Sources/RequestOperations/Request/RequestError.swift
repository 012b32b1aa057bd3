/// Why a request failed for good, or why one attempt of it did.
///
/// Every failure of a ``URLRequestOperation`` is one of these, or a `CancellationError`, which is never wrapped. An error
/// that your own code threw out of a stage is in ``underlying``, untouched.
public struct RequestError: Error, Sendable {
    /// What went wrong.
    public let code: Code

    /// The stage in which it went wrong.
    public let stage: Stage

    /// The error that caused this one, where there is one: of your code, of a decoder, of the transport.
    public let underlying: (any Error)?

    /// The head of the response, if one had arrived.
    public internal(set) var head: ResponseHead?

    /// The first bytes of the response's body for diagnosis, at most 4 KiB.
    public internal(set) var bodyPrefix: Data

    /// The problem that was read from a body of which ``bodyPrefix`` is a part only.
    var readProblem: Box<ProblemDetails>?

    /// Every attempt that was begun, the failed last one included: when, why it failed, how long the operation waited
    /// before it, what woke it. Empty on the error of a single attempt; of more than 100
    /// the first 10 and the last 90.
    public internal(set) var attempts: [Attempt]

    /// One sentence that says more than the code: which field, which limit. Without credentials, and without what the
    /// server sent.
    public let reason: String?

    /// The request, and why it was not retried.
    var subject: Box<Subject>?

    /// Makes an error, for a stage, a decision or a transport of your own.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - stage: Where.
    ///   - underlying: The cause. `nil` by default.
    ///   - head: The head of the response. `nil` by default.
    ///   - bodyPrefix: The beginning of the response's body; only its first 4 KiB are kept. Empty by default.
    ///   - reason: One sentence without credentials. `nil` by default.
    public init(
        _ code: Code, stage: Stage, underlying: (any Error)? = nil, head: ResponseHead? = nil,
        bodyPrefix: Data = Data(), reason: String? = nil
    ) {
        self.code = code
        self.stage = stage
        self.underlying = underlying
        self.head = head
        // Copied: a part of a body would keep the whole.
        self.bodyPrefix = Data(bodyPrefix.prefix(TransferLimits.keptErrorBody))
        self.reason = reason
        attempts = []
    }

    /// The stages of a request, in their order.
    public enum Stage: String, Sendable, CaseIterable {
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

extension RequestError: CustomStringConvertible {
    /// One line: the code, the stage, the method, the location of the URL, where a redirect led, the status and the reason.
    /// Then follow the request's id, the number of attempts, and why there was no further one. An error that came from
    /// another request, as out of an adapter, has the method and location of that one, too. The line has no query, no field
    /// and no body.
    public var description: String {
        var line = "\(code) in \(stage.rawValue)"
        if let method, let location {
            line += ", \(method) \(location)"
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
        } else if let underlying {
            line += ": \(underlying.redacted)"
        }
        if !remarks.isEmpty { line += " (\(remarks.joined(separator: "; ")))" }
        // One line even if a reason of yours is several.
        return line.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private var remarks: [String] {
        var remarks: [String] = []
        if let requestID { remarks.append("request \(requestID)") }
        if let last = attempts.last, last.number > 1 { remarks.append("\(last.number) attempts") }
        // A reason that says why there was no retry stands in the line already.
        if let notRetried, notRetried != reason { remarks.append("not retried: \(notRetried)") }
        return remarks
    }
}

extension RequestError: CustomReflectable {
    /// What `dump` shows: all but the body and the URLs, with the cause as one line.
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
    /// The error of a stage as one of ours. A ``RequestError`` stays itself, and a transport's failure gives up its cause.
    /// Any other error is wrapped: as ``Code/undecodable`` if it says that a value cannot be decoded, else as
    /// ``Code/stageFailed``.
    ///
    /// - Parameter isOfDecoder: Whether it was the decoder that threw in the stage `decode`, and not an override.
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
    /// Whether what the transport throws fails the attempt in this stage.
    var isOfTransfer: Bool { self == .transfer || self == .validate }
}
