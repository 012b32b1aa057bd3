import Foundation

extension SQLiteStore {
    package func add(
        _ records: [NewRecord], bounds: OfflineBounds, in place: AddingPlace? = nil
    ) async throws -> [AddResult] {
        // Encoding takes longer than the insertion, so it is done before the commit.
        let parts: [RecordRow.Parts]
        let now = date()
        do { parts = try records.map { try RecordRow.parts(of: $0, addedAt: now) } } catch {
            throw OfflineQueueError(.unencodable, underlying: error)
        }
        await place?.turn()
        let (results, unused) = try await writer.write { [self] connection in
            var (unused, nextID): ([String], Int64) = ([], try connection.nextRecordID())
            let results = try zip(records, parts).map { record, parts in
                var adding = Adding(
                    record: record, parts: parts, now: now, bounds: bounds, store: self, connection: connection,
                    nextID: nextID)
                defer { (unused, nextID) = (unused + adding.unusedFiles, adding.nextID) }
                return try adding.run()
            }
            return (results, unused)
        } afterEntry: {
            place?.leave()
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
    let now: Date
    let bounds: OfflineBounds
    let store: SQLiteStore
    let connection: SQLiteConnection
    private var ended: [(OfflineRecord.ID, OfflineOutcome)] = []
    /// Files of bodies that no record has any more.
    private(set) var unusedFiles: [String] = []
    /// The id of the next record that is inserted in this transaction.
    private(set) var nextID: Int64

    init(
        record: NewRecord, parts: RecordRow.Parts, now: Date, bounds: OfflineBounds, store: SQLiteStore,
        connection: SQLiteConnection, nextID: Int64
    ) {
        self.record = record
        self.parts = parts
        self.now = now
        self.bounds = bounds
        self.store = store
        self.connection = connection
        self.nextID = nextID
    }

    mutating func run() throws -> AddResult {
        var replaced: [OfflineRecord.ID] = []
        if let key = record.uniqueKey {
            switch record.rule {
            case .append: break
            case .keep:
                if let id = try find(key, below: 3).first {
                    // Another process may have committed that record and not flushed it yet.
                    connection.needsFlush = true
                    return .kept(id)
                }
            case .replace: replaced = try find(key, below: 2)
            case .expectNone: guard try find(key, below: 2).isEmpty else { return .conflict }
            case .update(let id, let checksum): return try update(id, ifChecksumIs: checksum)
            }
        }
        // The outcome of a replaced record names the new one, so the old ones are removed after the insertion. They
        // still make room.
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

    private mutating func insert() throws -> OfflineRecord.ID {
        var parts = parts
        parts.id = nextID
        nextID += 1
        let due = record.due(at: now)
        try connection.run(
            """
            INSERT INTO records (id, state, head, network, reason, fence, lane, tag, key, priority, added, due, expires,
              attempts, refusals, origin, message, bytes, content, body, file, seal)
            VALUES (?, ?, NOT EXISTS (SELECT 1 FROM records WHERE lane = ? AND state < 3), ?, ?, 0, ?, ?, ?, ?, ?, ?, ?,
              0, 0, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(parts.id), .integer(due == nil ? 0 : 1), .text(parts.lane), .integer(parts.network),
            .integer(due == nil ? 0 : OfflineRecord.WaitReason.notBefore.rawValue), .text(parts.lane),
            .optional(parts.tag), .optional(parts.key), .integer(parts.priority), .real(parts.added), .real(due ?? 0),
            .optional(parts.expires), .optional(parts.origin), .optional(parts.message), .integer(parts.bytes),
            .blob(parts.content), .optional(parts.body), .optional(parts.file),
            .integer(Int64(bitPattern: parts.checksum)))
        return OfflineRecord.ID(rawValue: parts.id)
    }

    /// Gives a record a new content. Earlier attempts do not count for it. If it waits for a handler or for
    /// constraints, those of the new content count.
    private mutating func update(_ id: OfflineRecord.ID, ifChecksumIs checksum: UInt64) throws -> AddResult {
        let old = try connection.first(
            """
            SELECT \(RecordRow.columnsWithBody) FROM records WHERE id = ? AND state < 2
            """, .integer(id.rawValue)
        ) { RecordRow.read($0, hasBody: true, bodies: store.files.bodies) }
        guard let old, old.record.checksum == checksum else { return .conflict }
        try makeRoom(besides: [id])
        if let file = old.parts.file { unusedFiles.append(file) }
        var merged = old.parts
        (merged.body, merged.file, merged.bytes) = (parts.body, parts.file, parts.bytes)
        (merged.origin, merged.message, merged.network) = (parts.origin, parts.message, parts.network)
        var content = record.content
        content.notBefore = old.record.content.notBefore
        merged.content = try RecordRow.bytes(of: content)
        try connection.run(
            """
            UPDATE records SET content = ?, body = ?, file = ?, bytes = ?, origin = ?, message = ?, network = ?,
              attempts = 0, refusals = 0, failure = NULL, seal = ? WHERE id = ?
            """,
            .blob(merged.content), .optional(merged.body), .optional(merged.file), .integer(merged.bytes),
            .optional(merged.origin), .optional(merged.message), .integer(merged.network),
            .integer(Int64(bitPattern: merged.checksum)), .integer(id.rawValue))
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
        let counts = try connection.counts()
        var totals = (count: counts.undelivered + counts.dead, bytes: counts.bytes)
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
        try connection.first("SELECT bytes FROM records WHERE id = ?", .integer(id.rawValue)) {
            $0.size(0)
        } ?? 0
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
                if !old.contains(id) { found = (id, row.size(1)) }
                return found == nil
            }
            if let found { return found }
        }
        return nil
    }

    private mutating func end(_ id: OfflineRecord.ID, as outcome: OfflineOutcome) throws {
        if let file = try connection.end(
            id, as: outcome, at: now, keepingOutcomesFor: store.outcomeRetention)
        {
            unusedFiles.append(file)
        }
        ended.append((id, outcome))
    }
}
