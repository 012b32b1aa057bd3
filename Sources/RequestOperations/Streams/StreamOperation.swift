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
/// before the end or the reading Task is cancelled. The reader hears of the end after the operation has its result. If nobody
/// reads, the operation waits with the first bytes until it is cancelled or its deadline passes.
///
/// An attempt that fails is retried as long as the reader has no byte of it. After that the failure is final, because a new
/// response could be another one. The value of the operation is the head of the response.
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

    /// The lines of the body, of at most 1 MiB each, as they arrive. For another bound use
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
