/// The lines of a response as they arrive. ``StreamOperation/lines`` is such a sequence.
///
/// A line ends with LF or CRLF, which do not belong to it. The last line may have no end. The text is UTF-8. Bytes that are
/// not become U+FFFD. For the pace and the end, see ``StreamBytes``.
public struct StreamLines: AsyncSequence, Sendable {
    /// A line without its end.
    public typealias Element = String

    let bytes: StreamBytes
    let maximumLength: Int

    /// Begins to read. It traps if the body of the operation was iterated before.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            reader: bytes.makeAsyncIterator().reader,
            parser: LineParser(.lineFeeds, maximumLength: maximumLength), maximumLength: maximumLength)
    }

    /// Reads line by line.
    public struct Iterator: AsyncIteratorProtocol {
        /// `nil` after the end.
        fileprivate var reader: StreamReader<Data>?
        fileprivate var parser: LineParser
        fileprivate let maximumLength: Int

        /// The next line; `nil` when the operation has succeeded.
        ///
        /// - Throws: The error of the operation, a `CancellationError`, or a ``RequestError`` with the code
        ///   ``RequestError/Code/lineTooLong``. After that, the sequence is at its end.
        public mutating func next() async throws -> String? {
            do {
                while let reader {
                    if let line = try parser.next() { return String(decoding: line, as: UTF8.self) }
                    if let piece = try await reader.next() {
                        parser.append(piece)
                    } else {
                        let last = try parser.finish()
                        self.reader = nil
                        return last.map { String(decoding: $0, as: UTF8.self) }
                    }
                }
                return nil
            } catch {
                defer { reader = nil }
                guard error is LineParser.TooLong, let reader else { throw error }
                throw reader.fail(
                    RequestError(.lineTooLong, stage: .decode, reason: "a line has more than \(maximumLength) bytes"))
            }
        }
    }
}

extension StreamLines: CustomStringConvertible, CustomReflectable {
    /// The method and the location of the request.
    public var description: String { "lines of \(Redaction.line(of: bytes.operation.runner.original))" }

    /// No children, so that `dump` does not show the request.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
