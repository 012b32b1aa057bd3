/// What an event source knows over all its connections. A pure value.
struct EventSourceState: Sendable {
    /// The id of the last event that the reader has, for `Last-Event-ID`. Empty if there is none.
    private(set) var lastEventID: String
    /// The time before a new connection.
    private(set) var reconnectionTime: Duration
    /// Whether the server gave that time.
    private(set) var isServersTime = false
    /// Whether the response of the running attempt was accepted as a stream of events.
    private(set) var isOpen = false

    /// The shortest time before a new connection that a server can ask for. So it cannot make its clients a storm.
    static let shortestTime = Duration.milliseconds(500)
    /// The most bytes of an id that is sent in `Last-Event-ID`.
    private static let longestID = 4096

    /// - Parameters:
    ///   - lastEventID: The id of the last event that the reader has from elsewhere.
    ///   - reconnectionTime: The time before a new connection until the server gives one.
    init(lastEventID: String, reconnectionTime: Duration) {
        self.lastEventID = lastEventID
        self.reconnectionTime = min(max(reconnectionTime, .zero), .seconds(Int32.max))
    }

    /// An attempt begins.
    mutating func connect() {
        isOpen = false
    }

    /// A stream of events begins.
    mutating func open() {
        isOpen = true
    }

    /// The reader has taken what some bytes yield.
    ///
    /// - Parameter longest: The longest time before a new connection that a server may ask for.
    mutating func note(_ yield: ServerSentEventParser.Yield, longest: Duration) {
        // A longer one would make servers refuse the request for its fields.
        if yield.lastEventID.utf8.count <= Self.longestID { lastEventID = yield.lastEventID }
        guard let time = yield.reconnectionTime else { return }
        reconnectionTime = max(min(time, longest), Self.shortestTime)
        isServersTime = true
    }
}
