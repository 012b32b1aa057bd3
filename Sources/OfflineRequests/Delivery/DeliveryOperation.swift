import Foundation
import RequestOperations

/// Delivers one record: a request whose failures are judged by the rules of the queue and stored.
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
        /// Stores a failed attempt. Called before each wait in the operation.
        let note: @Sendable (FailureNote) async throws -> Void
        /// Whether another attempt may follow. None may follow while the queue is paused or closes, or once the
        /// constraints must be checked again.
        let mayGoOn: @Sendable () -> Bool
        /// The time of the calendar.
        let date: @Sendable () -> Date
    }

    private struct State {
        var history: DeliveryRules.History
        /// The outcome of the last attempt. There is none while an attempt is under way.
        var settlement: Settlement?
    }

    private let body: RequestBody
    private let rules: DeliveryRules
    private let hooks: Hooks
    private let delivery: Locked<State>

    /// The longest wait that stays in the operation.
    static let longestWait = Duration.seconds(5)

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
        self.rules = rules
        self.hooks = hooks
        delivery = Locked(State(history: DeliveryRules.History(record)))
        super.init(request, decoder: ResponseDecoder { $0.head.status }, configuration: configuration)
    }

    /// The outcome of the delivery after an error that ended it.
    ///
    /// The operation can fail while it waits, as when the retry budget is exhausted. Then the attempt before the wait
    /// counts, which was judged and stored already.
    func settlement(after error: any Error) -> Settlement {
        let state = delivery.withLock { $0 }
        if let settlement = state.settlement { return settlement }
        return rules.settlement(
            after: DeliveryRules.Failure(error, after: state.history), at: hooks.date(),
            using: configuration.randomSource)
    }

    /// If an adapter signs the body, all adapters see it. None may change it then, since it is sent as it was added.
    override func process(_ request: URLRequest) async throws -> URLRequest {
        guard configuration.adapters.contains(where: \.readsBody) else { return try await super.process(request) }
        var request = request
        switch body {
        case .none: break
        case .data(let data): request.httpBody = data
        case .file(let file): request.httpBody = try Data(contentsOf: file, options: .alwaysMapped)
        // An adapter learns that there is a body that it cannot see.
        case .stream: request.httpBodyStream = InputStream(data: Data())
        }
        var processed = try await super.process(request)
        guard processed.httpBody == request.httpBody else {
            throw RequestError(.unsupported, stage: .process, reason: "an adapter changed a body that is signed")
        }
        processed.httpBody = nil
        processed.httpBodyStream = nil
        return processed
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        // The response body is not used, however long it is.
        var task = TransportTask(request, body: body, destination: .stream { _ in })
        let (hooks, delivery) = (hooks, delivery)
        task.execution = .perform { task, transport, onHead in
            // The wait is over, even if it ended early. If the attempt is refused now, the record is due at once.
            delivery.withLock { state in
                guard case .waits(var step) = state.settlement else { return }
                step.delay = .zero
                state.settlement = .waits(step)
            }
            // The last moment before the request leaves: it may have been removed, or be another process's now.
            guard try await hooks.maySend() else { throw CancellationError() }
            delivery.withLock { $0.settlement = nil }
            var plain = task
            plain.execution = .standard
            return try await transport.perform(plain, onHead: onHead)
        }
        // The record's key lets the server tell a repetition, and nothing in the request is for one use only.
        return task
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        let now = hooks.date()
        let judged = DeliveryRules.Failure(
            failure.error, after: delivery.withLock { $0.history }, attempt: failure)
        let settlement = rules.settlement(after: judged, at: now, using: configuration.randomSource)
        delivery.withLock { $0.settlement = settlement }
        guard case .waits(let step) = settlement, step.delay <= Self.longestWait,
            failure.bodyIsReplayable, hooks.mayGoOn()
        else { return .stop }
        do { try await hooks.note(step) } catch { return .fail(CancellationError()) }
        delivery.withLock { ($0.history.attempts, $0.history.refusals) = (step.attempts, step.refusals) }
        // A wait that the server asked for is not shortened.
        guard step.reason != .retryAfter else { return .retry(after: step.delay) }
        return .retry(
            after: step.delay, or: [ReachabilityObserver(path: configuration.networkPath), HostRecoveryObserver()])
    }
}
