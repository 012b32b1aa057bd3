import Foundation

/// Finds impossible numbers in a database whose structure is sound, and puts them right.
///
/// One changed bit of a number breaks no page, so SQLite does not see it. A wrong total or mark of a lane would hold
/// records up for ever. Call it in a transaction, or to look only.
struct Upkeep {
    let connection: SQLiteConnection
    /// What the file beside the database says.
    let mark: CommitMark.Reading?

    /// What is wrong with a record.
    private enum Fault {
        /// It does not fit its checksum.
        case damaged
        /// It waits for nothing, or until a wrong time. The right one is given, if there is one.
        case wait(until: Double?)
        /// It has a reason to be a dead letter, but is not one.
        case alive
        /// It is a dead letter without a reason.
        case dead
    }

    /// What was put right.
    struct Report {
        /// How many records became dead letters, because they do not match their checksums.
        var damaged = 0
        /// The kinds of numbers that were wrong.
        var kinds: [String] = []
    }

    /// Whether there is something to put right.
    func isNeeded() throws -> Bool {
        try !recordFaults().isEmpty || !brokenLanes().isEmpty || !totalsAreRight() || !commitsAreRight()
            || !sequenceIsRight()
    }

    /// Puts right what is wrong.
    func run() throws -> Report {
        var report = Report()
        let faults = try recordFaults()
        for (id, fault) in faults {
            if case .damaged = fault { report.damaged += 1 }
            try mend(id, fault)
        }
        if !faults.isEmpty { report.kinds.append("records (\(faults.count))") }
        let lanes = try brokenLanes()
        for lane in lanes {
            try connection.run("UPDATE records SET head = 0 WHERE lane = ? AND state < 3", .text(lane))
            try connection.promote(lane)
        }
        if !lanes.isEmpty { report.kinds.append("lanes (\(lanes.count))") }
        if try !totalsAreRight() {
            report.kinds.append("totals")
            try countAnew()
        }
        if try !commitsAreRight() {
            report.kinds.append("the count of commits")
            try connection.run(
                "INSERT OR REPLACE INTO totals VALUES (-1, ?, 0)", .integer(max(mark?.commits ?? 0, 0)))
        }
        if try !sequenceIsRight() {
            report.kinds.append("the last id")
            try connection.run("UPDATE sqlite_sequence SET seq = ?", .integer(try highestKnownID()))
        }
        return report
    }

    // MARK: Records

    private func recordFaults() throws -> [(OfflineRecord.ID, Fault)] {
        var faults: [(OfflineRecord.ID, Fault)] = []
        try connection.forEach("SELECT \(RecordRow.columnsWithBody) FROM records WHERE state < 3", []) { row in
            if let fault = try fault(of: row) { faults.append((OfflineRecord.ID(rawValue: row.integer(0)), fault)) }
            return true
        }
        try connection.forEach("SELECT id FROM records WHERE state = 3 AND ending IS NULL", []) { row in
            faults.append((OfflineRecord.ID(rawValue: row.integer(0)), .dead))
            return true
        }
        return faults
    }

    private func fault(of row: SQLiteRow) throws -> Fault? {
        let parts = RecordRow.parts(row, hasBody: true)
        guard parts.checksum == UInt64(bitPattern: row.integer(16)) else { return .damaged }
        if !row.isNull(14) { return .alive }
        let (reason, due) = (OfflineRecord.WaitReason(rawValue: Int(clamping: row.integer(2))), row.real(3))
        switch row.integer(1) {
        case 1: break
        // It would wait if its sender died, as it was noted after its last attempt.
        case 2: return due > 0 && ![.network, .backoff, .retryAfter].contains(reason) ? .wait(until: nil) : nil
        default: return nil
        }
        switch reason {
        case .notBefore:
            let content = try? JSONDecoder().decode(StoredContent.self, from: parts.content)
            guard let right = content?.notBefore else {
                // Version 1 did not store the time.
                return Date.canStore(due) ? nil : .wait(until: nil)
            }
            return due == right ? nil : .wait(until: right)
        // Their waits are ended when they are too long.
        case .network, .backoff, .retryAfter: return nil
        case .handler, .constraint: return nil
        case .paused: return try connection.isPaused(parts.lane) ? nil : .wait(until: nil)
        case nil: return .wait(until: nil)
        }
    }

