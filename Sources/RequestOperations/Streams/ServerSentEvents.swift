/// The events of a server as they arrive, over all connections. ``EventSourceOperation/serverSentEvents`` is such a sequence.
///
/// It can be iterated once. The iteration sets the pace: the transfer pauses while nobody asks for the next event. When the
/// iterator is dropped before the end, or its Task is cancelled, the operation is cancelled.
public typealias ServerSentEvents = ElementSequence<ServerSentEvent>

extension ServerSentEvents {
    init(_ handover: Handover<[ServerSentEvent]>, of operation: RetryingOperation<ResponseHead>) {
        self.init {
            "events of \(Redaction.line(of: operation.runner.original))"
        } begin: {
            let reader = StreamReader(handover, of: operation)
            // The events that have arrived and were not returned yet.
            var events: ArraySlice<ServerSentEvent> = []
            return ElementIterator {
                while events.isEmpty {
                    guard let arrived = try await reader.next() else { return nil }
                    events = arrived[...]
                }
                return events.removeFirst()
            }
        }
    }
}

/// An event of a stream of server-sent events (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event. `message` if the server names none.
    public let type: String

    /// The data of the event. Its lines are joined by LF.
    public let data: String

    /// The last id that the server had sent when this event was complete. Empty if it has sent none.
    ///
    /// Pass it to a new ``EventSourceOperation`` to continue after a restart of the process.
    public let id: String

    /// Makes an event, for tests.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

extension ServerSentEvent: CustomStringConvertible {
    /// The type, and the number of bytes of the data.
    public var description: String { "\(type) event of \(data.utf8.count) bytes" }
}

/// Reads events from the bytes of one response (WHATWG HTML, section 9.2.6). A pure value.
struct ServerSentEventParser: Sendable {
    /// What some bytes yield.
    struct Yield: Sendable {
        var events: [ServerSentEvent] = []
        /// The id for `Last-Event-ID`, as of the last event that is complete.
        var lastEventID: String
        /// The last time that the server gave to wait before a new connection; `nil` if it gave none.
        var reconnectionTime: Duration?
        /// Whether a line or an event was too long. Nothing follows.
        var isTooLong = false
    }

    private let maximumSize: Int
    private var lines: LineParser
    private var isFirstLine = true
    private var reconnectionTime: Duration?
    private var lastEventID: String
    // The event that is not complete.
    private var type = ""
    private var data: [String] = []
    private var size = 0
    private var id: String

    /// A line has the name of its field before the data.
    private static let roomForName = 256
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Makes a parser for a new response.
    ///
    /// - Parameters:
    ///   - lastEventID: The last id of earlier responses, or an empty string.
    ///   - maximumSize: The most bytes in the data of an event. A line may have 256 more.
    init(lastEventID: String, maximumSize: Int) {
        self.maximumSize = maximumSize
        self.lastEventID = lastEventID
        id = lastEventID
        lines = LineParser(.all, maximumLength: min(maximumSize, .max - Self.roomForName) + Self.roomForName)
    }

    /// Reads the next bytes. An event that is not complete at the end of the response is never returned.
    mutating func parse(_ piece: Data) -> Yield {
        var events: [ServerSentEvent] = []
        var isTooLong = false
        lines.append(piece)
        do {
            while let line = try lines.next() {
                let hasMark = isFirstLine && line.starts(with: Self.byteOrderMark)
                isFirstLine = false
                if let event = try take(hasMark ? line.dropFirst(3) : line) { events.append(event) }
            }
        } catch {
            // The parser throws nothing else.
            isTooLong = true
        }
        return Yield(
            events: events, lastEventID: lastEventID, reconnectionTime: reconnectionTime, isTooLong: isTooLong)
    }

    /// Takes a line. Returns the event that it completes.
    private mutating func take(_ line: ArraySlice<UInt8>) throws -> ServerSentEvent? {
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        // A line that begins with a colon is a comment. Its field has no name.
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data": try add(value)
        case "event": type = String(decoding: value, as: UTF8.self)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            if let time = Int64(digits: String(decoding: value, as: UTF8.self)) {
                reconnectionTime = .milliseconds(time)
            }
        default: break
        }
        return nil
    }

    private mutating func add(_ value: ArraySlice<UInt8>) throws {
        size += value.count + (data.isEmpty ? 0 : 1)
        guard size <= maximumSize else { throw LineParser.TooLong() }
        data.append(String(decoding: value, as: UTF8.self))
    }

    /// An empty line completes the event.
    private mutating func dispatch() -> ServerSentEvent? {
        defer { (type, data, size) = ("", [], 0) }
        lastEventID = id
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type, data: data.joined(separator: "\n"), id: lastEventID)
    }
}
