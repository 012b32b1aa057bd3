import RequestOperations

/// Splits the bytes of a descriptor into lines. It returns each line as soon as its end has arrived.
///
/// A line ends with LF or CRLF. The end of the input also ends the last line. A byte order mark before the first line
/// is dropped.
struct LineReader {
    /// One line of the input.
    enum Line: Equatable {
        /// Its bytes without the end of the line.
        case bytes(ArraySlice<UInt8>)
        /// The line is longer than the reader keeps.
        case tooLong
    }

    /// The longest line that is kept, in bytes. A request with its body must fit on one line.
    static let maximumLength = 16 << 20

    private let source: () async throws -> [UInt8]
    private let maximumLength: Int
    private var buffer: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// There is no line end between `start` and this position.
    private var scanned = 0
    private var isSkipping = false
    private var isAtEnd = false
    private var isFirst = true

    /// How many bytes of the input belong to lines that have been returned.
    private(set) var consumed: Int64 = 0

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - maximumLength: The longest line that is kept, in bytes. The rest of a longer line is read and dropped.
    ///   - source: Returns the next bytes, or none at the end. It may wait for bytes.
    init(maximumLength: Int = LineReader.maximumLength, reading source: @escaping () async throws -> [UInt8]) {
        self.maximumLength = maximumLength
        self.source = source
    }

    /// The next line, or `nil` at the end of the input.
    mutating func next() async throws -> Line? {
        while true {
            if let end = buffer[scanned...].firstIndex(of: UInt8(ascii: "\n")) { return take(to: end, next: end + 1) }
            scanned = buffer.count
            if isAtEnd {
                guard isSkipping || start < buffer.count else { return nil }
                return take(to: buffer.count, next: buffer.count)
            }
            try await fill()
        }
    }

    /// The next line, if it is there already.
    mutating func nextWithoutWaiting() -> Line? {
        buffer[scanned...].firstIndex(of: UInt8(ascii: "\n")).map { take(to: $0, next: $0 + 1) }
    }

    private mutating func take(to end: Int, next: Int) -> Line {
        var line = buffer[start..<end]
        consumed += Int64(next - start)
        start = next
        scanned = next
        defer {
            isSkipping = false
            isFirst = false
        }
        if isSkipping || line.count > maximumLength { return .tooLong }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if isFirst, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        return .bytes(line)
    }

    private mutating func fill() async throws {
        if buffer.count - start > maximumLength { isSkipping = true }
        if isSkipping {
            consumed += Int64(buffer.count - start)
            buffer.removeAll(keepingCapacity: false)
        } else {
            buffer.removeSubrange(..<start)
        }
        start = 0
        scanned = buffer.count
        let piece = try await source()
        isAtEnd = piece.isEmpty
        buffer.append(contentsOf: piece)
    }
}

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
