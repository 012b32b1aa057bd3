import Foundation

/// Changes of records that several transactions make.
extension SQLiteConnection {
    /// Removes a record, keeps its outcome, and lets the next one of its lane come first.
    ///
    /// - Returns: The file of its body, if it has one, which is removed after the commit.
    @discardableResult
    func end(
        _ id: OfflineRecord.ID, as outcome: OfflineOutcome, at now: Date, keepingOutcomesFor retention: Duration
    ) throws -> String? {
        let row = try first("SELECT lane, file FROM records WHERE id = ?", .integer(id.rawValue)) {
            (lane: $0.text(0) ?? "", file: $0.text(1))
        }
        guard let row else { return nil }
        try run("DELETE FROM records WHERE id = ?", .integer(id.rawValue))
        try run(
            "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)", .integer(id.rawValue),
            .real(now.timeIntervalSince1970), .text(try RecordRow.encode(outcome)))
        try forgetOutcomes(before: now - retention / .seconds(1))
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

    /// Gives up the lease of an owner that has nothing in flight.
    func releaseIfIdle(_ owner: String) throws {
        try run(
            """
            UPDATE lease SET owner = NULL WHERE owner = ? AND NOT EXISTS (SELECT 1 FROM records WHERE state = 2)
            """, .text(owner))
    }

    /// Whether an owner has the lease with this number.
    func holds(_ lease: Lease, _ owner: String) throws -> Bool {
        try first(
            "SELECT 1 FROM lease WHERE owner = ? AND fence = ?", .text(owner), .integer(lease.fence),
            row: { $0.integer(0) }) != nil
    }

    /// The highest id that a record has ever had.
    func lastRecordID() throws -> Int64 {
        try first("SELECT seq FROM sqlite_sequence WHERE name = 'records'") { $0.integer(0) } ?? 0
    }

    /// The id of the next record. It is above all that have been given, also if the highest of them is not noted.
    func nextRecordID() throws -> Int64 {
        try first("SELECT max(coalesce((SELECT max(id) FROM records), 0), ?) + 1", .integer(try lastRecordID())) {
            $0.integer(0)
        } ?? 1
    }

    /// How many records there are, as the totals say. Numbers that are out of range are brought into it.
    func counts() throws -> OfflineCounts {
        var counts = OfflineCounts()
        try forEach("SELECT state, count, bytes FROM totals WHERE state BETWEEN 0 AND 3", []) { row in
            // A sum of these must fit into an `Int`, which has 32 bits on some watches.
            let count = Int(min(row.size(1), Int64(Int.max / 8)))
            switch row.integer(0) {
            case 0: counts.pending = count
            case 1: counts.waiting = count
            case 2: counts.inFlight = count
            default: counts.dead = count
            }
            counts.bytes += row.size(2)
            return true
        }
        return counts
    }

    /// No later record gets an id up to this one.
    func raiseSequence(to lastID: Int64) throws {
        try run(
            "INSERT INTO sqlite_sequence (name, seq) SELECT 'records', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence)"
        )
        try run("UPDATE sqlite_sequence SET seq = max(seq, ?)", .integer(lastID))
    }

    /// Forgets a few outcomes that are older than a time: more than one, since it is called for each new outcome.
    private func forgetOutcomes(before date: Date) throws {
        try run(
            "DELETE FROM outcomes WHERE id IN (SELECT id FROM outcomes WHERE ended < ? ORDER BY ended LIMIT 4)",
            .real(date.timeIntervalSince1970))
    }
}
