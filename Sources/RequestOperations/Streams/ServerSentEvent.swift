/// An event of a stream of server-sent events (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event. `message` if the server names none.
    public let type: String

    /// The data of the event. Its lines are joined by LF.
    public let data: String

    /// The last id that the server had sent when this event was complete. Empty if it has sent none.
    ///
    /// Give it to a new ``EventSourceOperation`` to go on after a restart of the process.
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
