#if PostgreSQL
    import Foundation
    package import OfflineRequests
    import RequestOperations

    extension PostgreSQLStore {
        package func records(
            _ filter: RecordFilter, after id: OfflineRecord.ID?, limit: Int
        ) async throws -> [StoredRecord] {
            try await call(
                """
                SELECT \(RecordColumns.withoutBody) FROM request_operations.shown
                WHERE queue = $1::text AND id > $2::bigint AND \(Self.stored(filter))
                  AND \(Self.condition(filter, from: 4)) ORDER BY id LIMIT $3::bigint
                """, [.int64(id?.rawValue ?? .min), .int64(Int64(limit))] + Self.values(filter)
            ) { $0.map { RecordColumns.record($0) } }
        }

        /// Whether a record of the view matches a filter.
        ///
        /// - Parameter first: The number of the first of the three parameters.
        static func condition(_ filter: RecordFilter, from first: Int) -> String {
            """
            state = ANY ($\(first)::smallint[]) AND ($\(first + 1)::text IS NULL OR lane = $\(first + 1))
            AND ($\(first + 2)::text IS NULL OR tag = $\(first + 2))
            """
        }

        /// A condition that an index serves, of the states as they are stored.
        static func stored(_ filter: RecordFilter) -> String {
            switch filter.kinds {
            case [.dead]: "stored_state = 5"
            case [.inFlight]: "stored_state = 4"
            default: "true"
            }
        }

        static func values(_ filter: RecordFilter) -> [PostgreSQLValue] {
            [
                .array(.int16, filter.kinds.map { .int16(Int16($0.rawValue)) }), .optional(filter.lane),
                .optional(filter.tag),
            ]
        }

        package func record(_ id: OfflineRecord.ID) async throws -> StoredRecord? {
            try await call(
                """
                SELECT \(RecordColumns.withBody) FROM request_operations.shown
                WHERE queue = $1::text AND id = $2::bigint
                """, [.int64(id.rawValue)]
            ) { $0.first.map { RecordColumns.record($0) } }
        }

        package func undecided(of ids: [OfflineRecord.ID]) async throws -> Set<OfflineRecord.ID> {
            try await call(
                """
                SELECT id FROM request_operations.records
                WHERE queue = $1::text AND id = ANY ($2::bigint[]) AND state < 5
                """, [.int64s(ids.map(\.rawValue))]
            ) { Set($0.map { RecordColumns.id($0, 0) }) }
        }

        package func lastID() async throws -> OfflineRecord.ID? {
            try await call(
                "SELECT id FROM request_operations.records WHERE queue = $1::text ORDER BY id DESC LIMIT 1"
            ) { $0.first.map { RecordColumns.id($0, 0) } }
        }

        package func remove(_ id: OfflineRecord.ID) async throws -> Bool {
            try await change(
                "SELECT request_operations.remove($1::text, $2::bigint[], $3::float8)",
                [.int64s([id.rawValue]), .double(retention)]
            ) { !$0.isEmpty }
        }

        package func remove(
            _ filter: RecordFilter, upTo last: OfflineRecord.ID, limit: Int
        ) async throws -> [OfflineRecord.ID] {
            guard !filter.kinds.isEmpty else { return [] }
            return try await change(
                """
                SELECT request_operations.remove_matching($1::text, $2::smallint[], $3::text, $4::text, $5::bigint,
                  $6::int, $7::float8)
                """,
                Self.values(filter) + [.int64(last.rawValue), .int32(Int32(clamping: limit)), .double(retention)]
            ) { $0.map { RecordColumns.id($0, 0) } }
        }

        package func revive(_ id: OfflineRecord.ID) async throws -> Bool {
            try await change("SELECT request_operations.retry($1::text, $2::bigint)", [.int64(id.rawValue)]) {
                $0.first?.bool(0) ?? false
            }
        }

        package func counts() async throws -> OfflineCounts {
            try await call(
                """
                SELECT state, count(*), sum(body_size)::bigint FROM request_operations.shown
                WHERE queue = $1::text GROUP BY state
                """
            ) { rows in
                var counts = OfflineCounts()
                for row in rows {
                    let count = Int(row.integer(1) ?? 0)
                    switch row.integer(0) {
                    case 0: counts.pending = count
                    case 1: counts.waiting = count
                    case 2: counts.inFlight = count
                    default: counts.dead = count
                    }
                    counts.bytes += row.integer(2) ?? 0
                }
                return counts
            }
        }

        /// Each part of the condition has an index that holds only such records.
        package func isDrained() async throws -> Bool {
            try await call(
                """
                SELECT NOT EXISTS (SELECT FROM request_operations.records WHERE queue = $1::text AND state = 2)
                  AND NOT EXISTS (SELECT FROM request_operations.records WHERE queue = $1 AND state = 3)
                  AND NOT EXISTS (SELECT FROM request_operations.records WHERE queue = $1 AND state = 4)
                  AND NOT EXISTS (SELECT FROM request_operations.records WHERE queue = $1 AND state < 2)
                """
            ) { $0.first?.bool(0) ?? false }
        }

        package func outcome(of id: OfflineRecord.ID) async throws -> OfflineOutcome? {
            try await call(
                "SELECT outcome FROM request_operations.outcomes WHERE queue = $1::text AND id = $2::bigint",
                [.int64(id.rawValue)]
            ) { RecordColumns.decode($0.first?.text(0)) }
        }
    }
#endif
