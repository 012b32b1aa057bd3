package import Foundation

extension SQLiteStore {
    package func maySend(_ id: OfflineRecord.ID, under lease: Lease) async throws -> Bool {
        try await read { [owner] connection in
            try connection.holds(lease, owner)
                && connection.first(
                    "SELECT 1 FROM records WHERE id = ? AND state = 2 AND fence = ?", .integer(id.rawValue),
                    .integer(lease.fence), row: { $0.integer(0) }) != nil
        }
    }

    package func note(_ progress: Progress, of id: OfflineRecord.ID, under lease: Lease) async throws {
        try await write { [self] connection in
            try check(lease, connection)
            // `due` is for the time after a crash, when the record is pending again.
            try connection.run(
                """
                UPDATE records SET attempts = ?, refusals = ?, failure = ?, due = ?, reason = ?
                WHERE id = ? AND state = 2 AND fence = ?
                """, .integer(progress.attempts), .integer(progress.refusals), .text(progress.failure),
                .real(progress.due.timeIntervalSince1970), .integer(progress.reason.rawValue),
                .integer(id.rawValue), .integer(lease.fence))
        }
    }

    package func settle(
        _ id: OfflineRecord.ID, as settlement: Settlement, under lease: Lease, at now: Date
    ) async throws -> Bool {
        let file = try await write { [self] connection -> String?? in
            try check(lease, connection)
            let row = try connection.first(
                "SELECT file, origin FROM records WHERE id = ? AND state = 2 AND fence = ?", .integer(id.rawValue),
                .integer(lease.fence)
            ) { (file: $0.text(0), origin: $0.text(1)) }
            guard let row else { return nil }
            switch settlement {
            case .delivered(let status):
                try connection.end(id, as: .delivered(status: status), at: now)
                try connection.forgetOutcomes(before: now - Self.outcomeRetention)
                if let origin = row.origin { _ = try Self.wakeOrigin(origin, limit: 2, connection) }
            case .waits(let progress):
                try connection.run(
                    """
                    UPDATE records SET state = 1, fence = 0, attempts = ?, refusals = ?, failure = ?, due = ?,
                      reason = ? WHERE id = ?
                    """, .integer(progress.attempts), .integer(progress.refusals), .text(progress.failure),
                    .real(progress.due.timeIntervalSince1970), .integer(progress.reason.rawValue),
                    .integer(id.rawValue))
            case .dead(let reason):
                try connection.bury(id, because: reason)
            }
            if try connection.releaseIfIdle(owner) { ownerLock.unlock() }
            if case .delivered = settlement { return .some(row.file) }
            return .some(nil)
        }
        guard let file else { return false }
        if let file { removeBody(file) }
        return true
    }

    /// How long the outcome of a record is kept after the record: 30 days.
    static let outcomeRetention: TimeInterval = 30 * 86_400

    package func beat(_ lease: Lease) async throws -> Set<OfflineRecord.ID> {
        let ids = try await writer.perform { [self] database in
            try database.writeWithoutFlush { connection in
                try check(lease, connection)
                // The lock may have been another owner's when the lease was taken.
                _ = ownerLock.tryLock(.exclusive)
                try connection.run("UPDATE lease SET beat = beat + 1")
                return try connection.rows(
                    "SELECT id FROM records WHERE state = 2 AND fence = ?", .integer(lease.fence)
                ) { OfflineRecord.ID(rawValue: $0.integer(0)) }
            }
        }
        return Set(ids)
    }

    package func release(_ lease: Lease) async throws {
        try await write { [self] connection in
            guard try connection.holds(lease, owner) else { return }
            try connection.run(Self.takeBack)
            try connection.run("UPDATE lease SET owner = NULL")
            ownerLock.unlock()
        }
    }

    /// - Throws: ``OfflineQueueError/Code/leaseLost``.
    private func check(_ lease: Lease, _ connection: SQLiteConnection) throws {
        guard try !connection.holds(lease, owner) else { return }
        // A later lease of this store keeps the lock.
        let isOurs = try connection.first("SELECT owner FROM lease") { $0.text(0) } == owner
        if !isOurs { ownerLock.unlock() }
        throw OfflineQueueError(.leaseLost)
    }

    package func wake(_ sleepers: Sleepers) async throws -> Int {
        try await write { connection in
            switch sleepers {
            case .network:
                try connection.run(
                    "UPDATE records SET state = 0, reason = 0, due = 0 WHERE head = 1 AND state = 1 AND reason = ?",
                    .integer(OfflineRecord.WaitReason.network.rawValue))
            case .constraint:
                try connection.run(
                    """
                    UPDATE records SET state = 0, reason = 0, due = 0
                    WHERE head = 1 AND state = 1 AND due = ? AND reason = ?
                    """, .real(RecordRow.never), .integer(OfflineRecord.WaitReason.constraint.rawValue))
            case .message(let name):
                try connection.run(
                    "UPDATE records SET state = 0, reason = 0, due = 0 WHERE message = ? AND state = 1 AND reason = ?",
                    .text(name), .integer(OfflineRecord.WaitReason.handler.rawValue))
            case .origin(let origin, let limit):
                return try Self.wakeOrigin(origin, limit: limit, connection)
            }
            return connection.changes
        }
    }

    private static func wakeOrigin(_ origin: String, limit: Int, _ connection: SQLiteConnection) throws -> Int {
        try connection.run(
            """
            UPDATE records SET state = 0, reason = 0, due = 0 WHERE id IN (SELECT id FROM records
              WHERE origin = ? AND state = 1 AND reason IN (?, ?) LIMIT ?)
            """, .text(origin), .integer(OfflineRecord.WaitReason.network.rawValue),
            .integer(OfflineRecord.WaitReason.backoff.rawValue), .integer(limit))
        return connection.changes
    }

    /// Removes the file of a body whose record is gone.
    func removeBody(_ name: String) {
        do { try BodyFiles.remove(files.bodies.appendingPathComponent(name)) } catch {
            // The change of the record has not failed. The next opening removes files that no record has.
        }
    }
}
