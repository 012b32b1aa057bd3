/// An operation that reads server-sent events (WHATWG HTML, section 9.2), and connects again when a connection ends.
///
/// ```swift
/// let source = EventSourceOperation(url)
/// queue.addOperation(source)
/// for try await event in source.serverSentEvents { print(event.type, event.data) }
/// ```
///
/// A connection that ends or breaks is followed by a new one, which names the last event in `Last-Event-ID`. The delay before it
/// is the last one that the server set in a `retry` field, but at least 500 ms. After a failure, the backoff of the retry policy
/// is added. The operation ends with:
///
/// - a response with status 204, which is a success
/// - a response that is not a stream of events, with ``RequestError/Code/unacceptableContentType`` or
///   ``RequestError/Code/unacceptableStatus``
/// - a failure that the retry policy does not retry. A connection that worked resets the count of retries.
/// - a cancel, a dropped iterator, or a cancel of the reading Task
///
/// The policy's ``RetryPolicy/elapsedLimit`` does not apply. ``RequestConfiguration/deadline`` applies. A server should send a
/// comment at least every ``RequestConfiguration/idleTimeLimit``. Otherwise the connection counts as broken.
///
/// A request that may not be repeated, such as a POST without an `Idempotency-Key`, is not sent again once a response has begun.
/// So the operation ends with that response. The same is true with a policy that never retries.
///
/// The value of the operation is the head of the last response. The operation keeps its place in the queue and its slot of a
/// limiter while a connection is open. Each new connection uses up some of the ``RetryBudget``.
///
/// ## Subclassing
///
/// All stages of ``URLRequestOperation`` can be overridden. An override of ``makeTask(for:)`` must return the task of `super`,
/// which it may change except for its destination.
// Unchecked, as its superclass is. The lock of `source` guards what changes.
open class EventSourceOperation: URLRequestOperation<ResponseHead>, @unchecked Sendable {
    private let handover = Handover<[ServerSentEvent]>()
    private let source: Locked<EventSourceState>
    private let reconnects: Bool
    private let maximumEventSize: Int

