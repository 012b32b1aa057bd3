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

extension TransferFailure: CustomStringConvertible, LoggableError, CustomReflectable {
    /// One line: the cause, the phase, and whether the request may have been processed.
    public var description: String {
        let error = RequestError(wrapping: error, stage: .transfer)
        let text = requestMayHaveBeenProcessed ? "the request may have been processed" : "the request was not processed"
        return "\(error) (phase \(phase.rawValue); \(text))"
    }

    /// No children, so that `dump` does not show the body.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
