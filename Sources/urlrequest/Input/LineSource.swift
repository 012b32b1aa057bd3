import RequestOperations

/// Where an argument or line is in the input, for messages.
enum InputOrigin: Equatable, CustomStringConvertible {
    /// The argument of this number, from 1.
    case argument(Int)
    /// The line of this number, from 1.
    case line(Int)

    var description: String {
        switch self {
        case .argument(let number): "argument \(number)"
        case .line(let number): "line \(number)"
        }
    }
}

/// A file or standard input from which lines are read.
struct LineSource: Sendable {
    /// The name as it was given.
    let name: String

    private let descriptor: Int32
    /// A read blocks a thread of this queue. No other work needs that thread.
    private let queue = DispatchQueue(label: "urlrequest.LineSource")
    /// The length of a regular file, in bytes; `nil` for any other.
    private let length: Int64?

    /// Opens a source.
    ///
    /// - Parameter name: The path of a file, or `-` for standard input.
    /// - Throws: ``UnusableInput``.
    init(_ name: String) throws {
        self.name = name
        descriptor = name == "-" ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UnusableInput("\(name): \(errorText(errno))") }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw UnusableInput("\(name): \(errorText(errno))") }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw UnusableInput("\(name): \(errorText(EISDIR))") }
        length = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }

    /// Returns a reader that begins at the current position of the source.
    func reader() -> LineReader {
        LineReader { try await read() }
    }

    /// Reads at least one byte, or nothing at the end.
    ///
    /// - Throws: ``UnusableInput``, or `CancellationError` when the Task is cancelled. A read that is under way then
    ///   goes on.
    private func read() async throws -> [UInt8] {
        let (pieces, piece) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        queue.async { [descriptor] in
            piece.yield(with: Result { try readSome(from: descriptor) })
            piece.finish()
        }
        for try await bytes in pieces { return bytes }
        throw CancellationError()
    }

    /// What fraction of the source `count` bytes are; `nil` if its length is not known.
    func fraction(ofBytes count: Int64) -> Double? {
        length.map { $0 > 0 ? min(Double(count) / Double($0), 1) : 1 }
    }
}

/// Reads at least one byte, or nothing at the end.
private func readSome(from descriptor: Int32) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
        while true {
            let result = read(descriptor, buffer.baseAddress, buffer.count)
            if result >= 0 {
                count = result
                return
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process that has the descriptor has made it non-blocking.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, -1)
            default: throw UnusableInput(errorText(errno))
            }
        }
    }
}
