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

    /// Every attempt so far, including the last one that failed. It says when each ran, why it failed, how long the
    /// operation waited before it, and what ended that wait. Of more than 100, the first 10 and the last 90 are kept.
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

extension RequestError: CustomStringConvertible {
    /// One line: the code, the stage, the method, the location of the URL, where a redirect led, the status and the
    /// reason. Then come the request's id, the number of attempts, and why no further one followed. If the error came
    /// from another request, for example from an adapter, the line has that one's method and location, too. Other work
    /// than a request, and an upload by tus, has its name in the place of the method. The line has no query, no field and no body.
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

    /// The cause. Of operations that did not run because others failed, only the first in the row has one of its own.
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
    /// The error of a stage, as one of ours.
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
