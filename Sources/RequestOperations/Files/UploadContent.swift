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
