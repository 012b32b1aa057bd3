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
