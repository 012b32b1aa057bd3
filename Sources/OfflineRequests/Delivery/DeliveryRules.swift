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

    /// A failed attempt, as these rules see it.
    struct Failure: Sendable {
        let error: any Error
        let status: Int?
        /// What the response asked for.
        let retryAfter: Duration?
        let message: String?
        let expires: Date?
        /// Failed attempts before this one.
        let attempts: Int
        /// How many of them were answered.
        let refusals: Int
    }

    /// What a failed attempt comes to.
    func settlement(after failure: Failure, at now: Date, using random: RandomSource) -> Settlement {
        let judged = OutcomeClassifier.Failure(failure.error, status: failure.status, message: failure.message)
        let line = "\(failure.error)"
        switch classifier.verdict(on: judged) {
        case .delivered: return .delivered(status: failure.status)
        case .deadLetter:
            let isAnswered = failure.status != nil || failure.message != nil
            return .dead(
                DeadLetterReason(isAnswered ? .rejected : .unusable, detail: line, status: failure.status))
        case .retry: break
        }
        // The server or the handler has refused the record. Without an answer, the network may be at fault.
        let isRefusal = failure.status != nil || failure.message != nil
        let refusals = failure.refusals + (isRefusal ? 1 : 0)
        if let maximumAttempts, refusals >= maximumAttempts {
            return .dead(
                DeadLetterReason(.expired, detail: "\(refusals) attempts were refused: \(line)", status: failure.status)
            )
        }
        let asked = failure.retryAfter.map { min($0, maximumRetryAfter) }
        let delay = max(asked ?? .zero, backoff.delay(beforeRetry: failure.attempts + 1, using: random))
        let due = now + delay / .seconds(1)
        if let expires = failure.expires, expires <= now {
            return .dead(DeadLetterReason(.expired, detail: line, status: failure.status))
        }
        let reason: OfflineRecord.WaitReason = asked != nil ? .retryAfter : isRefusal ? .backoff : .network
        return .waits(
            Progress(
                attempts: failure.attempts + 1, refusals: refusals, failure: line,
                due: failure.expires.map { min($0, due) } ?? due, reason: reason))
    }
}
