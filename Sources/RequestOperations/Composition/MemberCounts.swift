/// How far the members of a batch, a group or a chain have come. A pure value.
struct MemberCounts: Sendable {
    /// The number of members; `nil` while it is unknown.
    private(set) var total: Int64?
    /// How many members have ended.
    private(set) var completed: Int64 = 0
    /// The number of the last change.
    private(set) var number = 0
    /// Whether nothing more is counted.
    private(set) var isOver = false
    /// The done parts of members that run, by the number of the member, in members.
    private var parts: [Int: Double] = [:]

    init(total: Int64?) {
        self.total = total
    }

    /// What is told.
    var update: ProgressUpdate {
        var update = ProgressUpdate(completed: completed, total: total)
        update.running = parts.values.reduce(0, +)
        return update
    }

    mutating func expect(_ count: Int64) {
        total = total.map { $0 + count }
        number += 1
    }

    /// A member has come so far. A part that gets smaller, because the length of a body became known, is ignored.
    ///
    /// - Parameters:
    ///   - part: The number of the member, which runs.
    ///   - fraction: How much of it is done, from 0 to 1.
    ///   - units: How many members it stands for.
    mutating func report(_ fraction: Double, of part: Int, as units: Int64) {
        let done = fraction * Double(units)
        guard done > parts[part] ?? 0 else { return }
        parts[part] = done
        number += 1
    }

    /// A member has ended.
    mutating func end(_ part: Int, as units: Int64) {
        parts[part] = nil
        completed += units
        number += 1
    }

    /// Nothing is left to be counted.
    mutating func complete() {
        completed = max(total ?? 0, completed)
        number += 1
    }

    /// Nothing more is counted. A total that was unknown or too low becomes right.
    mutating func end() {
        total = max(total ?? 0, completed)
        isOver = true
        number += 1
    }
}
