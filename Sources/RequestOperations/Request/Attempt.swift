/// The record of one attempt of a request.
public struct Attempt: Sendable {
    /// The number of the attempt, from 1.
    public let number: Int

    /// When the attempt began, by the clock of the system.
    public let startDate: Date

    /// When the attempt began, counted from when the operation became ready.
    public let began: Duration

    /// When the attempt ended, counted from when the operation became ready. `nil` while it runs.
    public internal(set) var ended: Duration?

    /// Why the attempt failed. `nil` if it succeeded or still runs, and a `CancellationError` if it was cancelled.
    public internal(set) var error: (any Error)?

    /// How long the operation waited before this attempt. Zero for the first.
    public let waited: Duration

    /// What ended that wait. `nil` for the first attempt.
    public let wokenBy: WakeReason?

    /// Whether this attempt was sent beside an earlier one that had no answer yet (``RequestConfiguration/hedging``).
    ///
    /// The operation does not wait before a hedge. Of attempts that run in parallel, all but one fail or are cancelled.
    public let isHedge: Bool

    /// The status of the response, if one arrived.
    public internal(set) var status: Int?

    /// How many bytes of the response's body arrived, after decompression. For a rejected response, how many were read.
    ///
    /// The value is set when the attempt's last transfer has ended, and is 0 before. It stays 0 if your own transport
    /// does not report it.
    public internal(set) var bodySize: Int64 = 0

    /// The URLs that the attempt was redirected to, in order.
    public internal(set) var redirects: [URL] = []

    /// The timings of the attempt's last transfer, if the transport measures them.
    public internal(set) var timings: TransferTimings? {
        get { boxedTimings?.value }
        set { boxedTimings = newValue.map(Box.init) }
    }

    var boxedTimings: Box<TransferTimings>?

    /// How many attempts a request keeps at most, and how many of these are its first ones.
    static let keptAtMost = 100
    static let keptFirst = 10

    init(
        number: Int, startDate: Date, began: Duration, waited: Duration, wokenBy: WakeReason?, isHedge: Bool = false
    ) {
        self.number = number
        self.startDate = startDate
        self.began = began
        self.waited = waited
        self.wokenBy = wokenBy
        self.isHedge = isHedge
    }
}

extension Attempt: CustomStringConvertible, CustomReflectable {
    /// One line: the number, the wait before it, the redirects, the status, the size of the body, and how it ended. It
    /// shows scheme, host, port and path of a URL, and only the type of an error that is not ours.
    public var description: String {
        var parts = ["attempt \(number)\(isHedge ? " (hedge)" : "")"]
        if let wokenBy { parts.append("waited \(waited) (\(wokenBy))") }
        parts += redirects.map { "redirected to \(Redaction.location(of: $0))" }
        if let status { parts.append("status \(status)") }
        if bodySize > 0 { parts.append("\(bodySize) bytes") }
        switch (ended, error) {
        case (nil, _): parts.append("runs")
        case (let ended?, nil): parts.append("succeeded after \(ended - began)")
        case (let ended?, let error?): parts.append("failed after \(ended - began): \(error.redacted)")
        }
        return parts.joined(separator: ", ")
    }

    /// No children, so that `dump` shows the same line.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

/// The records of a request's attempts, in the order in which they began. A pure value.
///
/// Of more than ``Attempt/keptAtMost`` attempts, the first few and the last ones are kept.
struct AttemptLog: Sendable {
    private(set) var records: [Attempt] = []
    /// How many attempts there were.
    private(set) var count = 0
    /// How many of them were hedges.
    private(set) var hedgeCount = 0

    /// Begins the record of the next attempt. Returns its number.
    ///
    /// - Parameters:
    ///   - date: The date, by the clock of the system.
    ///   - elapsed: The time since the operation became ready.
    ///   - wake: What ended the wait before it.
    ///   - isHedge: Whether it is sent beside another one.
    mutating func begin(on date: Date, at elapsed: Duration, after wake: Wake? = nil, isHedge: Bool = false) -> Int {
        count += 1
        if isHedge { hedgeCount += 1 }
        if records.count == Attempt.keptAtMost { records.remove(at: Attempt.keptFirst) }
        records.append(
            Attempt(
                number: count, startDate: date, began: elapsed, waited: wake?.waited ?? .zero, wokenBy: wake?.reason,
                isHedge: isHedge))
        return count
    }

    /// The record of a running attempt, or of the last one. These records are always kept.
    subscript(number: Int) -> Attempt {
        _read { yield records[index(of: number)] }
        _modify { yield &records[index(of: number)] }
    }

    /// Ends the record of an attempt, unless it has ended.
    mutating func end(_ number: Int, _ error: (any Error)?, at elapsed: Duration) {
        let index = index(of: number)
        guard records[index].ended == nil else { return }
        records[index].ended = elapsed
        records[index].error = error
    }

    /// Whether an attempt has not ended.
    func runs(_ number: Int) -> Bool { records[index(of: number)].ended == nil }

    /// The last attempt that is no hedge.
    var lastUnhedged: Attempt? { records.last { !$0.isHedge } }

    private func index(of number: Int) -> Int { records.count - 1 - (count - number) }
}
