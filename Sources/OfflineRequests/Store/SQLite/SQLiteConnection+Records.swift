import Foundation

/// Changes of records that several transactions make.
extension SQLiteConnection {
    /// Removes a record, keeps its outcome, and lets the next one of its lane come first.
    ///
    /// - Returns: The file of its body, if it has one, which is removed after the commit.
    @discardableResult
    func end(_ id: OfflineRecord.ID, as outcome: OfflineOutcome, at now: Date) throws -> String? {
        let row = try first("SELECT lane, file FROM records WHERE id = ?", .integer(id.rawValue)) {
            (lane: $0.text(0) ?? "", file: $0.text(1))
        }
        guard let row else { return nil }
        try run("DELETE FROM records WHERE id = ?", .integer(id.rawValue))
        try run(
            "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)", .integer(id.rawValue),
            .real(now.timeIntervalSince1970), .text(try RecordRow.encode(outcome)))
        try promote(row.lane)
        return row.file
    }

    /// Makes a record a dead letter, and lets the next one of its lane come first.
    func bury(_ id: OfflineRecord.ID, because reason: DeadLetterReason) throws {
        let lane = try first("SELECT lane FROM records WHERE id = ?", .integer(id.rawValue)) { $0.text(0) ?? "" }
        guard let lane else { return }
        try run(
            "UPDATE records SET state = 3, head = 0, fence = 0, reason = 0, ending = ? WHERE id = ?",
            .text(try RecordRow.encode(reason)), .integer(id.rawValue))
        try promote(lane)
    }

    /// Marks the first record of a lane that has no outcome.
    func promote(_ lane: String) throws {
        try run(
            """
            UPDATE records SET head = 1 WHERE head = 0 AND id =
              (SELECT id FROM records WHERE lane = ? AND state < 3 ORDER BY id LIMIT 1)
            """, .text(lane))
    }

    /// Gives up the lease of an owner that has nothing in flight. Returns whether it did.
    func releaseIfIdle(_ owner: String) throws -> Bool {
        try run(
            """
            UPDATE lease SET owner = NULL WHERE owner = ? AND NOT EXISTS (SELECT 1 FROM records WHERE state = 2)
            """, .text(owner))
        return changes > 0
    }

    /// Whether an owner has the lease with this number.
    func holds(_ lease: Lease, _ owner: String) throws -> Bool {
        try first(
            "SELECT 1 FROM lease WHERE owner = ? AND fence = ?", .text(owner), .integer(lease.fence),
            row: { $0.integer(0) }) != nil
    }

    /// Forgets the oldest outcomes once they are older than a time.
    func forgetOutcomes(before date: Date) throws {
        try run(
            "DELETE FROM outcomes WHERE id IN (SELECT id FROM outcomes ORDER BY id LIMIT 64) AND ended < ?",
            .real(date.timeIntervalSince1970))
    }
}
