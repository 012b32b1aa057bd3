#if PostgreSQL
    import Foundation
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct PostgreSQLStoreTests {
        @Test func `A body of a file and one of 3 MiB come back whole`() async throws {
            let store = try await TestQueue().store()
            let data = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try data.write(to: file)
            let body = try await store.keep(.file(file), inlineLimit: 10)
            try FileManager.default.removeItem(at: file)
            var record = newRecord("a")
            (record.body, record.bodySize) = (body.stored, body.size)
            let id = try #require(try await store.add([record], bounds: OfflineBounds(), in: nil)[0].id)
            #expect(try await store.record(id)?.body == .data(data))
            #expect(try await store.counts().bytes == Int64(data.count))
            await store.close()
        }

        @Test func `Additions at the same time all get ids, and those of one call are in order`() async throws {
            let store = try await TestQueue().store()
            let ids = try await withThrowingTaskGroup(of: [OfflineRecord.ID].self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await store.add((0..<3).map { newRecord("\($0)") }, bounds: OfflineBounds(), in: nil)
                            .compactMap(\.id)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(ids.allSatisfy { $0.count == 3 && $0 == $0.sorted() })
            #expect(Set(ids.joined()).count == 600)
            #expect(try await store.counts().pending == 600)
            await store.close()
        }

        @Test func `One addition that is refused spares the others of its call`() async throws {
            let store = try await TestQueue().store()
            let results = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        do {
                            // PostgreSQL stores no NUL.
                            let lane = number % 10 == 0 ? "\0" : "lane"
                            _ = try await store.add([newRecord("a", lane: lane)], bounds: OfflineBounds(), in: nil)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(results == 45)
            #expect(try await store.counts().pending == 45)
            await store.close()
        }

        @Test func `What a closed store had in flight can be claimed at once`() async throws {
            let test = TestQueue()
            let (first, second) = (try await test.store(), try await test.store())
            _ = try await first.add([newRecord("a")], bounds: OfflineBounds(), in: nil)
            #expect(try await first.claim(claimRequest()).claimed?.records.count == 1)
            await first.close()
            #expect(try await second.claim(claimRequest()).claimed?.records.count == 1)
            await second.close()
            #expect(
                try await TestServer.number(
                    "SELECT count(*) FROM request_operations.senders WHERE queue = $1", .text(test.name)) == 0)
        }

        @Test func `A record that another sender got after a lost answer does not end the lease`() async throws {
            let test = TestQueue()
            let (store, other) = (try await test.store(), try await test.store())
            _ = try await store.add([newRecord("a", lane: "1")], bounds: OfflineBounds(), in: nil)
            let claim = try #require(try await store.claim(claimRequest()).claimed)
            let id = claim.records[0].id
            // The answer to this one is lost.
            let result = try await TestServer.number(
                "SELECT request_operations.postpone($1, $2, 1, 0, 'lost', 0, 3, NULL, NULL)::bigint",
                .int64(claim.lease.fence), .int64(id.rawValue))
            #expect(result == 1)
            let second = try #require(try await other.claim(claimRequest()).claimed)
            #expect(second.records.map(\.id) == [id])
            let note = FailureNote(attempts: 1, refusals: 0, failure: "lost", delay: .zero, reason: .network)
            #expect(try await store.settle(id, as: .waits(note), under: claim.lease) == .removed)
            #expect(try await store.beat(claim.lease).isEmpty)
            #expect(try await other.settle(id, as: .delivered(status: 200), under: second.lease) == .recorded)
            _ = try await store.add([newRecord("b", lane: "2")], bounds: OfflineBounds(), in: nil)
            #expect(try await store.claim(claimRequest()).claimed?.lease == claim.lease)
            await store.close()
            await other.close()
        }

        @Test func `Calls under an old lease and the new one do not get each other's answers`() async throws {
            let store = try await TestQueue().store()
            let added = try await store.add([newRecord("a")], bounds: OfflineBounds(), in: nil)
            let id = try #require(added[0].id)
            let old = try #require(try await store.claim(claimRequest()).claimed).lease
            try await store.release(old)
            let new = try #require(try await store.claim(claimRequest()).claimed).lease
            // Calls that arrive while one is under way go together.
            let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    let lease = number % 2 == 0 ? old : new
                    group.addTask { try await store.maySend(id, under: lease) != (lease == new) }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(wrong == 0)
            let results = await withTaskGroup(of: (Lease, SettleResult?).self) { group in
                for number in 0..<50 {
                    let lease = number % 2 == 0 ? old : new
                    group.addTask {
                        (lease, try? await store.settle(id, as: .delivered(status: 200), under: lease))
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.allSatisfy { lease, result in (result == .recorded) == (lease == new) })
            await store.close()
        }

        @Test func `What a claim took for a queue that was paused meanwhile is pending again`() async throws {
            let test = TestQueue()
            let store = try await test.store()
            _ = try await store.add([newRecord("a")], bounds: OfflineBounds(), in: nil)
            let asked = Locked(0)
            var request = claimRequest()
            request.isWanted = {
                asked.withLock { asked in
                    asked += 1
                    return asked == 1
                }
            }
            #expect(try await store.claim(request).claimed == nil)
            #expect(try await store.counts().pending == 1)
            #expect(try await store.claim(claimRequest()).claimed?.records.count == 1)
            await store.close()
        }

        @Test func `The text of a failure may hold any character`() async throws {
            let store = try await TestQueue().store()
            _ = try await store.add([newRecord("a")], bounds: OfflineBounds(), in: nil)
            let claim = try #require(try await store.claim(claimRequest()).claimed)
            let reason = DeadLetterReason(.rejected, detail: "a\0b \u{1F600}", status: 400)
            #expect(try await store.settle(claim.records[0].id, as: .dead(reason), under: claim.lease) == .recorded)
            guard case .dead(let stored) = try await store.record(claim.records[0].id)?.state else {
                Issue.record("It is no dead letter.")
                return
            }
            #expect(stored.status == 400 && stored.detail.hasPrefix("a"))
            await store.close()
        }

        @Test func `Without work a store asks to look every five seconds, and every second with some`() {
            var counter = PollCounter()
            let start = ContinuousClock.now
            let first = counter.number(at: start)
            #expect(counter.number(at: start + .milliseconds(4999)) == first)
            #expect(counter.number(at: start + .seconds(5)) == first + 1)
            counter.worked(at: start + .seconds(5))
            #expect(counter.number(at: start + .milliseconds(5999)) == first + 1)
            #expect(counter.number(at: start + .seconds(6)) == first + 2)
            #expect(counter.number(at: start + .seconds(66)) == first + 3)
            #expect(counter.number(at: start + .seconds(67)) == first + 3)
        }
    }
#endif
