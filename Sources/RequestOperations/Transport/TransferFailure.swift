/// The error that a transport throws: why a transfer failed, with all that is known about it.
///
/// It keeps the head and the first bytes of the body that had arrived. The operation makes a ``RequestError`` of it.
public struct TransferFailure: Error, Sendable {
    /// The cause: a ``RequestError`` with a code of the transport, or the error that `onHead` or a consumer threw.
    ///
    /// Any other error, including a `URLError`, counts as an error that your code threw. (If a transport throws a
    /// `URLError` directly, without a failure around it, the error gets the matching code.)
    public var error: any Error

    /// The head, if one had arrived.
    public var head: ResponseHead?

    /// The first bytes of the body of a rejected response, at most ``TransferLimits/keptErrorBody`` bytes.
    public var bodyPrefix: Data

    /// How many bytes of the body arrived, after decompression. For a rejected response: how many were read.
    public var bodySize: Int64

    /// How far the transfer had come.
    public var phase: Phase

    /// Whether a byte of the request may have reached the server.
    ///
    /// `false` means that no byte has reached it. Then even a request that is not idempotent can be sent again.
    public var requestMayHaveBeenProcessed: Bool

    /// Whether the connection had served another request before; `nil` if the transport does not know.
    public var connectionWasReused: Bool?

    /// Whether the connection still serves other requests. The server then ended only one HTTP/2 stream.
    var connectionStands = false

    /// Whether the transport ended the connection because nothing came over it for another request.
    var connectionWasGivenUp = false

    /// Whether the attempt lost a reused or shared connection before any of the response arrived.
    ///
    /// The connection was too old then. That says nothing about the host.
    var lostReusedConnection: Bool {
        guard connectionWasReused == true || connectionWasGivenUp, !connectionStands, head == nil, phase != .body else {
            return false
        }
        return (error as? RequestError)?.code == .connectionLost
    }

    /// What was measured until the failure.
    public var timings: TransferTimings? {
        get { boxedTimings?.value }
        set { boxedTimings = newValue.map(Box.init) }
    }

    private var boxedTimings: Box<TransferTimings>?

    /// The stages of a transfer.
    public enum Phase: String, Sendable {
        /// Before anything was sent: checks, name look-up, connection, TLS and proxy.
        case connect
        /// While the request was sent.
        case request
        /// After the request was sent, before the whole head had arrived.
        case head
        /// While the body arrived.
        case body
    }

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - error: The cause.
    ///   - head: The head, if one had arrived.
    ///   - bodyPrefix: The first bytes of the body. Empty by default.
    ///   - bodySize: How many bytes of the body arrived. The size of `bodyPrefix` by default.
    ///   - phase: How far the transfer had come.
    ///   - requestMayHaveBeenProcessed: Whether a byte of the request may have reached the server. By default `true`
    ///     for any phase but `connect`.
    ///   - connectionWasReused: Whether the connection had served another request. `nil`, the default, means unknown.
    ///   - timings: What was measured. `nil` by default.
    public init(
        _ error: any Error, head: ResponseHead? = nil, bodyPrefix: Data = Data(), bodySize: Int64? = nil, phase: Phase,
        requestMayHaveBeenProcessed: Bool? = nil, connectionWasReused: Bool? = nil, timings: TransferTimings? = nil
    ) {
        self.error = error
        self.head = head
        self.bodyPrefix = bodyPrefix
        self.bodySize = bodySize ?? Int64(bodyPrefix.count)
        self.phase = phase
        self.requestMayHaveBeenProcessed = requestMayHaveBeenProcessed ?? (phase != .connect)
        self.connectionWasReused = connectionWasReused
        boxedTimings = timings.map(Box.init)
    }
}

extension TransferFailure: CustomStringConvertible, LoggableError, OpaqueReflectable {
    /// One line: the cause, the phase, and whether the request may have been processed.
    public var description: String {
        let error = RequestError(wrapping: error, stage: .transfer)
        let text = requestMayHaveBeenProcessed ? "the request may have been processed" : "the request was not processed"
        return "\(error) (phase \(phase.rawValue); \(text))"
    }
}

/// What a transport of this package notes about one attempt with a time limit.
///
/// It measures how long the attempt has waited for a connection that other requests make or use. This time counts toward no
/// limit of the attempt. A transport says when such a wait begins and ends. The code that keeps the limit asks for the sum.
///
/// If the limit stops a transfer, the transport throws only a `CancellationError`. The operation learns here whether anything
/// was sent.
final class AttemptTrace: Sendable {
    private struct State {
        var failure: TransferFailure?
        var past: Int64 = 0
        /// When the current wait began; `nil` if there is none.
        var start: Int64?
    }

    private let state = Locked(State())
    private let now: @Sendable () -> Int64

    /// - Parameter now: Returns the nanoseconds since some fixed moment.
    init(now: @escaping @Sendable () -> Int64 = { RequestClock.continuous.now.nanoseconds }) {
        self.now = now
    }

    /// Begins a wait. Does nothing if a wait is already under way.
    func begin() {
        let now = now()
        state.withLock { if $0.start == nil { $0.start = now } }
    }

    /// Ends the wait. Does nothing if no wait is under way.
    func end() {
        let now = now()
        state.withLock { state in
            guard let start = state.start else { return }
            state.past += now - start
            state.start = nil
        }
    }

    /// The failure of a cancelled transfer, if it was noted. Its error is a `CancellationError`.
    var failure: TransferFailure? { state.withLock { $0.failure } }

    func note(_ failure: TransferFailure) {
        state.withLock { $0.failure = failure }
    }

    /// The sum of all waits so far, including the current one.
    var total: Duration {
        let now = now()
        return .nanoseconds(state.withLock { state in state.past + (state.start.map { now - $0 } ?? 0) })
    }
}
