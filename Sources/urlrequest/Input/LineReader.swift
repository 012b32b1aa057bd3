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
