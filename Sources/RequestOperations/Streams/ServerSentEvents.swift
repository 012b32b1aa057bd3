/// The events of a server as they arrive, over all connections. ``EventSourceOperation/serverSentEvents`` is such a sequence.
///
/// It can be iterated once. The iteration sets the pace: the transfer pauses while nobody asks for the next event. When the
/// iterator is dropped before the end, or its Task is cancelled, the operation is cancelled.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let handover: Handover<[ServerSentEvent]>
    let operation: RetryingOperation<ResponseHead>

    /// Begins to read. It traps if the events of the operation were iterated before.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: StreamReader(handover, of: operation))
    }

    /// Reads event by event.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: StreamReader<[ServerSentEvent]>
        /// The events that have arrived and were not returned yet.
        private var events: ArraySlice<ServerSentEvent> = []

        fileprivate init(reader: StreamReader<[ServerSentEvent]>) {
            self.reader = reader
        }

        /// The next event; `nil` when the operation has succeeded.
        ///
        /// - Throws: The error of the operation, or a `CancellationError`. After that, the sequence is at its end.
        public mutating func next() async throws -> ServerSentEvent? {
            while events.isEmpty {
                guard let arrived = try await reader.next() else { return nil }
                events = arrived[...]
            }
            return events.removeFirst()
        }
    }
}

extension ServerSentEvents: CustomStringConvertible, CustomReflectable {
    /// The method and the location of the request.
    public var description: String { "events of \(Redaction.line(of: operation.runner.original))" }

    /// No children, so that `dump` does not show the request.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
