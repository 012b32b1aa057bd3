public import RequestOperations

/// Says what a failed attempt means for its record. It wraps one closure.
///
/// ```swift
/// configuration.classifier = OutcomeClassifier { failure, verdict in
///     failure.status == 409 ? .delivered : verdict
/// }
/// ```
public struct OutcomeClassifier: Sendable {
    /// What a failure means.
    public enum Verdict: Sendable, Hashable {
        /// The record is tried again after a backoff.
        case retry
        /// The record becomes a dead letter.
        case deadLetter
        /// The record counts as delivered.
        case delivered
    }

    /// A failed attempt.
    public struct Failure: Sendable {
        /// The error: of the request, or the one that a handler threw.
        public let error: any Error
        /// The status of the response; `nil` if there was none.
        public let status: Int?
        /// The name of the message; `nil` for a request.
        public let message: String?

        /// Makes a failure, for tests of a classifier.
        public init(_ error: any Error, status: Int? = nil, message: String? = nil) {
            self.error = error
            self.status = status
            self.message = message
        }
    }

    private let judge: @Sendable (Failure, Verdict) -> Verdict

    /// Makes a classifier from a closure.
    ///
    /// - Parameter judge: Called once after each failed attempt, with the verdict of ``standard``. It must return soon.
    public init(_ judge: @escaping @Sendable (_ failure: Failure, _ verdict: Verdict) -> Verdict) {
        self.judge = judge
    }

    /// Tries again after errors of the network, after 408, 425, 429 and 5xx, and after any error of a handler.
    ///
    /// Other statuses and errors of the request itself make a dead letter.
    public static let standard = OutcomeClassifier { _, verdict in verdict }

    /// The verdict on a failure.
    public func verdict(on failure: Failure) -> Verdict { judge(failure, Self.standardVerdict(on: failure)) }

    private static func standardVerdict(on failure: Failure) -> Verdict {
        guard let error = failure.error as? RequestError else { return .retry }
        if error.code == .unacceptableStatus, let status = failure.status {
            return [408, 425, 429].contains(status) || (500...599).contains(status) ? .retry : .deadLetter
        }
        return permanentCodes.contains(error.code) ? .deadLetter : .retry
    }

    /// The request itself can never succeed. Anything else may be the fault of a network, as of a captive portal.
    private static let permanentCodes: Set<RequestError.Code> = [
        .badURL, .unsupportedScheme, .invalidField, .unencodableBody, .bodyNotReplayable, .unsupported,
        .unacceptableContentType, .tooManyRedirects, .redirectLoop, .insecureRedirect,
    ]
}

extension OutcomeClassifier.Failure: CustomStringConvertible, OpaqueReflectable {
    /// The message, the status and the error. For an error that is not of this package, it shows only the type and the
    /// number.
    public var description: String {
        [message.map { "message \($0)" }, status.map { "status \($0)" }, error.redacted]
            .compactMap(\.self).joined(separator: ", ")
    }
}
