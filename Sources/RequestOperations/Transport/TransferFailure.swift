/// Why a transfer failed, with all that is known of it: what a transport throws.
///
/// No failure loses the head or the beginning of the body that had arrived. The operation makes a ``RequestError`` of it.
public struct TransferFailure: Error, Sendable {
    /// The cause: a ``RequestError`` with a code of the transport's, or the error that `onHead` or a consumer threw.
    ///
    /// Any other error, a `URLError` too, counts as one that code of the user's threw. (A `URLError` that a transport
    /// throws as it is, without a failure around it, gets the code that stands for it.)
    public var error: any Error

    /// The head, if one had arrived.
    public var head: ResponseHead?

    /// The first bytes of the body of a rejected response, at most ``TransferLimits/keptErrorBody``.
    public var bodyPrefix: Data

    /// How many bytes of the body arrived, after decompression; of a rejected response those that were read.
    public var bodySize: Int64

    /// How far the transfer had come.
    public var phase: Phase

    /// Whether a byte of the request may have reached the server. `false` means: surely not, so that even a request that
    /// is not idempotent can be sent again.
    public var requestMayHaveBeenProcessed: Bool

    /// Whether the connection had served another request before, where the transport knows it.
    public var connectionWasReused: Bool?

    /// Whether the connection serves other requests on: the server ended a stream of HTTP/2 alone.
    var connectionStands = false

    /// Whether the attempt ended with a connection that others had used before it, without any of a response. The connection was
    /// too old then, which says nothing of the host.
    var lostReusedConnection: Bool {
        guard connectionWasReused == true, !connectionStands, head == nil, phase != .body else { return false }
        return (error as? RequestError)?.code == .connectionLost
    }

    /// What was measured until the failure.
    public var timings: TransferTimings? {
        get { boxedTimings?.value }
        set { boxedTimings = newValue.map(Box.init) }
    }

    private var boxedTimings: Box<TransferTimings>?

    /// The parts of a transfer.
    public enum Phase: String, Sendable {
        /// Before anything was sent: checks, name look-up, connection, TLS, proxy.
        case connect
        /// While the request was sent.
        case request
        /// After the request, before the whole head had arrived.
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
    ///   - bodySize: How many bytes of the body arrived. As many as `bodyPrefix` has by default.
    ///   - phase: How far the transfer had come.
    ///   - requestMayHaveBeenProcessed: Whether a byte of the request may have reached the server; by default, whether
    ///     the phase is past `connect`.
    ///   - connectionWasReused: Whether the connection had served another request.
    ///   - timings: What was measured.
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

extension TransferFailure: CustomStringConvertible, CustomReflectable {
    /// One line: the cause, the phase, and whether the request may have been processed.
    public var description: String {
        let error = RequestError(wrapping: error, stage: .transfer)
        let text = requestMayHaveBeenProcessed ? "the request may have been processed" : "the request was not processed"
        return "\(error) (phase \(phase.rawValue); \(text))"
    }

    /// No children, so that `dump` does not show the body.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
