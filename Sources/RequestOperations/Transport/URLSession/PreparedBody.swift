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
    /// The temporary file is removed when the last reference is released.
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
    /// it behind. An error of the source is thrown unchanged.
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

extension URLSession {
    /// Makes a task that sends a request with a body.
    func task(with request: URLRequest, _ body: PreparedBody) -> URLSessionTask {
        switch body {
        case .none: dataTask(with: request)
        case .data(let data) where data.isEmpty: dataTask(with: request)
        // We use an upload task, since Foundation invents a media type for the body of a data task.
        case .data(let data): uploadTask(with: request, from: data)
        case .file(let url, let length): uploadTask(with: request, from: url, length: length)
        case .spooled(let file, let length): uploadTask(with: request, from: file.url, length: length)
        }
    }

    /// Makes a task that sends a request with the first `length` bytes of a file as its body.
    private func uploadTask(with request: URLRequest, from file: URL, length: Int64) -> URLSessionTask {
        #if canImport(FoundationNetworking)
            dataTask(with: request.carrying(FileBodyStream(file, length: length)))
        #else
            uploadTask(with: request, fromFile: file)
        #endif
    }
}

#if canImport(FoundationNetworking)
    /// A file as the body of a request, for Foundation on Linux.
    ///
    /// Foundation's own upload from a file kills the process. It reads the file in parallel with the transfer, and
    /// traps when a piece comes after the transfer has ended. That happens when a transfer is cancelled or refused
    /// midway. With a stream, Foundation takes the bytes only at the moment when it sends them.
    final class FileBodyStream: InputStream {
        let length: Int64
        private let file: InputStream
        private var left: Int64

        /// Makes a stream of the first bytes of a file. It fails if the file turns out to have fewer bytes.
        init(_ url: URL, length: Int64) {
            self.length = length
            left = length
            file = InputStream(url: url) ?? InputStream(data: Data())
            super.init(data: Data())
        }

        override func open() { file.open() }

        override func close() { file.close() }

        override var streamStatus: Status { file.streamStatus }

        override var streamError: (any Error)? { file.streamError }

        override var hasBytesAvailable: Bool { left > 0 }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            guard left > 0 else { return 0 }
            let count = file.read(buffer, maxLength: Int(min(Int64(maxLength), left)))
            guard count > 0 else { return -1 }
            left -= Int64(count)
            return count
        }
    }

    extension URLRequest {
        /// The request with a stream as its body. The length of the stream is sent too.
        fileprivate func carrying(_ stream: FileBodyStream) -> URLRequest {
            var request = self
            request.httpBodyStream = stream
            request.setValue("\(stream.length)", forHTTPHeaderField: "Content-Length")
            // libcurl drops a field whose value is blank, and does not send its own field of that name either. Without
            // that, the request would have chunks and a media type that Foundation invents for streams.
            for name in ["Transfer-Encoding", "Content-Type"] where request.value(forHTTPHeaderField: name) == nil {
                request.setValue(" ", forHTTPHeaderField: name)
            }
            return request
        }
    }
#endif

/// A file of ours in the temporary folder. Only this user can read it. It is removed when the last reference is
/// released.
///
/// One thread at a time appends to it. Another thread can read any part of it.
// Unchecked: each handle is used by one side only, and each has its own offset.
final class TemporaryFile: @unchecked Sendable {
    let url: URL
    private let writer: FileHandle
    private let reader: FileHandle

    /// Makes an empty file.
    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("RequestOperations-\(UUID().uuidString)")
        guard
            FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path]) }
        writer = try FileHandle(forWritingTo: url)
        reader = try FileHandle(forReadingFrom: url)
    }

    deinit {
        // It does no harm if the file has been removed already.
        try? FileManager.default.removeItem(at: url)
    }

    func append(_ data: Data) throws {
        try writer.write(contentsOf: data)
    }

    /// Reads a part of the file, in pieces of at most 64 KiB.
    func read(_ range: Range<Int>, _ body: (Data) async throws -> Void) async throws {
        var offset = range.lowerBound
        while offset < range.upperBound {
            try reader.seek(toOffset: UInt64(offset))
            guard let piece = try reader.read(upToCount: min(64 << 10, range.upperBound - offset)), !piece.isEmpty
            else {
                throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: url.path])
            }
            offset += piece.count
            try await body(piece)
        }
    }
}
