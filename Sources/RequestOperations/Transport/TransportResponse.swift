/// A whole response, as a transport delivers it.
public struct TransportResponse: Sendable {
    /// All values, in one object: a response is passed on at every step of an attempt.
    private var values: Box<Values>

    /// The head that `onHead` accepted.
    public var head: ResponseHead {
        get { values.value.head }
        set { values.edit { $0.head = newValue } }
    }

    /// The body if it went to memory, else empty. Setting it sets ``bodySize``.
    public var body: Data {
        get { values.value.body }
        set {
            values.edit {
                $0.body = newValue
                $0.bodySize = Int64(newValue.count)
            }
        }
    }

    /// The file that holds the body, if it went to one.
    public var file: URL? {
        get { values.value.file }
        set { values.edit { $0.file = newValue } }
    }

    /// The length of the body in bytes, after decompression, wherever it went.
    public var bodySize: Int64 {
        get { values.value.bodySize }
        set { values.edit { $0.bodySize = newValue } }
    }

    /// When the parts of the transfer took place, where the transport measures them.
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
    ///   - file: The file, if it went to one.
    ///   - bodySize: The length of the body; that of `body` by default.
    ///   - timings: The timings, if measured.
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
    /// One line: the head as it describes itself, and the size of the body.
    public var description: String { "\(head), \(bodySize) bytes" }
}

/// When the parts of one transfer took place, each since the transport was asked to perform it.
public struct TransferTimings: Sendable, Hashable {
    /// Until the transport began the transfer.
    public var queue: Duration?
    /// Until the name was resolved; `nil` on a connection that was reused, and where the host is an address.
    public var nameLookup: Duration?
    /// Until the connection (TCP) stood; `nil` on a connection that was reused, and where TLS failed.
    public var connect: Duration?
    /// Until the TLS handshake was done; `nil` without TLS or on a connection that was reused.
    public var secureConnect: Duration?
    /// Until the request began to be sent: the connection stood and served nobody else.
    public var requestSent: Duration?
    /// Until the first byte of the response arrived, after informational ones (RFC 9110, section 15.2).
    public var firstByte: Duration?
    /// Until the last byte of the response arrived, or the transfer ended without it.
    public var total: Duration?
    /// Whether the connection had served another request before.
    public var connectionWasReused: Bool?
    /// Whether the transport sent the request again, at no cost to the retry policy, since the connection that it had reused
    /// was dead before a byte of the response arrived, or the server refused to process it.
    public var wasReplayed: Bool
    /// The version of HTTP that the response came in; `nil` if none came.
    public var httpVersion: HTTPVersion?
    /// The address of the server (or proxy), without a port.
    public var remoteAddress: String?
    /// Bytes of the request body sent.
    public var bytesSent: Int64?
    /// Bytes of the response body received, before decompression.
    public var bytesReceived: Int64?

    /// Makes timings of which nothing is known.
    public init() {
        wasReplayed = false
    }
}
