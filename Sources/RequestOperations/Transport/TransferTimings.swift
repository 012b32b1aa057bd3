/// When the stages of one transfer took place. Each time counts from the call that asked the transport to perform it.
public struct TransferTimings: Sendable, Hashable {
    /// Until the transport began the transfer.
    public var queue: Duration?
    /// Until the name was resolved. `nil` on a reused connection, and if the host is an address.
    public var nameLookup: Duration?
    /// Until the TCP connection was open. `nil` on a reused connection, and if TLS failed.
    public var connect: Duration?
    /// Until the TLS handshake was done. `nil` without TLS, and on a reused connection.
    public var secureConnect: Duration?
    /// Until the transport began to send the request. The connection was then open and served no other request.
    public var requestSent: Duration?
    /// Until the first byte of the response arrived. Informational responses (RFC 9110, section 15.2) do not count.
    public var firstByte: Duration?
    /// Until the last byte of the response arrived, or the transfer ended without it.
    public var total: Duration?
    /// Whether the connection had served another request before.
    public var connectionWasReused: Bool?
    /// Whether the transport sent the request again by itself. The retry policy does not count this.
    ///
    /// The transport does so in two cases: a reused connection was dead before a byte of the response arrived, or the
    /// server refused to process the request.
    public var wasReplayed: Bool
    /// The HTTP version of the response; `nil` if no response came.
    public var httpVersion: HTTPVersion?
    /// The address of the server (or proxy), without a port.
    public var remoteAddress: String?
    /// How many bytes of the request body were sent.
    public var bytesSent: Int64?
    /// How many bytes of the response body were received, before decompression.
    public var bytesReceived: Int64?

    /// Makes timings with every value unknown.
    public init() {
        wasReplayed = false
    }
}
