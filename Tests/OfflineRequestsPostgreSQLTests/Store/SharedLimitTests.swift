#if PostgreSQL
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import Testing

    /// The limits of an origin, over the senders of two programs.
    @Suite(.timeLimit(.minutes(5))) struct SharedLimitTests {
        /// Claims and delivers with both stores, until there is nothing to do any more.
        ///
        /// - Parameters:
        ///   - count: The number of records, all of one origin.
        ///   - request: What each claim asks.
        ///   - isDone: Called before each claim with the number of records that were claimed.
        /// - Returns: How many were claimed, and the most that were in flight at the same time.
        private func deliver(
            _ count: Int, _ request: ClaimRequest, until isDone: @escaping @Sendable (Int) -> Bool
        ) async throws -> (claimed: Int, most: Int) {
            let test = TestQueue()
            let stores = [try await test.store(), try await test.store()]
            _ = try await stores[0].add(
                (0..<count).map { newRecord("\($0)", lane: "\($0)") }, bounds: OfflineBounds(), in: nil)
            let state = Locked((claimed: 0, inFlight: 0, most: 0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores {
                    group.addTask {
                        while !isDone(state.withLock { $0.claimed }) {
                            guard let (lease, records) = try await store.claim(request).claimed else { continue }
                            state.withLock { state in
                                state.claimed += records.count
                                state.inFlight += records.count
                                state.most = max(state.most, state.inFlight)
                            }
                            for record in records {
                                state.withLock { $0.inFlight -= 1 }
                                _ = try await store.settle(record.id, as: .delivered(status: 204), under: lease)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            for store in stores { await store.close() }
            return state.withLock { ($0.claimed, $0.most) }
        }

        @Test func `Never more are in flight over two stores than the bound of an origin`() async throws {
            var request = claimRequest(5)
            request.originBound = 3
            let (claimed, most) = try await deliver(60, request) { $0 >= 60 }
            #expect(claimed == 60)
            #expect((1...3).contains(most))
        }

        @Test func `Two stores together keep the rate of an origin`() async throws {
            var request = claimRequest(5)
            request.originRate = .perSecond(10, burst: 3)
            // The time begins before the first claim. More than the burst shows that the rate goes on.
            let first = Locked<ContinuousClock.Instant?>(nil)
            let (claimed, _) = try await deliver(200, request) { claimed in
                let start = first.withLock { first -> ContinuousClock.Instant in
                    let start = first ?? ContinuousClock.now
                    first = start
                    return start
                }
                return claimed > 3 && ContinuousClock.now - start > .seconds(3)
            }
            let start = try #require(first.withLock { $0 })
            let allowed = (ContinuousClock.now - start) / .seconds(1) * 10 + 3
            #expect(Double(claimed) <= allowed)
        }
    }
#endif
