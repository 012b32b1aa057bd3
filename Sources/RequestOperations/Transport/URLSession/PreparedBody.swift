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
            let length = try RequestBody.length(ofFile: url)
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

    /// Reads a stream in a separate Task. The source is code of the caller and may not notice a cancel. We then leave
    /// it behind. An error of the source is thrown unchanged.
    private static func spool(_ stream: BodyStream) async throws -> PreparedBody {
        let noLimit: @Sendable (Duration) -> any Error = { _ in CancellationError() }
        return try await TimeLimit.run(nil, on: ContinuousClock(), exceeded: noLimit) {
            var spool = Spool()
            try await stream.readAll { try spool.append($0) }
            return try spool.finish()
        }
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
                throw RequestError(
                    .unencodableBody, "the body's stream could not be kept in the temporary folder", underlying: error)
            }
        }
    }
}

extension URLSession {
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
final class TemporaryFile: Sendable {
    private let file: HiddenFile

    var url: URL { URL(fileURLWithPath: file.path) }

    /// Makes an empty file.
    init() throws {
        let folder = FileManager.default.temporaryDirectory
        file = try HiddenFile(madeAt: HiddenFile.uniquePath(in: folder), isPrivate: true)
    }

    deinit {
        unlink(file.path)
    }

    func append(_ data: Data) throws {
        try file.append(data)
    }

    /// Reads a part of the file, in pieces of at most 64 KiB.
    func read(_ range: Range<Int>, _ body: (Data) async throws -> Void) async throws {
        var offset = range.lowerBound
        while offset < range.upperBound {
            var piece = Data(count: min(64 << 10, range.upperBound - offset))
            let count = piece.withUnsafeMutableBytes {
                pread(file.descriptor, $0.baseAddress, $0.count, off_t(offset))
            }
            guard count >= 0 else { throw RequestError.fileFailed("read") }
            guard count > 0 else { throw RequestError(.fileChanged, "the body's temporary file was cut short") }
            offset += count
            try await body(piece.prefix(count))
        }
    }
}
