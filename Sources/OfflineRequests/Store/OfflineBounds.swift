/// How much a queue holds at most, dead letters included.
public struct OfflineBounds: Sendable, Hashable {
    /// What happens to a record that does not fit.
    public enum Policy: Sendable, Hashable {
        /// It is not added. `add` throws ``OfflineQueueError/Code/full``.
        case rejectNew
        /// Dead letters are dropped, then the oldest records that are not in flight, until it fits.
        case dropOldest
    }

    /// The most records. `nil`, no bound, by default.
    public var count: Int?
    /// The most bytes of bodies and messages. `nil`, no bound, by default.
    public var bytes: Int64?
    /// The longest time since a record was added. An older record is dropped unless it is in flight. A record with a
    /// date before 2020 stays, because the clock was not set when it was added. `nil`, no bound, by default.
    public var age: Duration?
    /// What happens to a record that does not fit. ``Policy/rejectNew`` by default.
    public var policy: Policy = .rejectNew

    /// Makes bounds.
    ///
    /// - Parameters:
    ///   - count: The most records.
    ///   - bytes: The most bytes.
    ///   - age: The longest time.
    ///   - policy: What happens to a record that does not fit.
    public init(count: Int? = nil, bytes: Int64? = nil, age: Duration? = nil, policy: Policy = .rejectNew) {
        self.count = count
        self.bytes = bytes
        self.age = age
        self.policy = policy
    }
}
