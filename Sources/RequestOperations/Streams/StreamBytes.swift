/// The body of a response as it arrives, in pieces. ``StreamOperation/bytes`` is such a sequence.
///
/// It can be iterated once. The iteration sets the pace: the transfer pauses while nobody asks for the next piece. When the
/// iterator is dropped before the end, or its Task is cancelled, the operation is cancelled.
public struct StreamBytes: AsyncSequence, Sendable {
    /// A piece of the body. It is not empty. Its size depends on the transport and the network.
    public typealias Element = Data

    let handover: Handover<Data>
    let operation: RetryingOperation<ResponseHead>

    /// How many bytes a line has at most if nothing else is said: 1 MiB.
    public static let defaultMaximumLineLength = 1 << 20

    /// The lines of the body, of at most 1 MiB each. See ``lines(maximumLength:)``.
    public var lines: StreamLines { lines(maximumLength: Self.defaultMaximumLineLength) }

    /// The lines of the body.
    ///
    /// - Parameter maximumLength: How many bytes a line has at most, without its end. A longer line ends the operation with
    ///   ``RequestError/Code/lineTooLong``.
    public func lines(maximumLength: Int) -> StreamLines {
        StreamLines(bytes: self, maximumLength: maximumLength)
    }

    /// Begins to read. It traps if the body of the operation was iterated before.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: StreamReader(handover, of: operation))
    }

    /// Reads piece by piece.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: StreamReader<Data>

        /// The next piece; `nil` when the operation has succeeded.
        ///
        /// - Throws: The error of the operation, or a `CancellationError`. After that, the sequence is at its end.
        public mutating func next() async throws -> Data? {
            try await reader.next()
        }
    }
}

extension StreamBytes: CustomStringConvertible, CustomReflectable {
    /// The method and the location of the request.
    public var description: String { "bytes of \(Redaction.line(of: operation.runner.original))" }

    /// No children, so that `dump` does not show the request.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
