/// Cuts bytes into lines. A pure value, which gets the bytes in pieces of any size.
///
/// Call ``next()`` after each ``append(_:)`` until it returns `nil`.
struct LineParser: Sendable {
    /// What ends a line.
    enum Ends: Sendable {
        /// LF and CRLF. A CR elsewhere belongs to its line.
        case lineFeeds
        /// LF, CRLF and CR.
        case all
    }

    /// A line has more bytes than it may have.
    struct TooLong: Error {}

    private let ends: Ends
    let maximumLength: Int
    /// The bytes that were not returned yet, after some that were.
    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// The bytes before this place do not contain the end of the next line.
    private var searched = 0
    /// Whether the last line ended with a CR. An LF that follows belongs to that end.
    private var skipsLineFeed = false

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Makes a parser.
    ///
    /// - Parameters:
    ///   - ends: What ends a line.
    ///   - maximumLength: How many bytes a line has at most, without its end.
    init(_ ends: Ends, maximumLength: Int) {
        self.ends = ends
        self.maximumLength = maximumLength
    }

    /// Adds the next bytes.
    mutating func append(_ data: Data) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        bytes.append(contentsOf: data)
    }

    /// The next complete line, without its end; `nil` if more bytes are needed.
    ///
    /// - Throws: `TooLong`, as soon as that is certain.
    mutating func next() throws -> ArraySlice<UInt8>? {
        skipLineFeed()
        guard let end = bytes[searched...].firstIndex(where: isEnd) else {
            searched = bytes.count
            // The last CR may belong to the end of the line.
            let isSplit = ends == .lineFeeds && bytes[start...].last == Self.carriageReturn
            try check(bytes.count - start - (isSplit ? 1 : 0))
            return nil
        }
        var line = bytes[start..<end]
        if ends == .lineFeeds, line.last == Self.carriageReturn { line.removeLast() }
        skipsLineFeed = bytes[end] == Self.carriageReturn
        start = end + 1
        searched = start
        try check(line.count)
        return line
    }

    /// The last line, if the bytes ended without its end; `nil` if there is none.
    ///
    /// - Throws: `TooLong`.
    mutating func finish() throws -> ArraySlice<UInt8>? {
        skipLineFeed()
        defer {
            start = bytes.count
            searched = start
        }
        try check(bytes.count - start)
        return start == bytes.count ? nil : bytes[start...]
    }

    private mutating func skipLineFeed() {
        guard skipsLineFeed, start < bytes.count else { return }
        skipsLineFeed = false
        if bytes[start] == Self.lineFeed { start += 1 }
        searched = max(searched, start)
    }

    private func isEnd(_ byte: UInt8) -> Bool {
        byte == Self.lineFeed || ends == .all && byte == Self.carriageReturn
    }

    private func check(_ length: Int) throws {
        if length > maximumLength { throw TooLong() }
    }
}

extension RequestError.Code {
    /// A line of a stream, or a server-sent event, is longer than its limit.
    public static let lineTooLong = Self("lineTooLong")
}
