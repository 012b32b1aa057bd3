/// How long the tables keep data about a host that is no longer used. Times are in nanoseconds.
enum HostMemory {
    /// Data that is not used for this time is forgotten: half a day. So a host that fails once a day starts afresh each
    /// time.
    static let longestRest: Int64 = 12 * sweepInterval
    /// How often a table in use looks for data to forget: once an hour. So nothing is left after a day.
    static let sweepInterval: Int64 = 3_600_000_000_000
}
