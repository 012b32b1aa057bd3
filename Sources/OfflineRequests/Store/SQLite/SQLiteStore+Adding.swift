import Foundation

extension SQLiteStore {
    package func add(_ records: [NewRecord], bounds: OfflineBounds) async throws -> [AddResult] {
        // Encoding takes longer than the insertion, so it is done before the commit.
        let parts: [RecordRow.Parts]
        do { parts = try records.map { try RecordRow.parts(of: $0) } } catch {
            throw OfflineQueueError(.unencodable, underlying: error)
        }
        let (results, unused) = try await write { [self] connection in
            var unused: [String] = []
            let results = try zip(records, parts).map { record, parts in
                var adding = Adding(record: record, parts: parts, bounds: bounds, store: self, connection: connection)
                defer { unused += adding.unusedFiles }
                return try adding.run()
            }
            return (results, unused)
        }
        for file in unused { removeBody(file) }
        return results
    }

    package func mergeable(withKey key: String) async throws -> StoredRecord? {
        try await read { [files] connection in
            // SQLite uses the partial index only if its condition, `state < 3`, is there word for word.
            try connection.first(
                """
                SELECT \(RecordRow.columnsWithBody) FROM records WHERE key = ? AND state < 3 AND state < 2
                ORDER BY id DESC LIMIT 1
                """, .text(key)
            ) { RecordRow.read($0, hasBody: true, bodies: files.bodies).record }
        }
    }
}

/// One addition within a transaction.
private struct Adding {
    let record: NewRecord
    let parts: RecordRow.Parts
    let bounds: OfflineBounds
    let store: SQLiteStore
    let connection: SQLiteConnection
    private var ended: [(OfflineRecord.ID, OfflineOutcome)] = []
    /// Files of bodies that no record has any more.
    private(set) var unusedFiles: [String] = []

    init(
        record: NewRecord, parts: RecordRow.Parts, bounds: OfflineBounds, store: SQLiteStore,
        connection: SQLiteConnection
    ) {
        self.record = record
        self.parts = parts
        self.bounds = bounds
        self.store = store
        self.connection = connection
    }

    mutating func run() throws -> AddResult {
        var replaced: [OfflineRecord.ID] = []
        if let key = record.uniqueKey {
            switch record.rule {
            case .append: break
            case .keep: if let id = try find(key, below: 3).first { return .kept(id) }
            case .replace: replaced = try find(key, below: 2)
            case .expectNone: guard try find(key, below: 2).isEmpty else { return .conflict }
            case .update(let id, let checksum): return try update(id, ifChecksumIs: checksum)
            }
        }
        // The outcome of a replaced record names the new one, so the old ones are removed after the insertion. They
        // make room, all the same.
        try makeRoom(besides: Set(replaced))
        let id = try insert()
        for old in replaced { try end(old, as: .replaced(by: id)) }
        return .added(id, ended: ended)
    }

    private func find(_ key: String, below state: Int) throws -> [OfflineRecord.ID] {
        try connection.rows(
            "SELECT id FROM records WHERE key = ? AND state < 3 AND state < ? ORDER BY id", .text(key),
            .integer(state)
        ) { OfflineRecord.ID(rawValue: $0.integer(0)) }
    }