    /// Makes an operation that reads the events of a request's response.
    ///
    /// - Parameters:
    ///   - request: The request. Each attempt is processed from it. It gets `Accept: text/event-stream` and
    ///     `Cache-Control: no-store`, unless it has these fields.
    ///   - lastEventID: The id of the last event that is known from an earlier operation. Empty by default.
    ///   - reconnects: Whether a new connection follows one that has worked. `true` by default. If `false`, the operation ends
    ///     with the first response.
    ///   - reconnectionTime: The delay before a new connection until the server sets one. 3 seconds by default.
    ///     ``RetryPolicy/maximumRetryAfter`` limits the delay that a server sets.
    ///   - maximumEventSize: The most bytes in the data of an event. 1 MiB by default. A line may have 256 bytes more. Anything
    ///     longer ends the operation with ``RequestError/Code/lineTooLong``.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public init(
        _ request: URLRequest, lastEventID: String = "", reconnects: Bool = true,
        reconnectionTime: Duration = .seconds(3), maximumEventSize: Int = 1 << 20,
        configuration: RequestConfiguration = .default
    ) {
        source = Locked(EventSourceState(lastEventID: lastEventID, reconnectionTime: reconnectionTime))
        self.reconnects = reconnects
        self.maximumEventSize = maximumEventSize
        // The limit counts from the first connection, which may last for days.
        super.init(request, decoder: .head, configuration: configuration.withoutElapsedLimit)
    }

    /// Makes an operation that reads the events of a URL. See the other initialiser for the parameters.
    public convenience init(
        _ url: URL, lastEventID: String = "", reconnects: Bool = true, reconnectionTime: Duration = .seconds(3),
        maximumEventSize: Int = 1 << 20, configuration: RequestConfiguration = .default
    ) {
        self.init(
            URLRequest(url: url), lastEventID: lastEventID, reconnects: reconnects, reconnectionTime: reconnectionTime,
            maximumEventSize: maximumEventSize, configuration: configuration)
    }

    /// The events as they arrive. The sequence can be iterated once.
    public final var serverSentEvents: ServerSentEvents { ServerSentEvents(handover, of: self) }

    // MARK: Stages

    /// Makes the task that hands the events to the reader. Its request names the last event.
    open override func makeTask(for request: URLRequest) async throws -> TransportTask {
        let attempt = handover.begin()
        let lastEventID = source.withLock { state in
            state.isOpen = false
            return state.lastEventID
        }
        var request = request
        request.setDefault("text/event-stream", for: "Accept")
        request.setDefault("no-store", for: "Cache-Control")
        if !lastEventID.isEmpty { request.setValue(lastEventID, forHTTPHeaderField: "Last-Event-ID") }
        let parser = Locked(ServerSentEventParser(lastEventID: lastEventID, maximumSize: maximumEventSize))
        return .stream(request) { [self] piece in try await take(parser.withLock { $0.parse(piece) }, in: attempt) }
    }

    private func take(_ yield: ServerSentEventParser.Yield, in attempt: Int) async throws {
        if !yield.events.isEmpty { try await handover.send(yield.events, from: attempt) }
        // A new connection asks for what follows the events that the reader has.
        source.withLock { $0.note(yield, longest: configuration.retryPolicy.maximumRetryAfter) }
        guard yield.isTooLong else { return }
        throw RequestError(
            .lineTooLong, stage: .transfer, reason: "an event has more than \(maximumEventSize) bytes")
    }

    /// Accepts a head with the configuration's validation, if it is that of a stream of events or has status 204.
    open override func validate(_ head: ResponseHead) throws {
        try super.validate(head)
        if head.isHTTP, head.status != 204 {
            guard head.status == 200 else { throw RequestError(.unacceptableStatus, stage: .validate, head: head) }
            try ResponseValidation.eventStream.validate(head)
        }
        source.withLock { $0.isOpen = true }
    }

    /// Asks the retry policy. After a connection that worked, the failure counts as the first one.
    open override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        let source = source.withLock { $0 }
        guard source.isOpen else { return await super.retryDecision(after: failure) }
        guard reconnects else { return .stop }
        let decision = await super.retryDecision(after: failure.asFirst)
        guard case .retry(let delay, let observers, _, _, let request) = decision else { return decision }
        return .retry(
            after: delay + source.reconnectionTime, or: source.isServersTime ? [] : observers,
            restartingBackoff: true, restartingCount: true, with: request)
    }

    /// Connects again after the end of a response, unless that had status 204 or the request may not be repeated.
    open override func retryDecision(afterSuccess value: ResponseHead, attempt: Int) async -> RetryDecision? {
        let policy = configuration.retryPolicy
        guard reconnects, value.status != 204, policy.maximumRetries > 0, policy.isIdempotent(request) else {
            return nil
        }
        return .retry(
            after: source.withLock { $0.reconnectionTime }, restartingBackoff: true, restartingCount: true)
    }

    // MARK: Calls from the superclass

    final override var isProcessedByAdapters: Bool {
        type(of: self) == EventSourceOperation.self
    }
}

extension ResponseValidation {
    fileprivate static let eventStream = contentType(["text/event-stream"])
}

extension URLRequest {
    /// Sets a field, unless the request has it.
    mutating func setDefault(_ value: String, for field: String) {
        if self.value(forHTTPHeaderField: field) == nil { setValue(value, forHTTPHeaderField: field) }
    }
}

/// What an event source knows across its connections. A pure value.
struct EventSourceState: Sendable {
    /// The id of the last event that the reader has, for `Last-Event-ID`. Empty if there is none.
    private(set) var lastEventID: String
    /// The time before a new connection.
    private(set) var reconnectionTime: Duration
    /// Whether the server gave that time.
    private(set) var isServersTime = false
    /// Whether the response of the running attempt was accepted as a stream of events.
    var isOpen = false

    /// The shortest time before a new connection that a server can ask for. So a server cannot cause a storm of connections.
    static let shortestTime = Duration.milliseconds(500)
    /// The most bytes of an id that is sent in `Last-Event-ID`.
    private static let longestID = 4096

    /// - Parameters:
    ///   - lastEventID: The id of the last event that the reader has from elsewhere.
    ///   - reconnectionTime: The time before a new connection until the server gives one.
    init(lastEventID: String, reconnectionTime: Duration) {
        self.lastEventID = lastEventID
        self.reconnectionTime = min(max(reconnectionTime, .zero), .seconds(Int32.max))
    }

    /// The reader has taken the events from some bytes.
    ///
    /// - Parameter longest: The longest time before a new connection that a server may ask for.
    mutating func note(_ yield: ServerSentEventParser.Yield, longest: Duration) {
        // A longer one would make servers refuse the request for its fields.
        if yield.lastEventID.utf8.count <= Self.longestID { lastEventID = yield.lastEventID }
        guard let time = yield.reconnectionTime else { return }
        reconnectionTime = max(min(time, longest), Self.shortestTime)
        isServersTime = true
    }
}
