/// The source of the bytes of a request body.
public enum RequestBody: Sendable {
    /// No body.
    case none
    /// Bytes in memory, sent with their length.
    case data(Data)
    /// The content of a file. It is sent with its length, and read while it is sent.
    case file(URL)
    /// Bytes that a source makes while the request is sent.
    case stream(BodyStream)

    /// Makes the body that a `URLRequest` itself carries.
    ///
    /// An `httpBodyStream` becomes a stream that can be opened only once, so it is never sent twice.
    public init(of request: URLRequest) {
        if let data = request.httpBody {
            self = .data(data)
        } else if let stream = request.httpBodyStream {
            self = .stream(BodyStream(reading: stream))
        } else {
            self = .none
        }
    }

    /// Whether the body can be sent again, for a retry or a redirect.
    public var isReplayable: Bool {
        if case .stream(let stream) = self { stream.isReopenable } else { true }
    }

    /// Whether there is no body at all. An empty body is a body.
    public var isNone: Bool {
        if case .none = self { true } else { false }
    }
}

extension RequestBody: CustomStringConvertible, CustomReflectable {
    /// The source of the bytes and their number where it is known, without any of the bytes.
    public var description: String {
        switch self {
        case .none: "no body"
        case .data(let data): "\(data.count) bytes"
        case .file(let file): "file \(file.path)"
        case .stream(let stream): stream.length.map { "stream of \($0) bytes" } ?? "stream"
        }
    }

    /// No children, so that `dump` does not show the bytes.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
