import Foundation

/// Reads the records of a damaged database and puts them into a sound one.
struct Salvage {
    /// How many records there were.
    struct Count {
        var sound = 0
        /// Records whose bytes do not match their checksum. They become dead letters.
        var damaged = 0
        /// How many the totals of the database count besides, and the last id that it gave. `nil` if that cannot be read.
        var unread: (records: Int, above: Int64)?
    }

    let database: URL?
    let log: LogCopy

    /// Puts back what can be read. Call it in a transaction.
    ///
    /// - Parameter id: Only records with a higher id are put back. 0 means all.
    func restore(into connection: SQLiteConnection, above id: Int64) throws -> Count {
        var count = Count()
        var (totals, lastID) = ([Int64: Int](), Int64?.none)
        // The cache would hold every page until the end.
        let images = try PageImages(database: database, log: log)
        try images.forEachRow { row in
            // The newest image comes first.
            if let total = row.total { totals[row.id] = totals[row.id] ?? total }
            lastID = lastID ?? row.lastID
            if let record = SalvagedRecord(row), row.id > id, record.isSound {
                count.sound += try record.insert(into: connection) ? 1 : 0
            } else if let outcome = SalvagedRecord.outcome(row) {
                try connection.run(
                    "INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?)", .integer(row.id), outcome.ended, outcome.text)
            } else if row.isLane {
                try connection.forEach("INSERT OR IGNORE INTO lanes VALUES (?, ?, ?, ?)", row.values) { _ in true }
            }
        }
        // A sound image of a record may come after a damaged one, so those come last.
        try images.forEachRow { row in
            guard let record = SalvagedRecord(row), row.id > id, !record.isSound else { return }
            count.damaged += try record.insert(into: connection) ? 1 : 0
        }
        // An old page still had a record that already has its outcome.
        try connection.run("DELETE FROM records WHERE id IN (SELECT id FROM outcomes)")
        try connection.run(
            """
            UPDATE records SET head = 1 WHERE state < 3 AND head = 0 AND id IN
              (SELECT min(id) FROM records WHERE state < 3 GROUP BY lane)
            """)
        if totals.count == 4, let lastID {
            let there = try connection.first("SELECT count(*) FROM records") { Int(clamping: $0.integer(0)) } ?? 0
            count.unread = (max(totals.values.reduce(0, +) - there, 0), lastID)
        }
        return count
    }
}

extension PageImages.Row {
    /// How many records there are in a state, if this is such a row of `totals`. Its id is the state.
    fileprivate var total: Int? {
        guard values.count == 3, (0...3).contains(id), case .null = values[0], case .integer(let count) = values[1],
            case .integer = values[2], (0...1 << 40).contains(count)
        else { return nil }
        // A sum of these must fit into an `Int`, which has 32 bits on some watches.
        return Int(min(count, Int64(Int.max / 8)))
    }

    /// Whether this is a row of the table of lanes.
    fileprivate var isLane: Bool {
        guard values.count == 4, case .text = values[0] else { return false }
        switch (values[1], values[2], values[3]) {
        case (.null, .null, .real), (.null, .null, .integer): return true
        case (.real, .text(let reason), .null), (.integer, .text(let reason), .null):
            let reason: LanePauseReason? = RecordRow.decode(reason)
            return reason != nil
        default: return false
        }
    }

    /// The last id of a record, if this is the row that has it.
    fileprivate var lastID: Int64? {
        guard values.count == 2, case .text("records") = values[0], case .integer(let id) = values[1], id >= 0 else {
            return nil
        }
        return id
    }
}
