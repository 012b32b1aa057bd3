import RequestOperations

/// Splits what a descriptor gives into lines, each as soon as its end has arrived.
///
/// A line ends with LF or CRLF, the last one also with the end of the input; a byte order mark before the first one is
/// no part of it.
struct LineReader {
    /// One line of the input.
    enum Line: Equatable {
        /// Its bytes without the end of the line.
        case bytes(ArraySlice<UInt8>)
        /// It is longer than the reader keeps.
        case tooLong
    }

    /// The longest line that is kept, in bytes: a request with its body stands on one.
    static let maximumLength = 16 << 20

    private let source: () async throws -> [UInt8]
    private let maximumLength: Int
    private var buffer: [UInt8] = []
    /// Where the line begins that comes next.
    private var start = 0
    /// There is no end of a line between `start` and here.
    private var scanned = 0
    private var isSkipping = false
    private var isAtEnd = false
    private var isFirst = true

    /// How many bytes of the input belong to lines that were given out.
    private(set) var consumed: Int64 = 0

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - maximumLength: The longest line that is kept, in bytes; what follows of a longer one is read and dropped.
    ///   - source: Returns the next bytes, none at the end. It may wait until there are some.
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