    private func insert() throws -> OfflineRecord.ID {
        let isLater = record.notBefore.map { $0 > record.added } ?? false
        try connection.run(
            """
            INSERT INTO records (state, head, network, reason, fence, lane, tag, key, priority, added, due, expires,
              attempts, refusals, origin, message, bytes, content, body, file, checksum)
            VALUES (?, NOT EXISTS (SELECT 1 FROM records WHERE lane = ? AND state < 3), ?, ?, 0, ?, ?, ?, ?, ?, ?, ?,
              0, 0, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(isLater ? 1 : 0), .text(record.lane), .integer(record.content.needsNetwork ? 1 : 0),
            .integer(isLater ? OfflineRecord.WaitReason.notBefore.rawValue : 0), .text(record.lane),
            .optional(record.tag), .optional(record.uniqueKey), .integer(record.priority),
            .real(record.added.timeIntervalSince1970),
            .real(isLater ? record.notBefore?.timeIntervalSince1970 ?? 0 : 0),
            .optional(record.expires?.timeIntervalSince1970), .optional(record.content.origin),
            .optional(record.content.message), .integer(record.bodySize), .blob(parts.content),
            .optional(parts.body), .optional(parts.file), .integer(Int64(bitPattern: parts.checksum)))
        return OfflineRecord.ID(rawValue: connection.lastRow)
    }

    /// Gives a record a new content. What was tried before does not count for it. If it waits for a handler or for
    /// constraints, those of the new content count.
    private mutating func update(_ id: OfflineRecord.ID, ifChecksumIs checksum: UInt64) throws -> AddResult {
        let old = try connection.first(
            """
            SELECT \(RecordRow.columnsWithBody) FROM records WHERE id = ? AND state < 2
            """, .integer(id.rawValue)
        ) { RecordRow.read($0, hasBody: true, bodies: store.files.bodies).record }
        guard let old, old.checksum == checksum else { return .conflict }
        try makeRoom(besides: [id])
        if case .file(let file) = old.body { unusedFiles.append(file.lastPathComponent) }
        var merged = parts
        (merged.lane, merged.tag, merged.key) = (old.lane, old.tag, old.uniqueKey)
        merged.priority = Int64(old.priority)
        try connection.run(
            """
            UPDATE records SET content = ?, body = ?, file = ?, bytes = ?, origin = ?, message = ?, network = ?,
              attempts = 0, refusals = 0, failure = NULL, checksum = ? WHERE id = ?
            """,
            .blob(merged.content), .optional(merged.body), .optional(merged.file), .integer(merged.bytes),
            .optional(record.content.origin), .optional(record.content.message),
            .integer(record.content.needsNetwork ? 1 : 0), .integer(Int64(bitPattern: merged.checksum)),
            .integer(id.rawValue))
        try connection.run(
            "\(SQLiteStore.endWait) WHERE id = ? AND state = 1 AND reason IN (?, ?)",
            .integer(id.rawValue), .integer(OfflineRecord.WaitReason.handler.rawValue),
            .integer(OfflineRecord.WaitReason.constraint.rawValue))
        return .kept(id)
    }

    // MARK: Bounds

    /// Drops records until the new one fits, or throws.
    ///
    /// - Parameter old: The records whose place the new one takes.
    private mutating func makeRoom(besides old: Set<OfflineRecord.ID>) throws {
        guard bounds.count != nil || bounds.bytes != nil else { return }
        let totals = try connection.first("SELECT sum(count), sum(bytes) FROM totals WHERE state >= 0") {
            (count: Int($0.integer(0)), bytes: $0.integer(1))
        }
        guard var totals else { return }
        totals.count += 1 - old.count
        totals.bytes += record.bodySize - (try old.map(size).reduce(0, +))
        while let reason = exceeded(totals) {
            // A record that does not even fit alone is never added.
            guard bounds.policy == .dropOldest, record.bodySize <= bounds.bytes ?? .max, bounds.count != 0,
                let oldest = try oldest(besides: old)
            else { throw OfflineQueueError(.full) }
            try end(oldest.id, as: .dropped(reason))
            totals.count -= 1
            totals.bytes -= oldest.bytes
        }
    }

    private func size(of id: OfflineRecord.ID) throws -> Int64 {
        try connection.first("SELECT bytes FROM records WHERE id = ?", .integer(id.rawValue)) { $0.integer(0) } ?? 0
    }

    private func exceeded(_ totals: (count: Int, bytes: Int64)) -> OfflineOutcome.DropReason? {
        if let count = bounds.count, totals.count > count { return .count }
        if let bytes = bounds.bytes, totals.bytes > bytes { return .bytes }
        return nil
    }

    private func oldest(besides old: Set<OfflineRecord.ID>) throws -> (id: OfflineRecord.ID, bytes: Int64)? {
        for condition in ["state = 3", "state < 2"] {
            var found: (id: OfflineRecord.ID, bytes: Int64)?
            try connection.forEach("SELECT id, bytes FROM records WHERE \(condition) ORDER BY id", []) { row in
                let id = OfflineRecord.ID(rawValue: row.integer(0))
                if !old.contains(id) { found = (id, row.integer(1)) }
                return found == nil
            }
            if let found { return found }
        }
        return nil
    }

    private mutating func end(_ id: OfflineRecord.ID, as outcome: OfflineOutcome) throws {
        if let file = try connection.end(
            id, as: outcome, at: record.added, keepingOutcomesFor: store.outcomeRetention)
        {
            unusedFiles.append(file)
        }
        ended.append((id, outcome))
    }
}
