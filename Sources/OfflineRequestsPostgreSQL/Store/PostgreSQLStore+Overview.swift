#if PostgreSQL
    import Foundation
    package import OfflineRequests
    import RequestOperations

    extension PostgreSQLStore {
        /// Lanes and hosts of the oldest 50,000 records, and the minutes of the last 100,000 outcomes, so that the cost does
        /// not grow with the queue. Only the counts read all records. Failed attempts are not counted.
        package func overview() async throws -> QueueOverview {
            let first = """
                (SELECT lane, coalesce(origin, '') AS origin FROM request_operations.records WHERE queue = $1::text
                  ORDER BY id LIMIT 50000) AS r
                """
            let group: @Sendable (PostgreSQLRow) -> QueueOverview.Group = { row in
                QueueOverview.Group(
                    name: QueueOverview.host(ofOrigin: row.text(0) ?? ""),
                    count: min(Int(row.integer(1) ?? 0), QueueOverview.mostCounted + 1))
            }
            let lanes = try await call(
                "SELECT lane, count(*) FROM \(first) GROUP BY lane ORDER BY lane LIMIT \(QueueOverview.mostGroups)"
            ) { $0.map { QueueOverview.Group(name: $0.text(0) ?? "", count: group($0).count) } }
            let hosts = try await call(
                """
                SELECT origin, count(*) FROM \(first) GROUP BY origin ORDER BY origin
                LIMIT \(QueueOverview.mostGroups)
                """
            ) { $0.map(group) }
            let minutes = try await call(
                """
                SELECT \(QueueOverview.minutesShown - 1) + (floor(extract(epoch FROM ended) / 60)
                    - floor(extract(epoch FROM clock_timestamp()) / 60))::int, count(*)
                FROM (SELECT ended, outcome FROM request_operations.outcomes
                  WHERE queue = $1::text AND ended > clock_timestamp() - interval '1 hour'
                  ORDER BY ended DESC LIMIT 100000) o
                WHERE outcome ? 'delivered' GROUP BY 1
                """
            ) { rows in
                var minutes = Array(repeating: QueueOverview.Minute(), count: QueueOverview.minutesShown)
                for row in rows {
                    let place = Int(row.integer(0) ?? -1)
                    if minutes.indices.contains(place) { minutes[place].delivered = Int(row.integer(1) ?? 0) }
                }
                return minutes
            }
            return QueueOverview(counts: try await counts(), lanes: lanes, hosts: hosts, minutes: minutes)
        }

        package func page(_ query: RecordQuery) async throws -> RecordPage {
            guard !query.filter.kinds.isEmpty else { return RecordPage() }
            let hosts = query.host.map { $0.isEmpty ? [""] : [$0, "\($0):"] }
            let id = query.text.flatMap(OfflineRecord.ID.init(shown:))
            let values: [PostgreSQLValue] = [
                .int64(query.before?.rawValue ?? .max), .int64(Int64(query.steps)), .int64(Int64(query.limit)),
                hosts.map { .texts($0) } ?? .null, .optional(query.storedRun),
                id.map { .int64($0.rawValue) } ?? .null,
            ]
            return try await call(
                """
                WITH looked AS MATERIALIZED (
                  SELECT id, matches, row_number() OVER (ORDER BY id DESC) AS place FROM (
                    SELECT id, \(Self.condition(query.filter, from: 8))
                      AND ($5::text[] IS NULL OR coalesce(origin, '') = ANY ($5))
                      AND ($6::text IS NULL OR id = $7::bigint OR strpos(lower(concat_ws(' ', method, url, message,
                        lane, tag, unique_key, failure, ending::text)), $6) > 0) AS matches
                    FROM request_operations.shown
                    WHERE queue = $1::text AND id < $2::bigint AND \(Self.stored(query.filter))
                    ORDER BY id DESC LIMIT $3::bigint) AS newest)
                SELECT \(RecordColumns.withoutBody), place, total.count, total.last
                FROM (SELECT count(*) AS count, min(id) AS last FROM looked) AS total
                LEFT JOIN LATERAL (SELECT shown.*, place FROM looked
                  JOIN request_operations.shown ON shown.queue = $1 AND shown.id = looked.id
                  WHERE matches ORDER BY place LIMIT $4::bigint) AS found ON true
                ORDER BY place
                """, values + Self.values(query.filter)
            ) { Self.page(query, $0) }
        }

        /// A page of the rows that may match. Their last columns are the number of the row among those that were looked at, and
        /// of these the count and the last id.
        private static func page(_ query: RecordQuery, _ rows: PostgreSQLRows) -> RecordPage {
            let found = rows.filter { $0.integer(0) != nil }
            var page = RecordPage()
            page.records = found.map { RecordColumns.record($0).snapshot }
                .filter { record in query.text.map(record.contains) ?? true }
            if found.count == query.limit, let last = found.last {
                page.looked = Int(last.integer(27) ?? 0)
                page.next = RecordColumns.id(last, 0)
            } else if let total = rows.first {
                page.looked = Int(total.integer(28) ?? 0)
                page.next = page.looked == query.steps ? RecordColumns.id(total, 29) : nil
            }
            return page
        }
    }
#endif
