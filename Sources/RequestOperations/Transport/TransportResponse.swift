/// A complete response, as a transport delivers it.
public struct TransportResponse: Sendable {
    /// All values are in one object, since a response is passed on at every step of an attempt.
    private var values: Box<Values>

    /// The head that `onHead` accepted.
    public var head: ResponseHead {
        get { values.value.head }
        set { values.edit { $0.head = newValue } }
    }

    /// The body if it went to memory, otherwise empty. Setting it also sets ``bodySize``.
    public var body: Data {
        get { values.value.body }
        set {
            values.edit {
                $0.body = newValue
                $0.bodySize = Int64(newValue.count)
            }
        }
    }

    /// The file that holds the body; `nil` if the body did not go to a file.
    public var file: URL? {
        get { values.value.file }
        set { values.edit { $0.file = newValue } }
    }

    /// The length of the body in bytes, after decompression, for every destination.
    public var bodySize: Int64 {
        get { values.value.bodySize }
        set { values.edit { $0.bodySize = newValue } }
    }

    /// When the stages of the transfer took place; `nil` if the transport does not measure them.
    public var timings: TransferTimings? {
        get { boxedTimings?.value }
        set { values.edit { $0.timings = newValue.map(Box.init) } }
    }

    var boxedTimings: Box<TransferTimings>? { values.value.timings }

    /// Makes a response.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - body: The body, if it went to memory. Empty by default.
    ///   - file: The file, if the body went to one. `nil` by default.
    ///   - bodySize: The length of the body in bytes. By default the length of `body`.
    ///   - timings: The timings, if measured. `nil` by default.
    public init(
        head: ResponseHead, body: Data = Data(), file: URL? = nil, bodySize: Int64? = nil,
        timings: TransferTimings? = nil
    ) {
        values = Box(
            Values(
                head: head, body: body, file: file, bodySize: bodySize ?? Int64(body.count),
                timings: timings.map(Box.init)))
    }

    private struct Values: Sendable {
        var head: ResponseHead
        var body: Data
        var file: URL?
        var bodySize: Int64
        var timings: Box<TransferTimings>?
    }
}

extension TransportResponse: CustomStringConvertible {
    /// One line: the description of the head, and the size of the body.
    public var description: String { "\(head), \(bodySize) bytes" }
}

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
