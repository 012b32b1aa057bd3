#if PostgreSQL
    import Foundation
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import Testing

    @Suite struct PostgreSQLStoreTests {
        @Test func `A record comes back as it was added`() async throws {
            let store = try await TestQueue().store()
            var record = newRecord("a", lane: "lane", key: "key", body: "body")
            record.tag = "tag"
            record.priority = -3
            record.expires = Date(timeIntervalSince1970: 4_000_000_000.25)
            record.content.timeout = 1.5
            record.content.userInfo = Data([0, 1])
            record.content.constraints = ["reachable", "a, b"]
            let id = try #require(try await store.add([record], bounds: OfflineBounds(), in: nil)[0].id)
            let stored = try #require(try await store.record(id))
            #expect(stored.state == .pending)
            #expect(stored.content == record.content)
            #expect(stored.body == record.body)
            #expect(stored.bodySize == 4)
            #expect(stored.lane == "lane" && stored.tag == "tag" && stored.uniqueKey == "key" && stored.priority == -3)
            #expect(stored.expires == record.expires)
            #expect(abs(stored.added.timeIntervalSinceNow) < 60)
            #expect(try await store.records(.all, after: nil, limit: 10).map(\.body) == [.none])
            #expect(try await store.lastID() == id)
            #expect(try await store.mergeable(withKey: "key")?.id == id)
            await store.close()
        }

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

        @Test func `Unique keys are kept, replaced and merged`() async throws {
            let store = try await TestQueue().store()
            func add(_ rule: UniqueRule) async throws -> AddResult {
                try await store.add([newRecord("a", key: "key", rule: rule)], bounds: OfflineBounds(), in: nil)[0]
            }
            let first = try #require(try await add(.expectNone).id)
            guard case .conflict = try await add(.expectNone) else {
                Issue.record("There is a record with the key.")
                return
            }
            #expect(try await add(.keep).id == first)
            guard case .added(let second, let ended) = try await add(.replace) else {
                Issue.record("It was not added.")
                return
            }
            #expect(ended.map(\.0) == [first] && ended.map(\.1) == [.replaced(by: second)])
            #expect(try await store.outcome(of: first) == .replaced(by: second))
            let checksum = try #require(try await store.record(second)?.checksum)
            #expect(try await add(.update(second, checksum: checksum)).id == second)
            guard case .conflict = try await add(.update(second, checksum: checksum)) else {
                Issue.record("Its content has changed.")
                return
            }
            #expect(try await store.counts().pending == 1)
            await store.close()
        }

        @Test func `A full queue refuses, or drops the oldest`() async throws {
            let store = try await TestQueue().store()
            var bounds = OfflineBounds(count: 2)
            let ids = try await store.add([newRecord("a"), newRecord("b")], bounds: bounds, in: nil).compactMap(\.id)
            let error = try await #require(throws: OfflineQueueError.self) {
                _ = try await store.add([newRecord("c")], bounds: OfflineBounds(count: 2), in: nil)
            }
            #expect(error.code == .full)
            bounds.policy = .dropOldest
            guard case .added(_, let ended) = try await store.add([newRecord("c")], bounds: bounds, in: nil)[0] else {
                Issue.record("It was not added.")
                return
            }
            #expect(ended.map(\.0) == [ids[0]] && ended.map(\.1) == [.dropped(.count)])
            await store.close()
        }

        @Test func `What a silent sender had in flight is taken over, and its late outcome is void`() async throws {
            let test = TestQueue()
            let (paused, other) = (try await test.store(), try await test.store())
            _ = try await paused.add([newRecord("a")], bounds: OfflineBounds(), in: nil)
            let first = try #require(try await paused.claim(claimRequest(lease: .milliseconds(100))).claimed)
            #expect(first.records.count == 1)
            #expect(try await paused.maySend(first.records[0].id, under: first.lease))
            #expect(try await paused.record(first.records[0].id)?.state == .inFlight)
            try await TestServer.waitAsync(
                until: """
                    SELECT count(*) = 1 FROM request_operations.senders
                    WHERE queue = $1 AND lease_until < clock_timestamp()
                    """, .text(test.name))
            let second = try #require(try await other.claim(claimRequest()).claimed)
            #expect(second.records.map(\.id) == first.records.map(\.id))
            #expect(second.lease.fence > first.lease.fence)
            #expect(try await !paused.maySend(first.records[0].id, under: first.lease))
            for settlement in [
                Settlement.delivered(status: 200), .dead(DeadLetterReason(.rejected, detail: "late")),
                .waits(FailureNote(attempts: 1, refusals: 0, failure: "late", delay: .seconds(1), reason: .network)),
            ] {
                let error = try await #require(throws: OfflineQueueError.self) {
                    _ = try await paused.settle(first.records[0].id, as: settlement, under: first.lease)
                }
                #expect(error.code == .leaseLost)
            }
            let error = try await #require(throws: OfflineQueueError.self) { _ = try await paused.beat(first.lease) }
            #expect(error.code == .leaseLost)
            #expect(
                try await other.settle(second.records[0].id, as: .delivered(status: 200), under: second.lease)
                    == .recorded)
            // It enters anew.
            #expect(try await paused.claim(claimRequest()).claimed == nil)
            await paused.close()
            await other.close()
        }

        @Test func `What is released or closed can be claimed at once`() async throws {
            let test = TestQueue()
            let (first, second) = (try await test.store(), try await test.store())
            _ = try await first.add([newRecord("a")], bounds: OfflineBounds(), in: nil)
            let claim = try #require(try await first.claim(claimRequest()).claimed)
            try await first.release(claim.lease)
            #expect(try await second.claim(claimRequest()).claimed?.records.count == 1)
            await second.close()
            #expect(try await first.claim(claimRequest()).claimed?.records.count == 1)
            await first.close()
            #expect(
                try await TestServer.number(
                    "SELECT count(*) FROM request_operations.senders WHERE queue = $1", .text(test.name)) == 0)
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

        @Test func `A failed record waits, and is woken with its origin`() async throws {
            let store = try await TestQueue().store()
            _ = try await store.add([newRecord("a")], bounds: OfflineBounds(), in: nil)
            let claim = try #require(try await store.claim(claimRequest()).claimed)
            let id = claim.records[0].id
            let note = FailureNote(
                attempts: 1, refusals: 1, failure: "status 503", delay: .seconds(3600), reason: .backoff)
            #expect(try await store.settle(id, as: .waits(note), under: claim.lease) == .recorded)
            let waiting = try #require(try await store.record(id))
            guard case .waiting(let until?, .backoff) = waiting.state else {
                Issue.record("It does not wait.")
                return
            }
            #expect(abs(until.timeIntervalSinceNow - 3600) < 60)
            #expect(waiting.attempts == 1 && waiting.refusals == 1 && waiting.lastFailure == "status 503")
            #expect(try await store.waitingOrigins(limit: 10) == ["https://a.example:"])
            #expect(try await !store.isDrained())
            #expect(try await store.wake(.origin("https://a.example:", limit: 2)) == 1)
            #expect(try await store.claim(claimRequest()).claimed?.records.map(\.id) == [id])
            await store.close()
        }

        @Test func `A host that asks to be left alone is left alone by all senders`() async throws {
            let test = TestQueue()
            let (first, second) = (try await test.store(), try await test.store())
            _ = try await first.add(
                [newRecord("a", lane: "1"), newRecord("b", lane: "2"), newRecord("c", lane: "3", host: "b.example")],
                bounds: OfflineBounds(), in: nil)
            let claim = try #require(try await first.claim(claimRequest(1)).claimed)
            let note = FailureNote(
                attempts: 1, refusals: 1, failure: "status 429", delay: .seconds(3600), reason: .retryAfter,
                originRests: .seconds(3600))
            #expect(try await first.settle(claim.records[0].id, as: .waits(note), under: claim.lease) == .recorded)
            let next = try #require(try await second.claim(claimRequest()).claimed)
            #expect(next.records.compactMap { $0.content.url?.host } == ["b.example"])
            await first.close()
            await second.close()
        }

        @Test func `A lane is paused by a call or since it fails for too long, and resumed`() async throws {
            let test = TestQueue()
            let store = try await test.store(configuration: {
                $0.lanePause = LanePausePolicy(failingFor: .seconds(3600))
            })
            _ = try await store.add(
                [newRecord("a", lane: "1"), newRecord("b", lane: "2")], bounds: OfflineBounds(), in: nil)
            #expect(try await store.pause(lane: "2", because: .status(410)))
            #expect(try await !store.pause(lane: "2", because: .requested))
            let note = FailureNote(attempts: 1, refusals: 0, failure: "none", delay: .zero, reason: .network)
            var results: [SettleResult] = []
            for attempts in 1...2 {
                let claim = try #require(try await store.claim(claimRequest()).claimed)
                #expect(claim.records.map(\.lane) == ["1"])
                var note = note
                note.attempts = attempts
                results.append(try await store.settle(claim.records[0].id, as: .waits(note), under: claim.lease))
                // The first failure begins the time, which is over now.
                _ = try await TestServer.number(
                    """
                    UPDATE request_operations.lanes SET failing_since = failing_since - interval '2 hours'
                    WHERE queue = $1 AND lane = '1' RETURNING 1
                    """, .text(test.name))
            }
            #expect(results == [.recorded, .recordedAndLanePaused])
            let paused = try await store.pausedLanes()
            #expect(paused.map(\.lane) == ["1", "2"])
            guard case .failing(let since)? = paused.first?.reason else {
                Issue.record("The reason is another one.")
                return
            }
            #expect(abs(since.timeIntervalSinceNow + 7200) < 60)
            #expect(paused.last?.reason == .status(410))
            #expect(try await store.claim(claimRequest()).claimed == nil)
            #expect(try await store.resume(lane: "2"))
            #expect(try await !store.resume(lane: "2"))
            #expect(try await store.claim(claimRequest()).claimed?.records.map(\.lane) == ["2"])
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
