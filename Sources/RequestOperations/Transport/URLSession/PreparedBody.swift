/// A request body in a form that URLSession can send without waiting for a source.
///
/// On Linux, a session task that reads from a stream stops all sessions of the process while the stream has no bytes.
/// So we first read a stream to its end, up to 64 KiB into memory and beyond that into a temporary file. Only then do
/// we send the request, with the length of the body. A body that can be opened only once can then also be sent again
/// after a dead connection.
enum PreparedBody: Sendable {
    case none
    case data(Data)
    case file(URL, length: Int64)
    /// The temporary file is removed when the last reference goes.
    case spooled(TemporaryFile, length: Int64)

    /// How many bytes of a stream are kept in memory.
    private static let memorySize = 64 << 10

    init(_ body: RequestBody) async throws {
        switch body {
        case .none: self = .none
        case .data(let data): self = .data(data)
        case .file(let url):
            let length = try Self.length(of: url)
            self = length > 0 ? .file(url, length: length) : .data(Data())
        case .stream(let stream): self = try await Self.spool(stream)
        }
    }

    var length: Int64? {
        switch self {
        case .none: nil
        case .data(let data): Int64(data.count)
        case .file(_, let length), .spooled(_, let length): length
        }
    }

    /// The length of a file. Only a regular file is sent. Another kind may block the thread that reads it and that all
    /// transfers share.
    private static func length(of url: URL) throws -> Int64 {
        do {
            let values = try url.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            guard values.isRegularFile == true, let size = values.fileSize else {
                throw unencodable(nil, "the body's file is not a regular file")
            }
            guard FileManager.default.isReadableFile(atPath: url.path) else {
                throw unencodable(nil, "the body's file may not be read")
            }
            return Int64(size)
        } catch let error as RequestError {
            throw error
        } catch {
            throw unencodable(error, "the body's file cannot be read")
        }
    }

    /// Reads a stream in a separate Task. The source is code of the caller and may not notice a cancel. We then leave
    /// it behind. An error of the source comes out unchanged.
    private static func spool(_ stream: BodyStream) async throws -> PreparedBody {
        let answer = Answer<PreparedBody>()
        let task = Task { answer.resume(with: await Result(catching: { try await read(stream) })) }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            task.cancel()
            answer.resume(with: .failure(CancellationError()))
        }
    }

    private static func read(_ stream: BodyStream) async throws -> PreparedBody {
        let reader = try await stream.open()
        var spool = Spool()
        while let piece = try await reader.next() {
            try Task.checkCancellation()
            try spool.append(piece)
            if let expected = stream.length, spool.length > expected { throw Self.wrongLength(expected) }
        }
        if let expected = stream.length, spool.length != expected { throw Self.wrongLength(expected) }
        return try spool.finish()
    }

    /// Collects bytes in memory, and in a file when there are many.
    private struct Spool {
        private var memory = Data()
        private var file: TemporaryFile?
        private(set) var length: Int64 = 0

        mutating func append(_ piece: Data) throws {
            length += Int64(piece.count)
            memory.append(piece)
            if memory.count > PreparedBody.memorySize { try flush() }
        }

        mutating func finish() throws -> PreparedBody {
            guard file != nil else { return .data(memory) }
            return .spooled(try flush(), length: length)
        }

        @discardableResult
        private mutating func flush() throws -> TemporaryFile {
            do {
                let file = try file ?? TemporaryFile()
                try file.append(memory)
                self.file = file
                memory = Data()
                return file
            } catch {
                throw unencodable(error, "the body's stream could not be kept in the temporary folder")
            }
        }
    }

    private static func wrongLength(_ expected: Int64) -> RequestError {
        unencodable(nil, "the body's stream did not give the \(expected) bytes that it declared")
    }

    private static func unencodable(_ error: (any Error)?, _ reason: String) -> RequestError {
        RequestError(.unencodableBody, stage: .transfer, underlying: error, reason: reason)
    }
}
