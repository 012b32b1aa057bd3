import Foundation
import RequestOperations

/// Delivers one record: a request whose failures are judged by the rules of the queue and written down.
///
/// Short waits stay in the operation, where a recovery of the host or the network ends them. Longer ones end the
/// operation, and the record waits in the store.
// Unchecked as its superclass is: what changes is in `delivery`.
final class DeliveryOperation: URLRequestOperation<Int?>, @unchecked Sendable {
    /// What the operation asks of the queue. Each closure throws ``OfflineQueueError/Code/leaseLost`` if this process
    /// may not send any more.
    struct Hooks: Sendable {
        /// Whether the record may still be sent. Called before each attempt is sent.
        let maySend: @Sendable () async throws -> Bool
        /// Writes a failed attempt down. Called before each wait in the operation.
        let note: @Sendable (Progress) async throws -> Void
        /// The time of the calendar.
        let date: @Sendable () -> Date
    }

    private struct State {
        var attempts: Int
        var refusals: Int
        var settlement: Settlement?
        var lastFailure: AttemptFailure?
    }

    private let body: RequestBody
    private let expires: Date?
    private let message: String?
    private let rules: DeliveryRules
    private let hooks: Hooks
    private let delivery: Locked<State>

    /// The longest wait that stays in the operation.
    private static let longestWait = Duration.seconds(5)

    /// Makes an operation.
    ///
    /// - Parameters:
    ///   - request: The request without its body, with the idempotency key of the record.
    ///   - body: The body.
    ///   - record: The record.
    init(
        _ request: URLRequest, body: RequestBody, record: StoredRecord, rules: DeliveryRules, hooks: Hooks,
        configuration: RequestConfiguration
    ) {
        self.body = body
        expires = record.expires
        message = record.content.message
        self.rules = rules
        self.hooks = hooks
        delivery = Locked(State(attempts: record.attempts, refusals: record.refusals))
        super.init(request, decoder: ResponseDecoder { $0.head.status }, configuration: configuration)
    }

    /// What the delivery has come to, if the rules have ended it.
    var settlement: Settlement? { delivery.withLock { $0.settlement } }

    /// The failure that ended the delivery, if the rules have judged one.
    var lastFailure: AttemptFailure? { delivery.withLock { $0.lastFailure } }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        // The answer is of no use, however long it is.
        var task = TransportTask(request, body: body, destination: .stream { _ in })
        let hooks = hooks
        task.execution = .perform { task, transport, onHead in
            // The last moment before the request leaves: it may have been removed, or be another process's now.
            guard try await hooks.maySend() else { throw CancellationError() }
            var plain = task
            plain.execution = .standard
            return try await transport.perform(plain, onHead: onHead)
        }
        // The record's key lets the server tell a repetition, and nothing in the request is for one use only.
        return task
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        let now = hooks.date()
        let settlement = rules.settlement(
            after: seen(failure, delivery.withLock { $0 }), at: now, using: configuration.randomSource)
        guard case .waits(let step) = settlement, step.due.timeIntervalSince(now) <= Self.longestWait / .seconds(1),
            failure.bodyIsReplayable
        else {
            delivery.withLock { ($0.settlement, $0.lastFailure) = (settlement, failure) }
            return .stop
        }
        do { try await hooks.note(step) } catch { return .fail(CancellationError()) }
        delivery.withLock { ($0.attempts, $0.refusals) = (step.attempts, step.refusals) }
        let delay = Duration.seconds(max(step.due.timeIntervalSince(now), 0))
        // What the server asked for is not shortened.
        guard step.reason != .retryAfter else { return .retry(after: delay) }
        return .retry(
            after: delay, or: [ReachabilityObserver(path: configuration.networkPath), HostRecoveryObserver()])
    }

    /// A failure that the operation itself ended with, such as a time limit, as the rules see it.
    func settlement(after error: any Error) -> Settlement {
        let now = hooks.date()
        let state = delivery.withLock { $0 }
        let head = (error as? RequestError)?.head
        let failure = DeliveryRules.Failure(
            error: error, status: head?.status, retryAfter: nil, message: message, expires: expires,
            attempts: state.attempts, refusals: state.refusals)
        return rules.settlement(after: failure, at: now, using: configuration.randomSource)
    }

    private func seen(_ failure: AttemptFailure, _ state: State) -> DeliveryRules.Failure {
        DeliveryRules.Failure(
            error: failure.error, status: failure.head?.status, retryAfter: failure.retryAfter, message: message,
            expires: expires, attempts: state.attempts, refusals: state.refusals)
    }
}
