/// How far an operation has come, and how fast it is.
///
/// A request counts bytes. A batch, a group and a chain count their members, and have no speed.
public struct ProgressUpdate: Sendable, Hashable {
    /// Bytes of the request's and the response's body, with those that were there before, or members. For an upload, bytes of
    /// the request's body only.
    ///
    /// It never goes back. So after an attempt that began again with a shorter body, it is more than that body has.
    public var completed: Int64

    /// The length of both bodies in bytes, or the number of members; `nil` while it is unknown.
    public var total: Int64?

    /// Bytes for each second, over the last 5 seconds of the running attempt; `nil` until that is known.
    public var throughput: Double?

    /// The done parts of the members that run, in members. They are in ``fraction`` and not in ``completed``.
    var running = 0.0

    /// Makes a value. By default nothing is known.
    public init(completed: Int64 = 0, total: Int64? = nil, throughput: Double? = nil) {
        self.completed = completed
        self.total = total
        self.throughput = throughput
    }

    /// The part that is done, from 0 to 1; `nil` while the total is unknown. Members that run count in part.
    public var fraction: Double? {
        total.map { $0 > 0 ? min((Double(completed) + running) / Double($0), 1) : 1 }
    }

    /// The time until the end at the present speed; `nil` while the total or the speed is unknown. It is at most a year.
    public var timeLeft: Duration? {
        guard let total, let throughput else { return nil }
        guard completed < total else { return .zero }
        let year = 365.0 * 24 * 3600
        return .seconds(throughput > 0 ? min(Double(total - completed) / throughput, year) : year)
    }
}
