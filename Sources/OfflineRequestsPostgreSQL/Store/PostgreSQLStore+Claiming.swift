#if PostgreSQL
    package import OfflineRequests
    import RequestOperations

    extension PostgreSQLStore {
        package func claim(_ request: ClaimRequest) async throws -> Claim {
            guard request.isWanted() else { return Claim(answer: .idle) }
            let limit = ContinuousClock.now + statementTimeout
            while true {
                do { return try await claim(request, under: lease(request.leaseDuration)) } catch OfflineQueueError.Code
                    .leaseLost where limit > .now
                {
                    // It lapsed while there was nothing to do, or this process stood still.
                    state.withLock { $0.lease = nil }
                } catch let error as OfflineQueueError where error.meansLostAnswer && limit > .now {
                    // The next claim takes back what this one may have claimed.
                }
            }
        }

        /// The lease of this process, entered anew if it has none.
        private func lease(_ duration: Duration) async throws -> HeldLease {
            if let lease = state.withLock({ $0.lease }) { return lease }
            let began = ContinuousClock.now
            let fence = try await call(
                "SELECT request_operations.enter($1::text, $2::float8)", [.double(duration.inSeconds)], terms: .sending
            ) { $0.first?.integer(0) }
            guard let fence else { throw OfflineQueueError(.storeFailed) }
            let lease = HeldLease(fence: fence, renewed: began)
            state.withLock { $0.lease = lease }
            return lease
        }

        private func claim(_ request: ClaimRequest, under lease: HeldLease) async throws -> Claim {
            let fence = PostgreSQLValue.int64(lease.fence)
            let delivering = Set(request.delivering.map(\.rawValue))
            if lease.mayHaveMore { try await takeBack(besides: delivering, under: lease.fence) }
            // A sender without work renews its lease when it looks for some.
            if ContinuousClock.now - lease.renewed > request.leaseDuration / 3 {
                _ = try await beat(Lease(fence: lease.fence), lasting: request.leaseDuration)
            }
            let values = [queue, fence] + (try values(of: request))
            // If its answer is lost, records may be in flight that nobody here knows.
            update(lease.fence) { $0.mayHaveMore = true }
            let rows = try await pool.run(.once) { try $0.run(Self.claimRecords, values) }
            guard let summary = rows.first else { throw OfflineQueueError(.storeFailed) }
            let records = rows.filter { $0.integer(0) == 2 }.map { RecordColumns.record($0, from: 4) }
            update(lease.fence) {
                $0.mayHaveMore = false
                $0.known = delivering.union(records.map(\.id.rawValue))
            }
            state.withLock { state in
                state.lastOrigin = summary.text(2) ?? ""
                if !records.isEmpty { state.polls.worked(at: .now) }
            }
            tidyIfDue()
            var claim = Claim(answer: .idle, next: summary.double(1).map(Duration.rounded(seconds:)))
            claim.ended = rows.filter { $0.integer(0) == 1 }.compactMap { row in
                RecordColumns.decode(row.text(3)).map { (RecordColumns.id(row, 4), $0) }
            }
            guard !records.isEmpty else { return claim }
            guard request.isWanted() else {
                // The queue was paused meanwhile. What was claimed is pending again.
                update(lease.fence) { $0.mayHaveMore = true }
                try await takeBack(besides: delivering, under: lease.fence)
                return claim
            }
            claim.answer = .claimed(Lease(fence: lease.fence), records)
            return claim
        }

        /// Makes what is in flight here, but not delivered by this process, pending again.
        private func takeBack(besides delivering: Set<Int64>, under fence: Int64) async throws {
            try await pool.run(.sending) {
                _ = try $0.run(
                    "SELECT request_operations.take_back($1::bigint, $2::bigint[])",
                    [.int64(fence), .int64s(delivering)])
            }
            update(fence) { $0.mayHaveMore = false }
        }

        /// Changes the lease, if it is still the one of a number.
        private func update(_ fence: Int64, _ change: (inout HeldLease) -> Void) {
            state.withLock { state in
                guard var lease = state.lease, lease.fence == fence else { return }
                change(&lease)
                state.lease = lease
            }
        }

        private func values(of request: ClaimRequest) throws -> [PostgreSQLValue] {
            let taken = request.placesTaken.filter { $0.value > 0 }
            return [
                .int32(Int32(clamping: request.limit)), .int32(Int32(clamping: request.perOrigin)),
                taken.isEmpty ? .json("{}") : try RecordColumns.encode(taken),
                .text(state.withLock { $0.lastOrigin }), .bool(request.isOnline), .texts(request.handlers),
                .texts(request.met), .optional(request.maximumAge?.inSeconds), .double(retention),
                request.originBound.map { .int32(Int32(clamping: $0)) } ?? .null,
                .optional(request.originRate?.perSecond),
                request.originRate.map { .int32(Int32(clamping: $0.burst)) } ?? .null,
            ]
        }

        private static let claimRecords = """
            SELECT * FROM request_operations.claim($1::text, $2::bigint, $3::int, $4::int, $5::jsonb, $6::text,
              $7::boolean, $8::text[], $9::text[], $10::float8, $11::float8, $12::int, $13::float8, $14::int)
            """

        // MARK: The lease

        package func beat(_ lease: Lease) async throws -> Set<OfflineRecord.ID> {
            try await beat(lease, lasting: leaseDuration)
        }

        private func beat(_ lease: Lease, lasting duration: Duration) async throws -> Set<OfflineRecord.ID> {
            let began = ContinuousClock.now
            let ids = try await pool.run(.sending) { connection in
                try connection.run(
                    "SELECT request_operations.beat($1::bigint, $2::float8)",
                    [.int64(lease.fence), .double(duration.inSeconds)]
                ).compactMap { $0.integer(0) }
            }
            update(lease.fence) {
                $0.renewed = began
                // A claim whose connection was lost may have been committed after what was in flight was taken back.
                if !$0.known.isSuperset(of: ids) { $0.mayHaveMore = true }
            }
            return Set(ids.map(OfflineRecord.ID.init(rawValue:)))
        }

        package func release(_ lease: Lease) async throws {
            forget(lease)
            try await pool.run(.sending) { _ = try $0.run(Self.leave, [.int64(lease.fence)]) }
        }

        /// Lets the next claim enter anew.
        func forget(_ lease: Lease) {
            state.withLock { state in
                if state.lease?.fence == lease.fence { state.lease = nil }
            }
        }

        // MARK: Upkeep

        /// Removes old outcomes once a minute, beside the work.
        private func tidyIfDue() {
            let isDue = state.withLock { state in
                let now = ContinuousClock.now
                defer { if state.nextTidying.map({ $0 <= now }) ?? true { state.nextTidying = now + .seconds(60) } }
                return state.nextTidying.map { $0 <= now } ?? false
            }
            guard isDue else { return }
            Task {
                do {
                    var count = 0
                    repeat {
                        count = try await call(
                            "SELECT request_operations.tidy($1::text, $2::float8)", [.double(retention)],
                            terms: .sending
                        ) { Int($0.first?.integer(0) ?? 0) }
                        // A call removes at most so many, so that it is short.
                    } while count >= 5000
                    state.withLock { $0.hasTidyingFailed = false }
                } catch OfflineQueueError.Code.closed {
                    // The next opening goes on.
                } catch {
                    // The next minute tries again. Only the first failure of several is reported.
                    let isFirst = state.withLock { state in
                        defer { state.hasTidyingFailed = true }
                        return !state.hasTidyingFailed
                    }
                    if isFirst { onEvent(.storeFailed(OfflineQueueError(database: error))) }
                }
            }
        }
    }
#endif
