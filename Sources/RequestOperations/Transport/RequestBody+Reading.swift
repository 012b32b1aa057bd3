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

extension RequestBody {
    /// The number of bytes; `nil` for a stream of unknown length. The call blocks on the disk.
    ///
    /// - Throws: A `RequestError` with the code `unencodableBody`.
    var size: Int64? {
        get throws {
            switch self {
            case .none: 0
            case .data(let data): Int64(data.count)
            case .file(let file): try FileStamp(of: file).size
            case .stream(let stream): stream.length
            }
        }
    }

    /// Opens the body at its first byte.
    func reader() async throws -> BodyStream.Reader {
        switch self {
        case .none: BodyStream.Reader(Data())
        case .data(let data): BodyStream.Reader(data)
        case .file(let file): FileReader(file).reader
        case .stream(let stream): try await stream.open()
        }
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
