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
            if case .body(let body) = self { try body.size } else { nil }
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
        isNone ? self : .stream(BodyStream(length: nil, isReopenable: isReplayable) { try await reader() })
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
        case .data(let data): .data(data.dropFirst(Int(part.lowerBound)).prefix(part.count))
        // A whole file goes to the transport as one, which is faster than a stream.
        case .file where part == 0..<count: source
        case .file, .stream:
            .stream(BodyStream(length: Int64(part.count)) { try await reader(of: part) })
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
        if case .file(let file) = source {
            return FileReader(file, from: part.lowerBound).reader.part(part, from: part.lowerBound)
        }
        return try await source.reader().part(part, from: 0)
    }
}

extension BodyStream.Reader {
    /// Reads a part of the bytes. What comes before it is read and dropped.
    ///
    /// - Parameter start: The place of the first byte that this reader reads.
    fileprivate func part(_ part: Range<Int64>, from start: Int64) -> Self {
        let place = Locked(start)
        return Self {
            while place.withLock({ $0 }) < part.upperBound {
                guard let piece = try await next() else {
                    throw RequestError(
                        .unencodableBody, stage: .transfer, reason: "the body has fewer bytes than it had or declared")
                }
                let start = place.withLock { place in
                    defer { place += Int64(piece.count) }
                    return place
                }
                let skipped = Int(clamping: max(part.lowerBound - start, 0))
                let rest = Int(clamping: part.upperBound - max(part.lowerBound, start))
                let wanted = piece.dropFirst(skipped).prefix(rest)
                if !wanted.isEmpty { return wanted }
            }
            return nil
        }
    }
}
