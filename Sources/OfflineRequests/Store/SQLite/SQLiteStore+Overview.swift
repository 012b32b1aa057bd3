import Foundation
import RequestOperations

/// What a view of a queue asks for. No cost here grows with the number of records.
///
/// The view has indices and counts of its own. They are made when somebody looks for the first time, so that a queue without
/// a view pays nothing for them. They stay, and SQLite maintains them for the changes of every process.
extension SQLiteStore {
    package func overview() async throws -> QueueOverview {
        let now = date()
        return try await view { connection in
            var minutes = Array(repeating: QueueOverview.Minute(), count: QueueOverview.minutesShown)
            let first = Int(now.timeIntervalSince1970 / 60) - minutes.count + 1
            try connection.forEach("SELECT minute, delivered, failed FROM view_minutes", []) { row in
                let place = Int(clamping: row.integer(0)) - first
                if minutes.indices.contains(place) {
                    minutes[place].delivered = Int(clamping: row.size(1))
                    minutes[place].failed = Int(clamping: row.size(2))
                }
                return true
            }
            return QueueOverview(
                counts: try Self.counts(connection, at: now), lanes: try Self.groups(of: .lane, connection),
                hosts: try Self.groups(of: .origin, connection), minutes: minutes)
        }
    }

    package func page(_ query: RecordQuery) async throws -> RecordPage {
        guard !query.filter.kinds.isEmpty else { return RecordPage() }
        let now = date()
        return try await view { [files] connection in
            let (sql, values) = Self.walk(query, at: now)
            var page = RecordPage()
            var last: OfflineRecord.ID?
            try connection.forEach(sql, values) { row in
                page.looked += 1
                last = OfflineRecord.ID(rawValue: row.integer(0))
                // Only a record that may match is decoded.
                if row.integer(RecordRow.columnCount) != 0 {
                    let reading = RecordRow.read(row, hasBody: false, bodies: files.bodies, at: now)
                    let record = reading.record.snapshot
                    if query.text.map(record.contains) ?? true { page.records.append(record) }
                }
                return page.records.count < query.limit
            }
            let isAtEnd = page.looked < query.steps && page.records.count < query.limit
            page.next = isAtEnd ? nil : last
            return page
        }
    }

    /// The statement that finds the records to look at, newest first. Its last column says whether the record may match the
    /// whole query.
    ///
    /// It walks the index of one part of the query. That is the state, unless pending records match: they are most of a long
    /// queue. Else it is the host, the lane or the state, in this order. A query with none of them walks the table.
    static func walk(_ query: RecordQuery, at now: Date) -> (sql: String, values: [SQLiteValue]) {
        var (match, matchValues) = condition(query.filter, at: now)
        if let text = query.text, let run = query.storedRun {
            match += " AND (id = ? OR instr(lower(\(searched)), ?))"
            matchValues += [OfflineRecord.ID(shown: text).map { .integer($0.rawValue) } ?? .null, .text(run)]
        }
        // The colon that ends an origin without a port is not shown.
        let origins: [String?] = query.host.map { $0.isEmpty ? [nil] : [$0, "\($0):"] } ?? []
        func part(_ index: String?, _ condition: String, _ value: SQLiteValue?) -> (String, [SQLiteValue]) {
            let source = index.map { "records INDEXED BY \($0)" } ?? "records"
            let values = matchValues + [value, .integer(query.before?.rawValue ?? .max)].compactMap(\.self)
            return (
                "SELECT \(RecordRow.columns), \(match) FROM \(source) WHERE id > 0 AND \(condition) AND id < ?", values
            )
        }
        let isPending = query.filter.kinds.contains(.pending)
        if !isPending, !origins.isEmpty {
            match += " AND (" + origins.map { _ in "origin IS ?" }.joined(separator: " OR ") + ")"
            matchValues += origins.map(SQLiteValue.optional)
        }
        let parts: [(String, [SQLiteValue])]
        if isPending, !origins.isEmpty {
            parts = origins.map { part("view_origin", "origin IS ?", .optional($0)) }
        } else if isPending, let lane = query.filter.lane {
            parts = [part("view_lane", "lane = ?", .text(lane))]
        } else if query.filter.kinds.count < RecordFilter.Kind.allCases.count {
            var states = query.filter.kinds
            // A record in flight that is not due yet counts as waiting.
            if states.contains(.waiting) { states.insert(.inFlight) }
            parts = states.map(\.rawValue).sorted().map { part("view_state", "state = ?", .integer($0)) }
        } else {
            parts = [part(nil, "1", nil)]
        }
        return (
            parts.map(\.0).joined(separator: " UNION ALL ") + " ORDER BY id DESC LIMIT ?",
            parts.flatMap(\.1) + [.integer(query.steps)]
        )
    }

