/// An operation whose response is read as it arrives.
///
/// ```swift
/// let operation = StreamOperation(url)
/// queue.addOperation(operation)
/// for try await line in operation.lines { print(line) }
/// ```
///
/// ``bytes`` and ``lines`` are two ways to read the same body: use one of them, once. The reader sets the pace. While it does
/// not ask, the transfer pauses and nothing piles up in memory. The operation keeps its place in the queue and its slot of
/// a limiter until it ends.
///
/// The operation ends with the last byte, with an error, or when it is cancelled. It is cancelled when the iterator is dropped
/// before the end or the reading Task is cancelled. The reader gets the end after the operation has its result. If nobody reads,
/// the operation waits with the first bytes until it is cancelled or its deadline passes.
///
/// An attempt that fails is retried while the reader has no byte of it. After that the failure is final, because a new response
/// could have another body. The value of the operation is the head of the response.
///
/// ## Subclassing
///
/// All stages of ``URLRequestOperation`` can be overridden. An override of ``makeTask(for:)`` must return the task of `super`,
/// which it may change except for its destination.
// Unchecked, as its superclass is. This class adds only a constant.
open class StreamOperation: URLRequestOperation<ResponseHead>, @unchecked Sendable {
    private let handover = Handover<Data>()

    /// Makes an operation that reads the response to a request.
    ///
    /// - Parameters:
    ///   - request: The request. Each attempt is processed from it.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given. Its
    ///     ``RequestConfiguration/attemptTimeLimit`` includes the time that the reader takes.
    public init(_ request: URLRequest, configuration: RequestConfiguration = .default) {
        super.init(request, decoder: .head, configuration: configuration)
    }

    /// Makes an operation that reads the response to a GET of a URL.
    public convenience init(_ url: URL, configuration: RequestConfiguration = .default) {
        self.init(URLRequest(url: url), configuration: configuration)
    }

    /// The body in pieces, as it arrives. It can be iterated once.
    public final var bytes: StreamBytes { StreamBytes(handover: handover, operation: self) }

    /// The lines of the body, of at most 1 MiB each, as they arrive. For another limit, use
    /// ``StreamBytes/lines(maximumLength:)``.
    public final var lines: StreamLines { bytes.lines }

    // MARK: Stages

    /// Makes the task that hands the body to the reader.
    open override func makeTask(for request: URLRequest) async throws -> TransportTask {
        let attempt = handover.begin()
        guard !handover.hasHandedOver else {
            throw RequestError(
                .unsupported, stage: .makeTask, reason: "the reader has a part of an earlier response already")
        }
        return .stream(request) { [handover] piece in try await handover.send(piece, from: attempt) }
    }

    /// Asks the retry policy, unless the reader has a part of the response.
    open override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        if handover.hasHandedOver { return .stop }
        return await super.retryDecision(after: failure)
    }

    // MARK: Calls from the superclass

    final override var isProcessedByAdapters: Bool {
        type(of: self) == StreamOperation.self
    }
}

/// The body of a response as it arrives, in pieces. ``StreamOperation/bytes`` is such a sequence.
///
/// It can be iterated once. The iteration sets the pace: the transfer pauses while nobody asks for the next piece. When the
/// iterator is dropped before the end, or its Task is cancelled, the operation is cancelled.
public struct StreamBytes: AsyncSequence, Sendable {
    /// A piece of the body. It is not empty. Its size depends on the transport and the network.
    public typealias Element = Data

    let handover: Handover<Data>
    let operation: RetryingOperation<ResponseHead>

    /// The most bytes in a line by default: 1 MiB.
    public static let defaultMaximumLineLength = 1 << 20

    /// The lines of the body, of at most 1 MiB each. See ``lines(maximumLength:)``.
    public var lines: StreamLines { lines(maximumLength: Self.defaultMaximumLineLength) }

    /// The lines of the body.
    ///
    /// - Parameter maximumLength: The most bytes in a line, without its end. A longer line ends the operation with
    ///   ``RequestError/Code/lineTooLong``.
    public func lines(maximumLength: Int) -> StreamLines {
        let (handover, operation) = (handover, operation)
        return StreamLines {
            "lines of \(Redaction.line(of: operation.runner.original))"
        } begin: {
            // `nil` after the end.
            var reader: StreamReader<Data>? = StreamReader(handover, of: operation)
            var parser = LineParser(.lineFeeds, maximumLength: maximumLength)
            return ElementIterator {
                do {
                    while let source = reader {
                        if let line = try parser.next() { return String(decoding: line, as: UTF8.self) }
                        if let piece = try await source.next() {
                            parser.append(piece)
                        } else {
                            let last = try parser.finish()
                            reader = nil
                            return last.map { String(decoding: $0, as: UTF8.self) }
                        }
                    }
                    return nil
                } catch {
                    defer { reader = nil }
                    guard error is LineParser.TooLong, let reader else { throw error }
                    throw reader.fail(
                        RequestError(
                            .lineTooLong, stage: .decode, reason: "a line has more than \(maximumLength) bytes"))
                }
            }
        }
    }

    /// Begins to read. It traps if the body of the operation was iterated before.
    public func makeAsyncIterator() -> ElementIterator<Data> {
        let reader = StreamReader(handover, of: operation)
        return ElementIterator { try await reader.next() }
    }
}

extension StreamBytes: CustomStringConvertible, OpaqueReflectable {
    /// The method and the location of the request.
    public var description: String { "bytes of \(Redaction.line(of: operation.runner.original))" }
}

/// The lines of a response as they arrive. ``StreamOperation/lines`` is such a sequence.
///
/// A line ends with LF or CRLF, which do not belong to it. The last line may have no end. The text is UTF-8. Invalid bytes become
/// U+FFFD. A line that is too long is an error with the code ``RequestError/Code/lineTooLong``. The lines can be iterated once.
/// For the pace and the end, see ``StreamBytes``.
public typealias StreamLines = ElementSequence<String>
