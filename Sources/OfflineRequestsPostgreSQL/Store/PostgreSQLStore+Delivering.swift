#if PostgreSQL
    import Foundation
    package import OfflineRequests
    import RequestOperations

    /// The functions here answer by the fence: they may be repeated if an answer was lost.
    extension PostgreSQLStore {
        /// What a function says of a record that this process delivered.
        enum SettlementAnswer: Int64, Sendable {
            case removed = 0
            case recorded = 1
            case recordedAndLanePaused = 2
            /// This process does not have it in flight any more.
            case takenOver = -1
        }

        /// A record in flight under a lease. One process has two leases for a moment after the first was lost, and the same
        /// record may have been in flight under both.
        struct Flight: Sendable, Hashable {
            let fence: Int64
            let id: Int64
        }

        /// A record that was delivered.
        struct Delivery: Sendable {
            let flight: Flight
            let status: Int?
        }

        package func settle(
            _ id: OfflineRecord.ID, as settlement: Settlement, under lease: Lease, pausingLane pause: LanePauseReason?
        ) async throws -> SettleResult {
            let answer: SettlementAnswer
            switch settlement {
            case .delivered(let status):
                let delivery = Delivery(flight: Flight(fence: lease.fence, id: id.rawValue), status: status)
                answer = try await deliveries.run(delivery, isCancellable: false)
            case .waits(let step):
                answer = try await settle(
                    """
                    SELECT request_operations.postpone($1::bigint, $2::bigint, $3::int, $4::int, $5::text, $6::float8,
                      $7::int, $8::float8, $9::float8)
                    """,
                    [.int64(lease.fence), .int64(id.rawValue)] + Self.values(of: step) + [
                        .optional(step.originRests?.inSeconds), .optional(lanePatience?.inSeconds),
                    ])
            case .dead(let given):
                let reason = DeadLetterReason(given.kind, detail: given.detail.withoutNull, status: given.status)
                answer = try await settle(
                    "SELECT request_operations.bury($1::bigint, $2::bigint, $3::jsonb, $4::float8, $5::text)",
                    [
                        .int64(lease.fence), .int64(id.rawValue), try RecordColumns.encode(reason),
                        .optional(lanePatience?.inSeconds), .optional(try pause.map { try RecordColumns.text(of: $0) }),
                    ])
            }
            switch answer {
            case .removed: return .removed
            case .recorded: return .recorded
            case .recordedAndLanePaused: return .recordedAndLanePaused
            case .takenOver:
                // The lease can live: another sender got this record after an answer about it was lost.
                if try await isHeld(lease) { return .removed }
                forget(lease)
                throw OfflineQueueError(.leaseLost)
            }
        }

        private func isHeld(_ lease: Lease) async throws -> Bool {
            try await pool.run(.sending) {
                try !$0.run("SELECT FROM request_operations.senders WHERE fence = $1::bigint", [.int64(lease.fence)])
                    .isEmpty
            }
        }

        private func settle(_ sql: String, _ values: [PostgreSQLValue]) async throws -> SettlementAnswer {
            let number = try await pool.run(.sending) { try $0.run(sql, values).first?.integer(0) }
            guard let answer = number.flatMap(SettlementAnswer.init) else { throw OfflineQueueError(.storeFailed) }
            return answer
        }

        /// Records deliveries of several records in one call.
        static func deliver(
            _ deliveries: [Delivery], retention: Double, over pool: PostgreSQLPool
        ) async -> [Result<SettlementAnswer, any Error>] {
            var answers: [Flight: Result<SettlementAnswer, any Error>] = [:]
            for (fence, group) in Dictionary(grouping: deliveries, by: \.flight.fence) {
                let values: [PostgreSQLValue] = [
                    .int64(fence), .int64s(group.map(\.flight.id)),
                    .array(.int32, group.map { $0.status.map { .int32(Int32(clamping: $0)) } ?? .null }),
                    .double(retention),
                ]
                do {
                    let rows = try await pool.run(.sending) {
                        try $0.run(
                            """
                            SELECT id, result
                            FROM request_operations.deliver($1::bigint, $2::bigint[], $3::int[], $4::float8)
                            """, values)
                    }
                    for row in rows {
                        let answer = row.integer(1).flatMap(SettlementAnswer.init) ?? .removed
                        answers[Flight(fence: fence, id: row.integer(0) ?? 0)] = .success(answer)
                    }
                } catch {
                    for delivery in group { answers[delivery.flight] = .failure(error) }
                }
            }
            return deliveries.map { answers[$0.flight] ?? .success(.removed) }
        }

        package func maySend(_ id: OfflineRecord.ID, under lease: Lease) async throws -> Bool {
            try await questions.run(Flight(fence: lease.fence, id: id.rawValue), isCancellable: true)
        }

        /// Answers whether several records may be sent in one call.
        static func maySend(_ flights: [Flight], over pool: PostgreSQLPool) async -> [Result<Bool, any Error>] {
            let values: [PostgreSQLValue] = [.int64s(flights.map(\.fence)), .int64s(flights.map(\.id))]
            do {
                let sendable = try await pool.run(.sending) { connection in
                    Set(
                        try connection.run(
                            """
                            SELECT q.fence, q.id FROM unnest($1::bigint[], $2::bigint[]) AS q (fence, id)
                            WHERE request_operations.may_send(q.fence, q.id)
                            """, values
                        ).map { Flight(fence: $0.integer(0) ?? 0, id: $0.integer(1) ?? 0) })
                }
                return flights.map { .success(sendable.contains($0)) }
            } catch {
                return flights.map { _ in .failure(error) }
            }
        }

        package func note(_ step: FailureNote, of id: OfflineRecord.ID, under lease: Lease) async throws {
            let values = [.int64(lease.fence), .int64(id.rawValue)] + Self.values(of: step)
            try await pool.run(.sending) { connection in
                _ = try connection.run(
                    """
                    SELECT request_operations.note($1::bigint, $2::bigint, $3::int, $4::int, $5::text, $6::float8,
                      $7::int)
                    """, values)
            }
        }

        private static func values(of step: FailureNote) -> [PostgreSQLValue] {
            [
                .int32(Int32(clamping: step.attempts)), .int32(Int32(clamping: step.refusals)),
                .text(step.failure.withoutNull), .double(step.delay.inSeconds),
                .int32(Int32(step.reason.rawValue)),
            ]
        }

        // MARK: Lanes

        package func pause(lane: String, because reason: LanePauseReason) async throws -> Bool {
            let reason = try RecordColumns.text(of: reason)
            return try await change(
                "SELECT request_operations.pause_lane($1::text, $2::text, $3::text)", [.text(lane), .text(reason)]
            ) { $0.first?.bool(0) ?? false }
        }

        package func resume(lane: String) async throws -> Bool {
            try await change("SELECT request_operations.resume_lane($1::text, $2::text)", [.text(lane)]) {
                $0.first?.bool(0) ?? false
            }
        }

        package func pausedLanes() async throws -> [PausedLane] {
            try await call(
                """
                SELECT lane, paused_because, extract(epoch FROM paused_since)::float8 FROM request_operations.lanes
                WHERE queue = $1::text AND paused_since IS NOT NULL ORDER BY lane
                """
            ) { rows in
                rows.map { row in
                    PausedLane(
                        lane: row.text(0) ?? "", reason: RecordColumns.decode(row.text(1)) ?? .requested,
                        since: Date(storedSeconds: row.double(2) ?? 0))
                }
            }
        }

        // MARK: Waits

        package func wake(_ sleepers: Sleepers) async throws -> Int {
            let (network, backoff, constraint) = (
                OfflineRecord.WaitReason.network, OfflineRecord.WaitReason.backoff, OfflineRecord.WaitReason.constraint
            )
            switch sleepers {
            case .network: return try await wake([network], at: nil, most: Sleepers.batch)
            case .constraint: return try await wake([constraint], at: nil, most: Sleepers.batch)
            case .origin(let origin, let limit): return try await wake([network, backoff], at: origin, most: limit)
            }
        }

        private func wake(_ reasons: [OfflineRecord.WaitReason], at origin: String?, most: Int) async throws -> Int {
            try await call(
                "SELECT request_operations.wake($1::text, $2::smallint[], $3::text, $4::int)",
                [
                    .array(.int16, reasons.map { .int16(Int16($0.rawValue)) }), .optional(origin),
                    .int32(Int32(clamping: most)),
                ]
            ) { Int($0.first?.integer(0) ?? 0) }
        }

        /// The wait after many attempts is the longest of all.
        package func endWaits(longerThan longest: LongestWaits) async throws -> Int {
            let longest = longest.wait(for: .retryAfter, after: 10_000) ?? .zero
            return try await call(
                "SELECT request_operations.end_waits($1::text, $2::float8, $3::int)",
                [.double(longest.inSeconds), .int32(Int32(Sleepers.batch))]
            ) { Int($0.first?.integer(0) ?? 0) }
        }

        package func waitingOrigins(limit: Int) async throws -> [String] {
            try await call(
                "SELECT request_operations.waiting_origins($1::text, $2::int)", [.int32(Int32(clamping: limit))]
            ) { $0.compactMap { $0.text(0) } }
        }
    }

    extension String {
        /// PostgreSQL stores no NUL.
        fileprivate var withoutNull: String { replacing("\0", with: " ") }
    }
#endif
