/// Bytes of a known number, of which any part can be sent.
enum UploadBytes: Sendable {
    case data(Data)
    case file(URL, size: Int64)
    case stream(BodyStream, length: Int64)

    /// The bytes of a body, with the size that its file has now. The call blocks on the disk.
    ///
    /// - Throws: A `RequestError`, if the bytes cannot be read, or only once, or if their number is not known.
    init(_ content: UploadContent) throws {
        switch content {
        case .body(.none): self = .data(Data())
        case .body(.data(let data)): self = .data(data)
        case .body(.file(let file)): self = .file(file, size: try FileStamp(of: file).size)
        case .body(.stream(let stream)):
            guard let length = stream.length else { throw Self.unsupported("a stream without a length") }
            guard stream.isReopenable else { throw Self.unsupported("a stream that can be opened only once") }
            self = .stream(stream, length: length)
        case .form: throw Self.unsupported("a form")
        }
    }

    private static func unsupported(_ what: String) -> RequestError {
        RequestError(.unsupported, stage: .makeTask, reason: "\(what) cannot be uploaded by tus")
    }

    /// The number of bytes.
    var count: Int64 {
        switch self {
        case .data(let data): Int64(data.count)
        case .file(_, let size): size
        case .stream(_, let length): length
        }
    }

    /// A request body with some of the bytes.
    func body(_ part: Range<Int64>) -> RequestBody {
        switch self {
        case .data(let data): .data(Self.bytes(part, of: data))
        // A whole file goes to the transport as one, which is faster than a stream.
        case .file(let file, let size) where part == 0..<size: .file(file)
        case .file, .stream:
            .stream(BodyStream(length: part.upperBound - part.lowerBound) { try await reader(of: part) })
        }
    }

    /// The SHA-256 digest of some of the bytes, which are read for it.
    func digest(of part: Range<Int64>) async throws -> Data {
        let digest = SHA2(.sha256)
        let reader = try await reader(of: part)
        while let piece = try await reader.next() { digest.update(piece) }
        return digest.digest
    }

    private func reader(of part: Range<Int64>) async throws -> BodyStream.Reader {
        switch self {
        case .data(let data): return BodyStream.Reader(Self.bytes(part, of: data))
        case .file(let file, _): return FileReader(file, part: part).reader
        case .stream(let stream, _): return StreamPart(part, of: try await stream.open()).reader
        }
    }

    private static func bytes(_ part: Range<Int64>, of data: Data) -> Data {
        data.dropFirst(Int(part.lowerBound)).prefix(Int(part.upperBound - part.lowerBound))
    }
}

extension BodyStream.Reader {
    /// Makes a reader of bytes in memory.
    init(_ data: Data) {
        let rest = Locked<Data?>(data)
        self.init {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
    }
}

/// Reads a part of a stream. What comes before it is read and dropped.
// Unchecked: a reader of a body is asked for one piece at a time.
private final class StreamPart: @unchecked Sendable {
    private let source: BodyStream.Reader
    private var skipped: Int64
    private var rest: Int64

    init(_ part: Range<Int64>, of source: BodyStream.Reader) {
        self.source = source
        skipped = part.lowerBound
        rest = part.upperBound - part.lowerBound
    }

    var reader: BodyStream.Reader {
        BodyStream.Reader { try await self.next() }
    }

    private func next() async throws -> Data? {
        while rest > 0 {
            guard var piece = try await source.next() else {
                throw RequestError(
                    .unencodableBody, stage: .transfer,
                    reason: "the body's stream did not give the bytes that it declared")
            }
            let dropped = min(skipped, Int64(piece.count))
            skipped -= dropped
            piece = piece.dropFirst(Int(dropped)).prefix(Int(clamping: rest))
            guard !piece.isEmpty else { continue }
            rest -= Int64(piece.count)
            return piece
        }
        return nil
    }
}
