/// A request body in one of the forms that URLSession can send without waiting for anybody.
///
/// A session task on Linux that reads from a stream stops all sessions of the process while the stream has nothing to
/// give. So a stream is read to its end first, up to 64 KiB into memory and beyond into a temporary file, and only then is
/// the request sent, with its length. That also lets a body that can be opened only once survive a dead connection.
enum PreparedBody: Sendable {
    case none
    case data(Data)
    case file(URL, length: Int64)
    /// The temporary file is removed when the last reference goes.
    case spooled(TemporaryFile, length: Int64)

    /// How much of a stream is kept in memory.
    private static let memorySize = 64 << 10

    init(_ body: RequestBody) async throws {
        switch body {
        case .none: self = .none
        case .data(let data): self = .data(data)
        case .file(let url): self = .file(url, length: try Self.length(of: url))
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

    /// Only a regular file is sent: another kind may block the thread that reads it, which all transfers share.
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

    private static func spool(_ stream: BodyStream) async throws -> PreparedBody {
        do {
            let reader = try await stream.open()
            var memory = Data()
            var file: TemporaryFile?
            var length: Int64 = 0
            while let piece = try await reader.next() {
                try Task.checkCancellation()
                length += Int64(piece.count)
                if let expected = stream.length, length > expected { throw Self.wrongLength(expected) }
                memory.append(piece)
                guard memory.count > memorySize else { continue }
                if file == nil { file = try TemporaryFile() }
                try file?.append(memory)
                memory = Data()
            }
            try Task.checkCancellation()
            if let expected = stream.length, length != expected { throw Self.wrongLength(expected) }
            guard let file else { return .data(memory) }
            try file.append(memory)
            return .spooled(file, length: length)
        } catch let error where error is CancellationError || error is RequestError {
            throw error
        } catch {
            throw unencodable(error, "the body's stream failed")
        }
    }

    private static func wrongLength(_ expected: Int64) -> RequestError {
        unencodable(nil, "the body's stream did not give the \(expected) bytes that it declared")
    }

    private static func unencodable(_ error: (any Error)?, _ reason: String) -> RequestError {
        RequestError(.unencodableBody, stage: .transfer, underlying: error, reason: reason)
    }
}
