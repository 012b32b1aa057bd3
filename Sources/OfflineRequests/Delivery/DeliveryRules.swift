import Foundation
import RequestOperations

/// Decides what follows a failed attempt. It is pure: time and randomness are passed in.
struct DeliveryRules: Sendable {
    let backoff: Backoff
    let maximumAttempts: Int?
    let maximumRetryAfter: Duration
    let classifier: OutcomeClassifier

    init(_ configuration: OfflineConfiguration) {
        backoff = configuration.backoff
        maximumAttempts = configuration.maximumAttempts
        maximumRetryAfter = configuration.maximumRetryAfter
        classifier = configuration.classifier
    }

    /// What is known of a record before an attempt.
    struct History: Sendable {
        let message: String?
        let expires: Date?
        /// Failed attempts.
        var attempts: Int
        /// How many of them were answered.
        var refusals: Int

        init(_ record: StoredRecord) {
            message = record.content.message
            expires = record.expires
            attempts = record.attempts
            refusals = record.refusals
        }
    }

    /// A failed attempt, as these rules see it.
    struct Failure: Sendable {
        let error: any Error
        let history: History
        let status: Int?
        /// The wait that the response asked for.
        let retryAfter: Duration?

        /// Makes a failure.
        ///
        /// - Parameter attempt: The failed attempt of a request. Without it, the error itself may have a response.
        init(_ error: any Error, after history: History, attempt: AttemptFailure? = nil) {
            self.error = error
            self.history = history
            status = (attempt?.head ?? (error as? RequestError)?.head)?.status
            retryAfter = attempt?.retryAfter
        }
    }

    /// How long records can wait at most.
    var longestWaits: LongestWaits { LongestWaits(backoff: backoff, retryAfter: maximumRetryAfter) }

    /// The outcome of a failed attempt.
    func settlement(after failure: Failure, at now: Date, using random: RandomSource) -> Settlement {
        let history = failure.history
        let judged = OutcomeClassifier.Failure(failure.error, status: failure.status, message: history.message)
        let line = Self.line(failure.error)
        // The server or the handler has refused the record. Without an answer, the network may be at fault.
        let isRefusal = failure.status != nil || history.message != nil
        switch classifier.verdict(on: judged) {
        case .delivered: return .delivered(status: failure.status)
        case .deadLetter:
            return .dead(
                DeadLetterReason(isRefusal ? .rejected : .unusable, detail: line, status: failure.status))
        case .retry: break
        }
        let refusals = history.refusals + (isRefusal ? 1 : 0)
        if let maximumAttempts, refusals >= maximumAttempts {
            return .dead(
                DeadLetterReason(.expired, detail: "\(refusals) attempts were refused: \(line)", status: failure.status)
            )
        }
        let asked = failure.retryAfter.map { min($0, maximumRetryAfter) }
        let delay = max(asked ?? .zero, backoff.delay(beforeRetry: history.attempts + 1, using: random))
        if let expires = history.expires, expires <= now {
            return .dead(DeadLetterReason(.expired, detail: line, status: failure.status))
        }
        let reason: OfflineRecord.WaitReason = asked != nil ? .retryAfter : isRefusal ? .backoff : .network
        return .waits(
            FailureNote(
                attempts: history.attempts + 1, refusals: refusals, failure: line,
                delay: history.expires.map { min(.rounded(seconds: $0.timeIntervalSince(now)), delay) } ?? delay,
                reason: reason))
    }

    /// The first line of an error, cut to a length that a list can show.
    static func line(_ error: any Error) -> String {
        let line = "\(error)".split(whereSeparator: \.isNewline).first ?? ""
        return line.count <= longestLine ? String(line) : line.prefix(longestLine) + "…"
    }

    /// In characters.
    private static let longestLine = 500
}
