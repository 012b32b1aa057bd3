/// A complete response, as a transport delivers it.
public struct TransportResponse: Sendable {
    /// The head that `onHead` accepted.
    public var head: ResponseHead

    /// The body if it went to memory, otherwise empty. Setting it also sets ``bodySize``.
    public var body: Data { didSet { bodySize = Int64(body.count) } }

    /// The file that holds the body; `nil` if the body did not go to a file.
    public var file: URL?

    /// The length of the body in bytes, after decompression, for every destination.
    public var bodySize: Int64

    /// When the stages of the transfer took place; `nil` if the transport does not measure them.
    public var timings: TransferTimings? {
        get { boxedTimings?.value }
        set { boxedTimings = newValue.map(Box.init) }
    }

    private(set) var boxedTimings: Box<TransferTimings>?

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
        (self.head, self.body, self.file) = (head, body, file)
        self.bodySize = bodySize ?? Int64(body.count)
        boxedTimings = timings.map(Box.init)
    }
}

extension TransportResponse: CustomStringConvertible, CustomReflectable {
    /// One line: the description of the head, and the size of the body.
    public var description: String { "\(head), \(bodySize) bytes" }

    /// No children, so that `dump` does not show the body.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
