/// A body of the media type `multipart/form-data` (RFC 7578), with parts from memory, from files and from streams.
///
/// ```swift
/// var form = MultipartFormData()
/// form.append("Ada", name: "author")
/// form.append(file: photo, name: "photo")
/// var request = URLRequest(url: url)
/// request.httpMethod = "POST"
/// request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
/// let task = TransportTask.upload(request, from: try form.body())
/// ```
///
/// The body is made while it is sent, and again for a retry. Files and streams are never loaded into memory as a whole.
/// The length is known in advance if the lengths of all parts are known.
///
/// Names and file names are escaped as in browsers (WHATWG HTML, "multipart form data"). `"`, CR and LF become `%22`,
/// `%0D` and `%0A`, so no name can add a field to its part. Two things differ from browsers. A lone CR or LF does not
/// become CRLF. A backslash at the end of a name becomes `%5C`, because many parsers would read it as an escape of the
/// quotation mark.
public struct MultipartFormData: Sendable {
    /// The text that separates the parts. No part may contain it after a line break and `--`.
    public let boundary: String

    private static let bytesOfBoundary = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'()+_,-./:=?".utf8)

    /// The parts in their order.
    public private(set) var parts: [Part] = []

    /// Makes a form without parts.
    ///
    /// - Parameter boundary: 1 to 70 letters, digits and `'()+_,-./:=?` (RFC 2046, section 5.1.1). Anything else is a
    ///   programmer's error. A random boundary by default. Sending fails if a part contains it.
    public init(boundary: String? = nil) {
        if let boundary {
            let isValid =
                (1...70).contains(boundary.utf8.count) && boundary.utf8.allSatisfy(Self.bytesOfBoundary.contains)
            precondition(isValid, "A boundary has 1 to 70 letters, digits and marks that RFC 2046 allows.")
            self.boundary = boundary
        } else {
            self.boundary = "RequestOperations-" + UUID().uuidString
        }
    }

    /// The value of the request's `Content-Type`.
    public var contentType: String {
        let isToken = RequestPreflight.isToken(boundary)
        return "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")
    }

    /// One part: a named value or file.
    public struct Part: Sendable {
        /// The name of the field.
        public let name: String
        /// The name of the file, if the part is a file.
        public let fileName: String?
        /// The media type; `nil` for a text without one.
        public let contentType: String?
        /// The content.
        public let content: RequestBody

        /// Makes a part.
        ///
        /// - Parameters:
        ///   - name: The name of the field. It may be any text.
        ///   - fileName: The name of the file, which may be any text. `nil`, the default, for a plain value.
        ///   - contentType: The media type. By default that of the file name's extension, or none without a file name.
        ///     A type with a line break or a NUL makes ``MultipartFormData/body()`` fail.
        ///   - content: The content.
        public init(name: String, fileName: String? = nil, contentType: String? = nil, content: RequestBody) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType ?? fileName.map(MIMEType.ofFile)
            self.content = content
        }

        /// A part with the content of a file. The file is read while it is sent.
        ///
        /// - Parameters:
        ///   - file: The file.
        ///   - name: The name of the field.
        ///   - fileName: The name that is sent to the server. By default the name of the file.
        ///   - contentType: The media type. By default that of the extension.
        public static func file(
            _ file: URL, name: String, fileName: String? = nil, contentType: String? = nil
        ) -> Part {
            Part(
                name: name, fileName: fileName ?? file.lastPathComponent, contentType: contentType, content: .file(file)
            )
        }
    }

    /// Adds a part.
    public mutating func append(_ part: Part) {
        parts.append(part)
    }

    /// Adds a text.
    public mutating func append(_ text: String, name: String) {
        append(Part(name: name, content: .data(Data(text.utf8))))
    }

    /// Adds bytes; see ``Part/init(name:fileName:contentType:content:)``.
    public mutating func append(_ data: Data, name: String, fileName: String? = nil, contentType: String? = nil) {
        append(Part(name: name, fileName: fileName, contentType: contentType, content: .data(data)))
    }

    /// Adds the content of a file; see ``Part/file(_:name:fileName:contentType:)``.
    public mutating func append(file: URL, name: String, fileName: String? = nil, contentType: String? = nil) {
        append(.file(file, name: name, fileName: fileName, contentType: contentType))
    }

    /// Adds the content of a stream; see ``Part/init(name:fileName:contentType:content:)``.
    ///
    /// If a stream has no known length, the whole body has none.
    public mutating func append(
        _ stream: BodyStream, name: String, fileName: String? = nil, contentType: String? = nil
    ) {
        append(Part(name: name, fileName: fileName, contentType: contentType, content: .stream(stream)))
    }

    /// The body of a request: bytes if all parts are in memory, otherwise a stream.
    ///
    /// The body can be sent again if all streams in it can be sent again. A fault in the content of a file or a stream
    /// makes the transfer fail, with the same code as below.
    ///
    /// - Throws: A ``RequestError`` with the code ``RequestError/Code/unencodableBody``. The causes are:
    ///   - a file whose size cannot be read
    ///   - a media type with a line break or a NUL
    ///   - a part in memory that contains the boundary
    ///   - a stream with a negative length
    ///   - lengths whose sum overflows
    public func body() throws -> RequestBody {
        if let data = try dataInMemory() { return .data(data) }
        let pieces = try MultipartPieces(of: self)
        return .stream(
            BodyStream(length: pieces.length, isReopenable: pieces.isReplayable) { MultipartReader(pieces).reader })
    }

    /// The bytes of the body if all parts are in memory, otherwise `nil`.
    func dataInMemory() throws -> Data? {
        let isInMemory = parts.allSatisfy { part in
            switch part.content {
            case .none, .data: true
            case .file, .stream: false
            }
        }
        guard isInMemory else { return nil }
        return try MultipartPieces(of: self).pieces.reduce(into: Data()) { body, piece in
            switch piece {
            case .framing(let data), .content(.data(let data), _): body += data
            case .content: break
            }
        }
    }
}

