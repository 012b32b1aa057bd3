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
    package var isNone: Bool {
        if case .none = self { true } else { false }
    }
}

extension RequestBody: CustomStringConvertible, OpaqueReflectable {
    /// The source of the bytes and their number where it is known, without any of the bytes.
    public var description: String {
        switch self {
        case .none: "no body"
        case .data(let data): "\(data.count) bytes"
        case .file(let file): "file \(file.path)"
        case .stream(let stream): stream.length.map { "stream of \($0) bytes" } ?? "stream"
        }
    }
}

/// A request body that a source makes while it is sent.
public struct BodyStream: Sendable {
    /// The number of bytes, sent as `Content-Length`. With `nil` the body is sent in chunks.
    public let length: Int64?

    /// Whether ``open`` can be called again to send the body a second time.
    package let isReopenable: Bool

    /// Opens the source at its first byte. Called once each time that the body is sent.
    public let open: @Sendable () async throws -> Reader

    /// Reads an opened source.
    public struct Reader: Sendable {
        /// Returns the next bytes, or `nil` at the end.
        ///
        /// An empty piece is skipped. It is never called again before the last call has returned. An error that it
        /// throws ends the transfer. The connection is then closed, so that the server does not take the body for
        /// complete.
        public let next: @Sendable () async throws -> Data?

        /// Makes a reader from a function that returns the next bytes.
        public init(next: @escaping @Sendable () async throws -> Data?) {
            self.next = next
        }
    }

    /// Makes a stream that can be opened each time that the request is sent.
    ///
    /// - Parameters:
    ///   - length: The exact number of bytes. If the source gives more or fewer, the transfer fails. With `nil`, the
    ///     default, the body is sent in chunks.
    ///   - open: Opens the source at its first byte.
    public init(length: Int64? = nil, open: @escaping @Sendable () async throws -> Reader) {
        self.init(length: length, isReopenable: true, open: open)
    }

    init(length: Int64?, isReopenable: Bool, open: @escaping @Sendable () async throws -> Reader) {
        self.length = length
        self.isReopenable = isReopenable
        self.open = open
    }

    /// Makes a stream over a Foundation stream. It can be opened only once. It is read on a Dispatch thread, since it
    /// may block.
    init(reading stream: InputStream) {
        let source = InputStreamSource(stream)
        self.init(length: nil, isReopenable: false) {
            try await source.open()
            return Reader { try await source.read() }
        }
    }
}

extension BodyStream {
    /// Reads the source to its end, and passes on each piece that has bytes.
    ///
    /// The last piece of a declared length is passed on after the source has confirmed its end. The server must not take an
    /// incomplete body for a complete one.
    ///
    /// - Throws: The source's own error, what `body` throws, `CancellationError`, and `unencodableBody` if the source gives more
    ///   or fewer bytes than it declared.
    func readAll(_ body: (Data) async throws -> Void) async throws {
        func wrongLength(_ word: String) -> RequestError {
            RequestError(.unencodableBody, "the body's source gave \(word) bytes than it declared")
        }
        let reader = try await open()
        var total: Int64 = 0
        var last: Data?
        while let piece = try await reader.next() {
            try Task.checkCancellation()
            guard !piece.isEmpty else { continue }
            total += Int64(piece.count)
            if let length, total > length { throw wrongLength("more") }
            if total == length { last = piece } else { try await body(piece) }
        }
        if let length, total < length { throw wrongLength("fewer") }
        if let last { try await body(last) }
    }
}

extension RequestBody {
    /// The length of a file that can be a body. Only a regular file can. Another kind may block the thread that reads it and
    /// that all transfers share.
    ///
    /// - Throws: A `RequestError` with the code `unencodableBody`.
    static func length(ofFile file: URL) throws -> Int64 {
        guard file.isFileURL else { throw RequestError(.unencodableBody, "the body's URL is not a file URL") }
        var status = stat()
        guard stat(file.path, &status) == 0, access(file.path, R_OK) == 0 else {
            throw RequestError.ofSystem(.unencodableBody, "the body's file cannot be opened")
        }
        return try length(of: status)
    }

    static func length(of status: stat) throws -> Int64 {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw RequestError(.unencodableBody, "the body's file is not a regular file")
        }
        return Int64(status.st_size)
    }
}

// Unchecked: the stream is used only on its serial queue.
private final class InputStreamSource: @unchecked Sendable {
    private let stream: InputStream
    private let queue = DispatchQueue(label: "RequestOperations.InputStreamSource")

    init(_ stream: InputStream) {
        self.stream = stream
    }

    func open() async throws {
        try await queue.run { [self] in
            guard stream.streamStatus == .notOpen else {
                throw RequestError(.bodyNotReplayable, stage: .transfer)
            }
            stream.open()
        }
    }

    func read() async throws -> Data? {
        try await queue.run { [self] in try readPiece() }
    }

    private func readPiece() throws -> Data? {
        var piece = Data(count: 64 << 10)
        let count = piece.withUnsafeMutableBytes { buffer in
            // A Data of 64 KiB always has an address.
            stream.read(buffer.bindMemory(to: UInt8.self).baseAddress!, maxLength: buffer.count)
        }
        guard count >= 0 else {
            throw RequestError(.unencodableBody, stage: .transfer, underlying: stream.streamError)
        }
        guard count > 0 else {
            stream.close()
            return nil
        }
        return piece.prefix(count)
    }
}

/// Reads a file in pieces on a thread of Dispatch, because a file system may block.
// Unchecked: the handle is used on the serial queue only.
final class FileReader: @unchecked Sendable {
    private let file: URL
    private let offset: Int64
    private let queue = DispatchQueue(label: "RequestOperations.FileReader")
    private var handle: FileHandle?

    private static let pieceSize = 256 << 10

    /// - Parameters:
    ///   - file: The file. It is opened when its first byte is needed.
    ///   - offset: The first byte to read. 0 by default.
    init(_ file: URL, from offset: Int64 = 0) {
        self.file = file
        self.offset = offset
    }

    var reader: BodyStream.Reader {
        BodyStream.Reader { [self] in try await queue.run { try self.read() } }
    }

    private func read() throws -> Data? {
        do {
            let handle = try opened()
            if let piece = try handle.read(upToCount: Self.pieceSize), !piece.isEmpty { return piece }
            try handle.close()
            return nil
        } catch {
            throw RequestError(.unencodableBody, "a file cannot be read", underlying: error)
        }
    }

    private func opened() throws -> FileHandle {
        if let handle { return handle }
        let handle = try FileHandle(forReadingFrom: file)
        self.handle = handle
        if offset > 0 { try handle.seek(toOffset: UInt64(offset)) }
        return handle
    }
}
