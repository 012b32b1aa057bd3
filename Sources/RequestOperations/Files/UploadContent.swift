/// What an upload sends.
enum UploadContent: Sendable {
    case body(RequestBody)
    case form(MultipartFormData)

    /// The method of a request that names none.
    var method: HTTPMethod {
        switch self {
        case .body: .put
        case .form: .post
        }
    }

    /// The media type of a request that names none.
    var contentType: String? {
        switch self {
        case .form(let form): form.contentType
        case .body(.file(let file)): MIMEType.ofFile(named: file.lastPathComponent)
        case .body: nil
        }
    }

    /// The files that are read while the body is sent.
    var files: [URL] {
        switch self {
        case .body(let body): [body.file].compactMap(\.self)
        case .form(let form): form.parts.compactMap(\.content.file)
        }
    }

    /// The number of bytes, if it is known without making the body. The call blocks on the disk.
    ///
    /// - Throws: A `RequestError` with the code `unencodableBody`.
    var size: Int64? {
        get throws {
            switch self {
            case .body(.none): 0
            case .body(.data(let data)): Int64(data.count)
            case .body(.file(let file)): try FileStamp(of: file).size
            case .body(.stream(let stream)): stream.length
            case .form: nil
            }
        }
    }

    /// Makes the body for one attempt. The call blocks on the disk.
    ///
    /// - Parameter isChunked: Whether the body is sent in chunks even if its length is known.
    /// - Throws: A `RequestError` with the code `unencodableBody`.
    func makeBody(isChunked: Bool) throws -> RequestBody {
        let body =
            switch self {
            case .body(let body): body
            case .form(let form): try form.body()
            }
        return isChunked ? body.inChunks : body
    }
}

extension RequestBody {
    fileprivate var file: URL? {
        if case .file(let file) = self { file } else { nil }
    }

    /// The same bytes as a stream without a length.
    fileprivate var inChunks: RequestBody {
        switch self {
        case .none: .none
        case .data(let data): .stream(BodyStream { BodyStream.Reader(data) })
        case .file(let file): .stream(BodyStream { FileReader(file).reader })
        case .stream(let stream):
            .stream(BodyStream(length: nil, isReopenable: stream.isReopenable, open: stream.open))
        }
    }
}

/// Bytes of a known number, of which any part can be sent.
struct UploadBytes: Sendable {
    private let source: RequestBody
    /// The number of bytes.
    let count: Int64

    /// The bytes of a body, with the size that its file has now. The call blocks on the disk.
    ///
    /// - Throws: A `RequestError`, if the bytes cannot be read, or only once, or if their number is not known.
    init(_ content: UploadContent) throws {
        guard case .body(let body) = content else { throw Self.unsupported("a form") }
        if case .stream(let stream) = body, !stream.isReopenable {
            throw Self.unsupported("a stream that can be opened only once")
        }
        guard let size = try content.size else { throw Self.unsupported("a stream without a length") }
        (source, count) = (body, size)
    }

    private static func unsupported(_ what: String) -> RequestError {
        RequestError(.unsupported, stage: .makeTask, reason: "\(what) cannot be uploaded by tus")
    }

    /// A request body with some of the bytes.
    func body(_ part: Range<Int64>) -> RequestBody {
        switch source {
        case .none: .data(Data())
        case .data(let data): .data(Self.bytes(part, of: data))
        // A whole file goes to the transport as one, which is faster than a stream.
        case .file where part == 0..<count: source
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
        switch source {
        case .none: BodyStream.Reader(Data())
        case .data(let data): BodyStream.Reader(Self.bytes(part, of: data))
        case .file(let file): PartReader(part, of: FileReader(file, from: part.lowerBound).reader).reader
        case .stream(let stream): PartReader(part, of: try await stream.open(), skipping: part.lowerBound).reader
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

/// Reads a part of some bytes. What comes before it is read and dropped.
// Unchecked: a reader of a body is asked for one piece at a time.
private final class PartReader: @unchecked Sendable {
    private let source: BodyStream.Reader
    private var skipped: Int64
    private var rest: Int64

    /// - Parameter skipped: How many bytes the source has before the part. 0 by default.
    init(_ part: Range<Int64>, of source: BodyStream.Reader, skipping skipped: Int64 = 0) {
        self.source = source
        self.skipped = skipped
        rest = part.upperBound - part.lowerBound
    }

    var reader: BodyStream.Reader {
        BodyStream.Reader { try await self.next() }
    }

    private func next() async throws -> Data? {
        while rest > 0 {
            guard var piece = try await source.next() else {
                throw RequestError(
                    .unencodableBody, stage: .transfer, reason: "the body has fewer bytes than it had or declared")
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

/// What tells two states of a file apart without reading it: its size and when it was changed last.
struct FileStamp: Sendable, Hashable, Codable {
    /// The length in bytes.
    let size: Int64
    /// When the file was changed last, in nanoseconds since 1970. Times further than 282 years from 1970 count as these ends.
    let modified: Int64

    /// Reads the present stamp of a regular file. A link is followed. The call blocks on the disk.
    ///
    /// - Throws: A `RequestError` with the code `unencodableBody`.
    init(of file: URL) throws {
        guard file.isFileURL else {
            throw RequestError(.unencodableBody, stage: .makeTask, reason: "the body's URL is not a file URL")
        }
        let attributes: [FileAttributeKey: Any]
        do {
            attributes = try FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)
        } catch {
            throw RequestError(
                .unencodableBody, stage: .makeTask, underlying: error, reason: "the body's file cannot be read")
        }
        guard attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? NSNumber,
            let date = attributes[.modificationDate] as? Date
        else {
            throw RequestError(
                .unencodableBody, stage: .makeTask, reason: "the body's file is not a regular file")
        }
        self.size = size.int64Value
        modified = Int64((min(max(date.timeIntervalSince1970, -8.9e9), 8.9e9) * 1e9).rounded())
    }
}
