import Foundation

/// Reads the records of a damaged database and puts them into a sound one.
struct Salvage {
    /// How many records there were.
    struct Count {
        var sound = 0
        /// Records whose bytes do not fit their checksum. They are dead letters.
        var damaged = 0
    }

    let database: URL?
    let log: LogCopy

    /// Puts back what can be read. Call it in a transaction.
    ///
    /// - Parameter id: Only records with a higher id are put back. 0 means all.
    func restore(into connection: SQLiteConnection, above id: Int64) throws -> Count {
        var count = Count()
        // The cache would hold every page until the end.
        let images = try PageImages(database: database, log: log)
        try images.forEachRow { row in
            if let record = SalvagedRecord(row), row.id > id, record.isSound {
                count.sound += try record.insert(into: connection) ? 1 : 0
            } else if let outcome = SalvagedRecord.outcome(row) {
                try connection.run(
                    "INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?)", .integer(row.id), outcome.ended, outcome.text)
            }
        }
        // A sound image of a record may come after a damaged one, so those come last.
        try images.forEachRow { row in
            guard let record = SalvagedRecord(row), row.id > id, !record.isSound else { return }
            count.damaged += try record.insert(into: connection) ? 1 : 0
        }
        // What has an outcome was still on an old page.
        try connection.run("DELETE FROM records WHERE id IN (SELECT id FROM outcomes)")
        try connection.run(
            """
            UPDATE records SET head = 1 WHERE state < 3 AND head = 0 AND id IN
              (SELECT min(id) FROM records WHERE state < 3 GROUP BY lane)
            """)
        return count
    }
}
