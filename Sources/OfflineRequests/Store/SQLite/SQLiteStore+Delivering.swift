import Foundation
import RequestOperations

extension SQLiteStore {
    package func maySend(_ id: OfflineRecord.ID, under lease: Lease) async throws -> Bool {
        let due = try await read { [owner] connection -> Double? in
            guard try connection.holds(lease, owner) else { return nil }
            let record = try connection.first(
                "SELECT due, lane FROM records WHERE id = ? AND state = 2 AND fence = ?", .integer(id.rawValue),
                .integer(lease.fence)
            ) { (due: $0.real(0), lane: $0.text(1) ?? "") }
            guard let record else { return nil }
            // A noted attempt has a due time.
            return try record.due > 0 && connection.isPaused(record.lane) ? nil : record.due
        }
        guard let due else { return false }
        let now = date().timeIntervalSince1970
        guard due > now else { return true }
        // Something ended the wait early. From now on it is in flight.
        return try await write { connection in
            try connection.run(
                "UPDATE records SET due = ? WHERE id = ? AND state = 2 AND fence = ?", .real(now),
                .integer(id.rawValue), .integer(lease.fence))
            return connection.changes == 1
        }
    }

    package func note(_ step: FailureNote, of id: OfflineRecord.ID, under lease: Lease) async throws {
        let now = date()
        try await write { [self] connection in
            try check(lease, connection)
            // `due` is for the time after a crash, when the record is pending again.
            try connection.run(
                """
                UPDATE records SET attempts = ?, refusals = ?, failure = ?, due = ?, reason = ?
                WHERE id = ? AND state = 2 AND fence = ?
                """, .integer(step.attempts), .integer(step.refusals), .text(step.failure),
                .real(step.due(from: now).timeIntervalSince1970), .integer(step.reason.rawValue),
                .integer(id.rawValue), .integer(lease.fence))
        }
    }

    package func settle(
        _ id: OfflineRecord.ID, as settlement: Settlement, under lease: Lease, pausingLane reason: LanePauseReason?
    ) async throws -> SettleResult {
        let now = date()
        let (result, file) = try await writeLease { [self] connection -> (SettleResult, String?) in
            try check(lease, connection)
            let record = try connection.first(
                "SELECT file, lane FROM records WHERE id = ? AND state = 2 AND fence = ?", .integer(id.rawValue),
                .integer(lease.fence)
            ) { (file: $0.text(0), lane: $0.text(1) ?? "") }
            guard let record else { return (.removed, nil) }
            switch settlement {
            case .delivered(let status):
                try connection.end(
                    id, as: .delivered(status: status), at: now, keepingOutcomesFor: outcomeRetention)
            case .waits(let step):
                try connection.run(
                    """
                    UPDATE records SET state = 1, fence = 0, attempts = ?, refusals = ?, failure = ?, due = ?,
                      reason = ? WHERE id = ?
                    """, .integer(step.attempts), .integer(step.refusals), .text(step.failure),
                    .real(step.due(from: now).timeIntervalSince1970), .integer(step.reason.rawValue),
                    .integer(id.rawValue))
            case .dead(let reason):
                try connection.run("UPDATE records SET attempts = attempts + 1 WHERE id = ?", .integer(id.rawValue))
                try connection.bury(id, because: reason)
            }
            try connection.releaseIfIdle(owner)
            let pauses = try reason.map { try connection.pause(record.lane, because: $0, at: now) } ?? false
            let fails = try watch(record.lane, after: settlement, at: now, connection)
            return (pauses || fails ? .recordedAndLanePaused : .recorded, settlement.isDelivery ? record.file : nil)
        }
        if let file { removeBody(file) }
        return result
    }

    /// Notes how a delivery of a lane ended, if lanes are watched. Returns whether this paused the lane.
    private func watch(
        _ lane: String, after settlement: Settlement, at now: Date, _ connection: SQLiteConnection
    ) throws -> Bool {
        guard let lanePatience, !lane.isEmpty else { return false }
        guard settlement.isDelivery else { return try connection.failed(lane, at: now, pausingAfter: lanePatience) }
        try connection.succeeded(lane)
        return false
    }