    private func mend(_ id: OfflineRecord.ID, _ fault: Fault) throws {
        switch fault {
        case .damaged:
            try connection.run(
                "UPDATE records SET bytes = min(max(bytes, 0), \(RecordRow.largestBytes)) WHERE id = ?",
                .integer(id.rawValue))
            try connection.bury(id, because: RecordRow.damage)
        case .wait(let due):
            try connection.run(
                "UPDATE records SET state = CASE state WHEN 1 THEN ? ELSE state END, reason = ?, due = ? WHERE id = ?",
                .integer(due == nil ? 0 : 1),
                .integer(due == nil ? 0 : OfflineRecord.WaitReason.notBefore.rawValue), .real(due ?? 0),
                .integer(id.rawValue))
        case .alive:
            try connection.run(
                "UPDATE records SET state = 3, head = 0, fence = 0, reason = 0 WHERE id = ?", .integer(id.rawValue))
        case .dead:
            try connection.run(
                "UPDATE records SET state = 0, head = 0, fence = 0, reason = 0, due = 0 WHERE id = ?",
                .integer(id.rawValue))
        }
    }

    /// The lanes that have no first record, or several.
    private func brokenLanes() throws -> [String] {
        try connection.rows("SELECT lane FROM records WHERE state < 3 GROUP BY lane HAVING sum(head) <> 1") {
            $0.text(0) ?? ""
        }
    }

    // MARK: Numbers of the whole

    private func totalsAreRight() throws -> Bool {
        func totals(_ sql: String) throws -> [Int64: [Double]] {
            let rows = try connection.rows(sql) { ($0.integer(0), [$0.real(1), $0.real(2)]) }
            return Dictionary(rows) { first, _ in first }
        }
        let stored = try totals("SELECT state, count, bytes FROM totals WHERE state <> -1")
        let counted = try totals("SELECT state, count(*), total(bytes) FROM records GROUP BY state")
        let none = RecordFilter.Kind.allCases.map { (Int64($0.rawValue), [0.0, 0.0]) }
        return stored == counted.merging(none) { counted, _ in counted }
    }

    private func countAnew() throws {
        try connection.run("DELETE FROM totals WHERE state <> -1")
        for state in RecordFilter.Kind.allCases {
            try connection.run(
                "INSERT INTO totals SELECT ?, count(*), CAST(total(bytes) AS INTEGER) FROM records WHERE state = ?",
                .integer(state.rawValue), .integer(state.rawValue))
        }
    }

    private func commitsAreRight() throws -> Bool {
        let commits = try connection.first("SELECT count FROM totals WHERE state = -1") { $0.integer(0) }
        return commits.map { (0...Self.largestNumber).contains($0) } ?? false
    }

    private func sequenceIsRight() throws -> Bool {
        // Without a record, no number has been given.
        let last = try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'records'") { $0.integer(0) }
        return try last.map { ($0 >= (try highestKnownID())) && $0 <= Self.largestNumber } ?? true
    }

    /// The highest id that is known to have been given.
    private func highestKnownID() throws -> Int64 {
        let ids = try connection.first(
            """
            SELECT max(coalesce((SELECT max(id) FROM records WHERE id <= ?1), 0),
              coalesce((SELECT max(id) FROM outcomes WHERE id <= ?1), 0))
            """, .integer(Self.largestNumber)
        ) { $0.integer(0) }
        return max(ids ?? 0, min(mark?.lastID ?? 0, Self.largestNumber))
    }

    /// A number that rises by one at a time never gets that high.
    private static let largestNumber = Int64.max - 1 << 32
}
