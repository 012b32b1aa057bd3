import Foundation

extension SQLiteStore {
    package func records(
        _ filter: RecordFilter, after id: OfflineRecord.ID?, limit: Int
    ) async throws -> [StoredRecord] {
        let now = date()
        return try await read { [files] connection in
            let (condition, values) = Self.condition(filter, at: now)
            var records: [StoredRecord] = []
            try connection.forEach(
                """
                SELECT \(RecordRow.columns) FROM records WHERE id > ? AND \(condition) ORDER BY id LIMIT ?
                """, [.integer(id?.rawValue ?? .min)] + values + [.integer(limit)]
            ) {
                records.append(RecordRow.read($0, hasBody: false, bodies: files.bodies, at: now).record)
                return true
            }
            return records
        }
    }

    package func record(_ id: OfflineRecord.ID) async throws -> StoredRecord? {
        let now = date()
        return try await read { [files] connection in
            try connection.first(
                "SELECT \(RecordRow.columnsWithBody) FROM records WHERE id = ?", .integer(id.rawValue)
            ) { RecordRow.read($0, hasBody: true, bodies: files.bodies, at: now).record }
        }
    }

    package func undecided(of ids: [OfflineRecord.ID]) async throws -> Set<OfflineRecord.ID> {
        try await read { connection in
            Set(
                try ids.filter { id in
                    try connection.first(
                        "SELECT 1 FROM records WHERE id = ? AND state < 3", .integer(id.rawValue),
                        row: { $0.integer(0) }) != nil
                })
        }
    }

    package func lastID() async throws -> OfflineRecord.ID? {
        try await read { connection in
            let last = try connection.first("SELECT id FROM records ORDER BY id DESC LIMIT 1") { $0.integer(0) }
            return last.map(OfflineRecord.ID.init)
        }
    }

    package func remove(_ id: OfflineRecord.ID) async throws -> Bool {
        try await remove("id = ?", [.integer(id.rawValue)], limit: 1, at: date()).count == 1
    }

    package func remove(
        _ filter: RecordFilter, upTo last: OfflineRecord.ID, limit: Int
    ) async throws -> [OfflineRecord.ID] {
        let now = date()
        // Dead letters have an index of their own.
        for kinds in [filter.kinds.subtracting([.dead]), filter.kinds.intersection([.dead])] where !kinds.isEmpty {
            var part = filter
            part.kinds = kinds
            let (condition, values) = Self.condition(part, at: now)
            let removed = try await remove(
                "\(condition) AND id <= ?", values + [.integer(last.rawValue)], limit: limit, at: now)
            if !removed.isEmpty { return removed }
        }
        return []
    }

    private func remove(
        _ condition: String, _ values: [SQLiteValue], limit: Int, at now: Date
    ) async throws -> [OfflineRecord.ID] {
        let removed = try await writeLease { [owner, outcomeRetention] connection in
            var found: [(id: OfflineRecord.ID, file: String?)] = []
            try connection.forEach(
                "SELECT id, file FROM records WHERE \(condition) LIMIT ?", values + [.integer(limit)]
            ) {
                found.append((OfflineRecord.ID(rawValue: $0.integer(0)), $0.text(1)))
                return true
            }
            for record in found {
                try connection.end(record.id, as: .removed, at: now, keepingOutcomesFor: outcomeRetention)
            }
            try connection.releaseIfIdle(owner)
            return found
        }
        for case let file? in removed.map(\.file) { removeBody(file) }
        return removed.map(\.id)
    }

    package func revive(_ id: OfflineRecord.ID) async throws -> Bool {
        let now = date()
        return try await write { [files] connection in
            let row = try connection.first(
                "SELECT \(RecordRow.columnsWithBody) FROM records WHERE id = ? AND state = 3", .integer(id.rawValue)
            ) { RecordRow.read($0, hasBody: true, bodies: files.bodies) }
            guard let row else { return false }
            var parts = row.parts
            if let expires = parts.expires, expires <= now.timeIntervalSince1970 { parts.expires = nil }
            // A damaged record must not look sound.
            let checksum = row.isSound ? parts.checksum : row.record.checksum
            // It gets its old place in the lane, but does not stop what is in flight.
            let first = try connection.first(
                "SELECT id, state FROM records WHERE lane = ? AND head = 1 AND state < 3", .text(parts.lane)
            ) { (id: $0.integer(0), isInFlight: $0.integer(1) == 2) }
            let comesFirst = first.map { $0.id > id.rawValue && !$0.isInFlight } ?? true
            if comesFirst, let first {
                try connection.run("UPDATE records SET head = 0 WHERE id = ?", .integer(first.id))
            }
            try connection.run(
                """
                UPDATE records SET state = 0, head = ?, reason = 0, due = 0, attempts = 0, refusals = 0, ending = NULL,
                  expires = ?, seal = ? WHERE id = ?
                """, .integer(comesFirst ? 1 : 0), .optional(parts.expires), .integer(Int64(bitPattern: checksum)),
                .integer(id.rawValue))
            return true
        }
    }

    package func counts() async throws -> OfflineCounts {
        let now = date()
        return try await read { try Self.counts($0, at: now) }
    }

    /// The totals. A record in flight that is not due yet counts as waiting.
    static func counts(_ connection: SQLiteConnection, at now: Date) throws -> OfflineCounts {
        var counts = try connection.counts()
        let short = try connection.first(
            "SELECT count(*) FROM records WHERE state = 2 AND due > ?", .real(now.timeIntervalSince1970)
        ) { Int(clamping: $0.integer(0)) }
        counts.inFlight -= short ?? 0
        counts.waiting += short ?? 0
        return counts
    }

    package func isDrained() async throws -> Bool {
        // Not of the totals, which can be wrong until a large database is checked.
        try await read { connection in
            try connection.first("SELECT 1 FROM records INDEXED BY records_lane WHERE state < 3 LIMIT 1") {
                $0.integer(0)
            } == nil
        }
    }

    package func outcome(of id: OfflineRecord.ID) async throws -> OfflineOutcome? {
        try await read { connection in
            let text = try connection.first("SELECT outcome FROM outcomes WHERE id = ?", .integer(id.rawValue)) {
                $0.text(0)
            }
            return text?.flatMap(RecordRow.decode)
        }
    }

    /// The SQL of a filter and its values.
    static func condition(_ filter: RecordFilter, at now: Date) -> (String, [SQLiteValue]) {
        let states = filter.kinds.map(\.rawValue).sorted()
        var (parts, values): ([String], [SQLiteValue]) = ([], [])
        switch states {
        case [0, 1, 2, 3]: parts.append("1")
        case [3]: parts.append("state = 3")
        default:
            // A record in flight that is not due yet counts as waiting.
            parts.append(
                "CASE WHEN state = 2 AND due > ? THEN 1 ELSE state END IN (\(states.map(String.init).joined(separator: ", ")))"
            )
            values.append(.real(now.timeIntervalSince1970))
        }
        // SQLite uses a partial index only if its condition is there word for word.
        if states.allSatisfy({ $0 < 3 }) { parts.append("state < 3") }
        if let lane = filter.lane {
            parts.append("lane = ?")
            values.append(.text(lane))
        }
        if let tag = filter.tag {
            parts.append("tag = ?")
            values.append(.text(tag))
        }
        return (parts.joined(separator: " AND "), values)
    }
}