    package func beat(_ lease: Lease) async throws -> Set<OfflineRecord.ID> {
        let ids = try await writer.perform { [self] database in
            try database.writeWithoutFlush { connection in
                try check(lease, connection)
                try connection.run("UPDATE lease SET beat = beat + 1")
                return try connection.rows(
                    "SELECT id FROM records WHERE state = 2 AND fence = ?", .integer(lease.fence)
                ) { OfflineRecord.ID(rawValue: $0.integer(0)) }
            }
        }
        return Set(ids)
    }

    package func release(_ lease: Lease) async throws {
        try await writeLease { [owner] connection in
            guard try connection.holds(lease, owner) else { return }
            try connection.run(Self.takeBack, .real(RecordRow.never))
            try connection.run("UPDATE lease SET owner = NULL")
        }
    }

    /// - Throws: ``OfflineQueueError/Code/leaseLost``.
    private func check(_ lease: Lease, _ connection: SQLiteConnection) throws {
        guard try connection.holds(lease, owner) else { throw OfflineQueueError(.leaseLost) }
    }

    package func wake(_ sleepers: Sleepers) async throws -> Int {
        try await write { connection in
            func wake(_ condition: String, _ values: SQLiteValue..., limit: Int = Sleepers.batch) throws -> Int {
                try connection.forEach(
                    """
                    \(Self.endWait) WHERE id IN
                      (SELECT id FROM records WHERE state = 1 AND \(condition) LIMIT ?)
                    """, values + [.integer(limit)]
                ) { _ in true }
                return connection.changes
            }
            let (network, backoff) = (
                OfflineRecord.WaitReason.network.rawValue, OfflineRecord.WaitReason.backoff.rawValue
            )
            let constraint = OfflineRecord.WaitReason.constraint.rawValue
            switch sleepers {
            case .network: return try wake("head = 1 AND reason = \(network)")
            case .constraint: return try wake("head = 1 AND reason = \(constraint)")
            case .origin(let origin, let limit):
                return try wake("origin = ? AND reason IN (\(network), \(backoff))", .text(origin), limit: limit)
            }
        }
    }

    package func endWaits(longerThan longest: LongestWaits) async throws -> Int {
        let now = date().timeIntervalSince1970
        let tooLong = try await read { connection in
            var found: [(id: Int64, due: Double)] = []
            try connection.forEach(
                "SELECT id, due, reason, attempts FROM records WHERE head = 1 AND state = 1 AND due > ? AND due < ?",
                [.real(now), .real(RecordRow.never)]
            ) { row in
                let due = row.real(1)
                // Numbers of this size are not exact.
                if let reason = OfflineRecord.WaitReason(rawValue: Int(clamping: row.integer(2))),
                    let longest = longest.wait(for: reason, after: Int(clamping: row.integer(3))),
                    due - now > longest.inSeconds + 0.001
                {
                    found.append((row.integer(0), due))
                }
                return found.count < Sleepers.batch
            }
            return found
        }
        guard !tooLong.isEmpty else { return 0 }
        return try await write { connection in
            for (id, due) in tooLong {
                try connection.run(
                    "\(Self.endWait) WHERE id = ? AND state = 1 AND due = ?", .integer(id), .real(due))
            }
            return tooLong.count
        }
    }

    package func waitingOrigins(limit: Int) async throws -> [String] {
        let (network, backoff) = (OfflineRecord.WaitReason.network.rawValue, OfflineRecord.WaitReason.backoff.rawValue)
        return try await read { connection in
            var (origins, last): ([String], String) = ([], "")
            // One step of the index for each origin, however many records it has.
            for _ in 0..<limit {
                let next = try connection.first(
                    "SELECT min(origin) FROM records WHERE state = 1 AND origin IS NOT NULL AND origin > ?", .text(last)
                ) { $0.text(0) }
                guard let origin = next ?? nil else { break }
                last = origin
                let waits = try connection.first(
                    "SELECT 1 FROM records WHERE state = 1 AND origin = ? AND reason IN (\(network), \(backoff)) LIMIT 1",
                    .text(origin)
                ) { $0.integer(0) }
                if waits != nil { origins.append(origin) }
            }
            return origins
        }
    }

    /// Removes the file of a body whose record is gone.
    func removeBody(_ name: String) {
        do { try BodyFiles.remove(files.bodies.appendingPathComponent(name)) } catch {
            // The change of the record has not failed. The next opening removes files that no record has.
        }
    }
}

extension Settlement {
    fileprivate var isDelivery: Bool { if case .delivered = self { true } else { false } }
}