/// The media types of files by their extensions.
enum MIMEType {
    /// The type of bytes of unknown content (RFC 2046, section 4.5.1).
    static let octets = "application/octet-stream"

    /// The media type for the extension of a file name, in any case. ``octets`` for an unknown extension.
    static func ofFile(named name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return octets }
        return ofExtension[name[name.index(after: dot)...].lowercased()] ?? octets
    }

    // The types of the IANA registry, and others in common use.
    private static let ofExtension: [String: String] = [
        "txt": "text/plain", "text": "text/plain", "log": "text/plain", "csv": "text/csv",
        "tsv": "text/tab-separated-values",
        "html": "text/html", "htm": "text/html", "css": "text/css", "js": "text/javascript", "mjs": "text/javascript",
        "md": "text/markdown", "ics": "text/calendar", "vcf": "text/vcard", "vtt": "text/vtt",
        "json": "application/json", "jsonld": "application/ld+json", "geojson": "application/geo+json",
        "xml": "application/xml", "atom": "application/atom+xml", "rss": "application/rss+xml",
        "xhtml": "application/xhtml+xml", "plist": "application/x-plist", "yaml": "application/yaml",
        "yml": "application/yaml", "toml": "application/toml", "pdf": "application/pdf", "rtf": "application/rtf",
        "wasm": "application/wasm", "sqlite": "application/vnd.sqlite3", "db": "application/vnd.sqlite3",
        "zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip", "bz2": "application/x-bzip2",
        "xz": "application/x-xz", "zst": "application/zstd", "tar": "application/x-tar",
        "7z": "application/x-7z-compressed",
        "rar": "application/vnd.rar", "jar": "application/java-archive",
        "apk": "application/vnd.android.package-archive",
        "doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation", "epub": "application/epub+zip",
        "p12": "application/x-pkcs12", "pem": "application/x-pem-file",
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "heic": "image/heic", "heif": "image/heif", "svg": "image/svg+xml", "bmp": "image/bmp",
        "tif": "image/tiff", "tiff": "image/tiff", "ico": "image/vnd.microsoft.icon", "jxl": "image/jxl",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "wav": "audio/wav", "flac": "audio/flac",
        "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg", "weba": "audio/webm", "mid": "audio/midi",
        "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm", "mpeg": "video/mpeg",
        "mpg": "video/mpeg", "avi": "video/vnd.avi", "mkv": "video/matroska", "ogv": "video/ogg", "3gp": "video/3gpp",
        "otf": "font/otf", "ttf": "font/ttf", "woff": "font/woff", "woff2": "font/woff2",
    ]
}
