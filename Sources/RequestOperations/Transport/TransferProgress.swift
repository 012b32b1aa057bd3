/// How far a transfer has come, in bytes of bodies.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request body that the layer below has taken. It may not have sent all of them yet.
    public var bytesSent: Int64
    /// The length of the request body in bytes; `nil` if it is unknown.
    public var bytesToSend: Int64?
    /// Bytes of the response body received, after decompression.
    public var bytesReceived: Int64
    /// The length of the response body that its head declares, in bytes; `nil` if none or if it is compressed.
    public var bytesToReceive: Int64?

    /// Makes a value. By default all counts are zero and all lengths are unknown.
    public init(
        bytesSent: Int64 = 0, bytesToSend: Int64? = nil, bytesReceived: Int64 = 0, bytesToReceive: Int64? = nil
    ) {
        self.bytesSent = bytesSent
        self.bytesToSend = bytesToSend
        self.bytesReceived = bytesReceived
        self.bytesToReceive = bytesToReceive
    }
}
