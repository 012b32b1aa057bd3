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
        get { records[index(of: number)] }
        set { records[index(of: number)] = newValue }
    }

    /// Ends the record of an attempt, unless it has ended.
    mutating func end(_ number: Int, _ error: (any Error)?, at elapsed: Duration) {
        guard self[number].ended == nil else { return }
        self[number].ended = elapsed
        self[number].error = error
    }

    /// Whether an attempt has not ended.
    func runs(_ number: Int) -> Bool { self[number].ended == nil }

    /// The last attempt that is no hedge.
    var lastUnhedged: Attempt? { records.last { !$0.isHedge } }

    private func index(of number: Int) -> Int { records.count - 1 - (count - number) }
}