    /// What a text is searched in.
    private static let searched = """
        content || ' ' || lane || ' ' || ifnull(tag, '') || ' ' || ifnull(key, '') || ' ' || ifnull(failure, '') || ' ' \
        || ifnull(ending, '')
        """

    // MARK: Groups

    /// What records are grouped by.
    enum Grouping: String, CaseIterable {
        case lane
        case origin
    }

    /// The statements that find the next group and count one.
    static func groupStatements(_ grouping: Grouping) -> (next: String, count: String) {
        let (name, source) = (grouping.rawValue, "records INDEXED BY view_\(grouping.rawValue) WHERE id > 0")
        return (
            "SELECT \(name) FROM \(source) AND \(name) > ? ORDER BY \(name) LIMIT 1",
            "SELECT count(*) FROM (SELECT 1 FROM \(source) AND \(name) IS ? LIMIT \(QueueOverview.mostCounted + 1))"
        )
    }

    private static func groups(of grouping: Grouping, _ connection: SQLiteConnection) throws -> [QueueOverview.Group] {
        let (next, count) = groupStatements(grouping)
        // Messages have no origin, and records without a lane have an empty one.
        var name: String? = ""
        var groups: [QueueOverview.Group] = []
        while let present = name, groups.count < QueueOverview.mostGroups {
            let value = grouping == .origin && present.isEmpty ? SQLiteValue.null : .text(present)
            let number = try connection.first(count, value) { Int(clamping: $0.integer(0)) } ?? 0
            if number > 0 {
                let shown = grouping == .origin ? QueueOverview.host(ofOrigin: present) : present
                groups.append(QueueOverview.Group(name: shown, count: number))
            }
            name = try connection.first(next, .text(present)) { $0.text(0) } ?? nil
        }
        return groups
    }

    // MARK: Tables of the view

    /// Reads with the tables of the view. They are missing at first, and after a recovery.
    private func view<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        let result: Result? = try await read { connection in
            let isThere = try connection.first("SELECT 1 FROM sqlite_schema WHERE name = 'view_minutes'") { _ in true }
            return isThere == nil ? nil : try body(connection)
        }
        if let result { return result }
        try await write { try $0.execute(Self.viewTables) }
        return try await read(body)
    }

    /// No other statement has the condition `id > 0`. So SQLite uses these indices for nothing else, and the plans of
    /// deliveries stay as they are.
    ///
    /// A trigger notes a delivery at the time of its outcome, and a failed attempt at the time of the system.
    private static let viewTables = """
        CREATE INDEX IF NOT EXISTS view_state ON records (state) WHERE id > 0;
        CREATE INDEX IF NOT EXISTS view_lane ON records (lane) WHERE id > 0;
        CREATE INDEX IF NOT EXISTS view_origin ON records (origin) WHERE id > 0;
        CREATE TABLE IF NOT EXISTS view_minutes (
          minute INTEGER PRIMARY KEY, delivered INTEGER NOT NULL, failed INTEGER NOT NULL);
        INSERT OR IGNORE INTO view_minutes
          SELECT CAST(ended / 60 AS INTEGER), count(*), 0 FROM outcomes
          WHERE ended > (SELECT max(ended) FROM outcomes) - 3600 AND \(isDelivery("outcome")) GROUP BY 1;
        CREATE TRIGGER IF NOT EXISTS view_delivered AFTER INSERT ON outcomes WHEN \(isDelivery("NEW.outcome")) BEGIN
          \(count("delivered", at: "NEW.ended"))
        END;
        CREATE TRIGGER IF NOT EXISTS view_failed AFTER UPDATE OF attempts ON records WHEN NEW.attempts > OLD.attempts BEGIN
          \(count("failed", at: "strftime('%s', 'now')"))
        END;
        """

    private static func isDelivery(_ outcome: String) -> String { "substr(\(outcome), 1, 12) = '{\"delivered\"'" }

    /// Counts one in its minute, and forgets minutes that are too old. Without `ON CONFLICT`, because the statement that
    /// fires the trigger would decide about conflicts.
    private static func count(_ column: String, at seconds: String) -> String {
        let minute = "CAST(\(seconds) / 60 AS INTEGER)"
        return """
            INSERT INTO view_minutes SELECT \(minute), 0, 0
                WHERE NOT EXISTS (SELECT 1 FROM view_minutes WHERE minute = \(minute));
              UPDATE view_minutes SET \(column) = \(column) + 1 WHERE minute = \(minute);
              DELETE FROM view_minutes WHERE minute <= \(minute) - \(QueueOverview.minutesShown);
            """
    }
}
