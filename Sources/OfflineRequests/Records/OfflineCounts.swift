/// How many records a queue holds.
public struct OfflineCounts: Sendable, Hashable {
    /// Records that are ready to be sent.
    public var pending = 0
    /// Records that wait for a time or an event.
    public var waiting = 0
    /// Records that are being delivered.
    public var inFlight = 0
    /// Dead letters.
    public var dead = 0
    /// The bytes of all bodies and messages.
    public var bytes: Int64 = 0

    /// The records without an outcome.
    public var undelivered: Int { pending + waiting + inFlight }

    /// Makes counts of zero.
    public init() {}
}
