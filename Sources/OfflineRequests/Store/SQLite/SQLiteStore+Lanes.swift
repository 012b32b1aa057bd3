import Foundation
import RequestOperations

extension SQLiteStore {
    /// The first record of a lane.
    fileprivate static let head =
        "(SELECT id FROM records WHERE lane = ? AND state < 3 AND head = 1 ORDER BY id LIMIT 1)"

    package func pause(lane: String, because reason: LanePauseReason) async throws -> Bool {
        let now = date()
        return try await write { try $0.pause(lane, because: reason, at: now) }
    }

    package func resume(lane: String) async throws -> Bool {
        try await write { connection in
            try connection.run("DELETE FROM lanes WHERE lane = ? AND paused IS NOT NULL", .text(lane))
            guard connection.changes > 0 else { return false }
            // Another event that the record waits for is looked at again.
            try connection.run(
                "\(Self.endWait) WHERE state = 1 AND due >= ? AND id = \(Self.head)", .real(RecordRow.never),
                .text(lane))
            return true
        }
    }

    package func pausedLanes() async throws -> [PausedLane] {
        try await read { connection in
            try connection.rows("SELECT lane, reason, paused FROM lanes WHERE paused IS NOT NULL ORDER BY lane") {
                row in
                PausedLane(
                    lane: row.text(0) ?? "", reason: row.text(1).flatMap(RecordRow.decode) ?? .requested,
                    since: Date(storedSeconds: row.real(2)))
            }
        }
    }
}

/// A row of the table has either the time since when its lane is paused or that since when it fails.
extension SQLiteConnection {
    /// Whether any lane is paused.
    func hasPausedLanes() throws -> Bool {
        try first("SELECT 1 FROM lanes WHERE paused IS NOT NULL LIMIT 1", row: { $0.integer(0) }) != nil
    }

    func isPaused(_ lane: String) throws -> Bool {
        try first("SELECT 1 FROM lanes WHERE lane = ? AND paused IS NOT NULL", .text(lane), row: { $0.integer(0) })
            != nil
    }

    /// Pauses a lane. Returns `false` if it is paused already.
    ///
    /// A first record that waits for something else is stopped when that wait is over.
    func pause(_ lane: String, because reason: LanePauseReason, at now: Date) throws -> Bool {
        guard try !isPaused(lane) else { return false }
        try run(
            "INSERT OR REPLACE INTO lanes VALUES (?, ?, ?, NULL)", .text(lane), .real(now.timeIntervalSince1970),
            .text(try RecordRow.encode(reason)))
        try run(
            """
            UPDATE records SET state = 1, reason = \(OfflineRecord.WaitReason.paused.rawValue), due = ?
            WHERE state = 0 AND id = \(SQLiteStore.head)
            """, .real(RecordRow.never), .text(lane))
        return true
    }

    /// Notes a failed delivery of a lane. If the lane has failed for too long, it is paused.
    ///
    /// - Returns: Whether this paused the lane.
    func failed(_ lane: String, at now: Date, pausingAfter patience: Duration) throws -> Bool {
        let seconds = now.timeIntervalSince1970
        let known = try first("SELECT paused, failing FROM lanes WHERE lane = ?", .text(lane)) {
            (isPaused: !$0.isNull(0), since: $0.optionalReal(1))
        }
        if known?.isPaused == true { return false }
        // A time in the future comes from a clock that was wrong.
        guard let since = known?.since, since <= seconds else {
            try run("INSERT OR REPLACE INTO lanes VALUES (?, NULL, NULL, ?)", .text(lane), .real(seconds))
            return false
        }
        guard seconds - since >= patience / .seconds(1) else { return false }
        return try pause(lane, because: .failing(since: Date(storedSeconds: since)), at: now)
    }

    /// Notes a successful delivery of a lane.
    func succeeded(_ lane: String) throws {
        try run("DELETE FROM lanes WHERE lane = ? AND paused IS NULL", .text(lane))
    }
}
