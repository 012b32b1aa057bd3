#if PostgreSQL
    import Foundation
    package import OfflineRequests
    import RequestOperations

    extension PostgreSQLStore {
        /// Additions that arrive while a call is under way go together in the next one, in the order of their arrival.
        package func add(
            _ records: [NewRecord], bounds: OfflineBounds, in place: AddingPlace?
        ) async throws -> [AddResult] {
            guard !records.isEmpty else { return [] }
            let addition: Addition
            do { addition = try Addition(records, bounds) } catch {
                throw OfflineQueueError(.unencodable, underlying: error)
            }
            await place?.turn()
            state.withLock { $0.polls.worked(at: .now) }
            return try await adds.run(addition, isCancellable: true) { place?.leave() }
        }

        package func mergeable(withKey key: String) async throws -> StoredRecord? {
            try await call(
                """
                SELECT \(RecordColumns.withBody) FROM request_operations.shown
                WHERE queue = $1::text AND unique_key = $2::text AND stored_state < 4 ORDER BY id DESC LIMIT 1
                """, [.text(key)]
            ) { $0.first.map { RecordColumns.record($0) } }
        }

        /// What one caller adds.
        struct Addition: Sendable {
            let rows: [Row]
            let bounds: OfflineBounds
            /// The bytes of the call, about.
            let weight: Int

            struct Row: Sendable {
                let record: NewRecord
                let headers: String
            }

            init(_ records: [NewRecord], _ bounds: OfflineBounds) throws {
                rows = try records.map { record in
                    let fields = record.content.fields ?? [:]
                    let headers =
                        fields.isEmpty ? "{}" : String(decoding: try JSONEncoder().encode(fields), as: UTF8.self)
                    return Row(record: record, headers: headers)
                }
                self.bounds = bounds
                weight = rows.reduce(0) { $0 + Int($1.record.bodySize) + $1.headers.utf8.count + 500 }
            }
        }

        /// Makes the additions of several callers in one call. If the database refuses them, each is tried alone, because
        /// only one of them need be at fault.
        static func add(
            _ additions: [Addition], to queue: PostgreSQLValue, retention: Double, over pool: PostgreSQLPool
        ) async -> [Result<[AddResult], any Error>] {
            do {
                // The bounds are those of the queue, so they are the same for all.
                guard let bounds = additions.first?.bounds else { return [] }
                let added = additions.flatMap(\.rows)
                let values =
                    [queue] + columns(of: added) + [
                        bounds.count.map { .int64(Int64($0)) } ?? .null, bounds.bytes.map { .int64($0) } ?? .null,
                        .bool(bounds.policy == .dropOldest), .double(retention),
                    ]
                let hasEffect: @Sendable (PostgreSQLConnection, PostgreSQLRows) throws -> Bool? = {
                    try isThere($1, of: added, in: queue, retention: retention, over: $0)
                }
                let rows = try await pool.commit(hasEffect: hasEffect) { connection in
                    let rows = try connection.run(addRecords, values)
                    // There is a row for each record.
                    return PostgreSQLPool.Change(rows, in: rows.first, from: 4)
                }
                var results = results(of: rows, count: additions.reduce(0) { $0 + $1.rows.count })[...]
                return additions.map { addition in
                    defer { results = results.dropFirst(addition.rows.count) }
                    return .success(Array(results.prefix(addition.rows.count)))
                }
            } catch let error as OfflineQueueError
                where additions.count > 1 && (error.underlying as? PostgreSQLError)?.state != nil
            {
                var results: [Result<[AddResult], any Error>] = []
                for addition in additions {
                    results += await add([addition], to: queue, retention: retention, over: pool)
                }
                return results
            } catch {
                return additions.map { _ in .failure(error) }
            }
        }

        /// Whether the first of the records that a call has added is there, or has an outcome; `nil` if its outcome may be
        /// forgotten. A record may have the id of one that was lost, but not its key.
        private static func isThere(
            _ rows: PostgreSQLRows, of added: [Addition.Row], in queue: PostgreSQLValue, retention: Double,
            over connection: PostgreSQLConnection
        ) throws -> Bool? {
            func record(of row: PostgreSQLRow) -> NewRecord? {
                let place = Int(row.integer(0) ?? 0) - 1
                return added.indices.contains(place) ? added[place].record : nil
            }
            let first = rows.first { $0.integer(1) == 0 }
            let updated = rows.first { row in
                if row.integer(1) == 1, case .update? = record(of: row)?.rule { true } else { false }
            }
            // What has changed nothing may run again.
            guard let row = first ?? updated, let record = record(of: row), let id = row.integer(2) else {
                return false
            }
            let found = try connection.run(
                """
                SELECT EXISTS (SELECT FROM request_operations.records
                    WHERE queue = $1::text AND id = $2::bigint AND idempotency_key = $3::text),
                  EXISTS (SELECT FROM request_operations.outcomes WHERE queue = $1 AND id = $2)
                """, [queue, .int64(id), .text(record.content.idempotencyKey)]
            ).first
            if found?.bool(0) == true { return true }
            // An outcome of an updated record may be that of its old content.
            guard first != nil else { return nil }
            return found?.bool(1) == true ? true : retention > 0 ? false : nil
        }

        // MARK: Parameters and rows

        /// The last columns tell of the transaction.
        private static let addRecords = """
            SELECT a.ord, a.kind, a.id, a.outcome, \(PostgreSQLPool.Change<PostgreSQLRows>.columns)
            FROM request_operations.add_records($1::text, $2::text[], $3::text[], $4::text[], $5::smallint[],
              $6::bigint[], $7::int[], $8::int[], $9::float8[], $10::float8[], $11::text[], $12::text[], $13::text[],
              $14::text[], $15::text[], $16::float8[], $17::text[], $18::bytea[], $19::text[], $20::bytea[],
              $21::bigint, $22::bigint, $23::boolean, $24::float8) AS a
            """

        private static func columns(of rows: [Addition.Row]) -> [PostgreSQLValue] {
            func column(
                _ type: PostgreSQLValue.ElementType, _ value: (NewRecord) -> PostgreSQLValue
            ) -> PostgreSQLValue {
                .array(type, rows.map { value($0.record) })
            }
            func seconds(_ date: Date?) -> PostgreSQLValue { .optional(date?.storable?.timeIntervalSince1970) }
            return [
                column(.text) { .text($0.lane) },
                column(.text) { .optional($0.tag) },
                column(.text) { .optional($0.uniqueKey) },
                column(.int16) { .int16($0.rule.number) },
                column(.int64) { if case .update(let id, _) = $0.rule { .int64(id.rawValue) } else { .null } },
                column(.int32) {
                    if case .update(_, let checksum) = $0.rule {
                        .int32(Int32(truncatingIfNeeded: checksum))
                    } else {
                        .null
                    }
                },
                column(.int32) { .int32(Int32(clamping: $0.priority)) },
                column(.double) { seconds($0.notBefore) },
                column(.double) { seconds($0.expires) },
                column(.text) { .optional($0.content.message) },
                column(.text) { .optional($0.content.method) },
                column(.text) { .optional($0.content.url?.absoluteString) },
                column(.text) { .optional($0.content.origin) },
                .array(.text, rows.map { .text($0.headers) }),
                column(.double) { .optional($0.content.timeout) },
                // A name may hold any character but the unit separator.
                column(.text) { .text($0.content.constraints.joined(separator: "\u{1F}")) },
                column(.bytes) { .optional($0.content.userInfo) },
                column(.text) { .text($0.content.idempotencyKey) },
                column(.bytes) { if case .data(let data) = $0.body { .bytes(data) } else { .null } },
            ]
        }

        /// The results of records, in their order.
        private static func results(of rows: PostgreSQLRows, count: Int) -> [AddResult] {
            var results = Array(repeating: AddResult.conflict, count: count)
            var ended: [Int: [(OfflineRecord.ID, OfflineOutcome)]] = [:]
            for row in rows where row.integer(1) == 3 {
                guard let outcome: OfflineOutcome = RecordColumns.decode(row.text(3)) else { continue }
                ended[Int(row.integer(0) ?? 0), default: []].append((RecordColumns.id(row, 2), outcome))
            }
            for row in rows {
                // Records are counted from 1.
                let number = Int(row.integer(0) ?? 0)
                guard results.indices.contains(number - 1) else { continue }
                switch row.integer(1) {
                case 0: results[number - 1] = .added(RecordColumns.id(row, 2), ended: ended[number] ?? [])
                case 1: results[number - 1] = .kept(RecordColumns.id(row, 2))
                default: break
                }
            }
            return results
        }
    }

    extension UniqueRule {
        /// Its number in the schema.
        fileprivate var number: Int16 {
            switch self {
            case .append: 0
            case .keep: 1
            case .replace: 2
            case .expectNone: 3
            case .update: 4
            }
        }
    }
#endif
