/// How long something is kept for a host that nobody uses any more, where time alone does not end it. Times are nanoseconds.
enum HostMemory {
    /// After so long without a use it is forgotten: half a day. A host that fails once a day begins afresh each time.
    static let longestRest: Int64 = 12 * sweepInterval
    /// So often a table that is used looks for what can be forgotten: once an hour. So nothing is left after a day.
    static let sweepInterval: Int64 = 3_600_000_000_000
}
