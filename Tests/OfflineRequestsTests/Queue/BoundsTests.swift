import OfflineRequests
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct BoundsTests {
    @Test func `A full queue rejects`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.bounds.count = 2 }
        queue.pause()
        for name in ["a", "b"] { try await queue.add(post(name)) }
        await #expect { try await queue.add(post("c")) } throws: { OfflineQueueError.Code.full ~= $0 }
        #expect(try await queue.counts.pending == 2)
        await queue.close()
    }

    @Test func `The oldest is dropped and an event says so`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.bounds = OfflineBounds(count: 2, policy: .dropOldest) }
        queue.pause()
        let events = queue.events
        let first = try await queue.add(post("a"))
        for name in ["b", "c"] { try await queue.add(post(name)) }
        for await case .ended(first, let outcome) in events {
            #expect(outcome == .dropped(.count))
            break
        }
        #expect(try await queue.outcome(of: first) == .dropped(.count))
        #expect(try await queue.counts.pending == 2)
        await queue.close()
    }

    @Test func `Bytes are bounded`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.bounds = OfflineBounds(bytes: 10, policy: .dropOldest) }
        queue.pause()
        let first = try await queue.add(post("a", body: "123456"))
        try await queue.add(post("b", body: "12345"))
        #expect(try await queue.outcome(of: first) == .dropped(.bytes))
        await #expect { try await queue.add(post("c", body: "12345678901")) } throws: {
            OfflineQueueError.Code.full ~= $0
        }
        #expect(try await queue.counts.bytes == 5)
        await queue.close()
    }

    @Test func `A record that grows too old is dropped in time`() async throws {
        let fixture = try Fixture([.status(204)], .unreachable)
        let queue = try await fixture.open { $0.bounds.age = .seconds(100) }
        let events = queue.events
        let id = try await queue.add(post("a"))
        // Nobody waits for the record, and nothing else happens: what the queue itself has written is seen before.
        for _ in 0..<2 {
            await fixture.clock.sleepers(3)
            fixture.clock.advance(by: .seconds(1))
            await fixture.clock.sleepers(3)
            while !queue.isQuiet { await Task.yield() }
        }
        fixture.clock.advance(by: .seconds(101))
        for await case .ended(id, let outcome) in events {
            #expect(outcome == .dropped(.age))
            break
        }
        #expect(fixture.clock.now.offset < .seconds(200))
        await queue.close()
    }

    @Test func `What is replaced makes room once`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.bounds = OfflineBounds(bytes: 10, policy: .dropOldest) }
        queue.pause()
        let events = queue.events
        let first = try await queue.add(post("a", body: "1234"), unique: UniqueKey("k"))
        let second = try await queue.add(post("b", body: "12345"))
        let third = try await queue.add(post("c", body: "123456789"), unique: UniqueKey("k"))
        #expect(try await queue.counts.bytes == 9)
        #expect(try await queue.outcome(of: first) == .replaced(by: third))
        #expect(try await queue.outcome(of: second) == .dropped(.bytes))
        await queue.close()
        var ended: [OfflineRecord.ID] = []
        for await event in events { if case .ended(let id, _) = event { ended.append(id) } }
        #expect(ended.sorted() == [first, second])
    }

    @Test func `A merge heeds the bound of bytes`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.bounds.bytes = 10 }
        queue.pause()
        let key = UniqueKey<URLRequest>("k", .merge { _, new in new })
        try await queue.add(post("a", body: "1234"), unique: key)
        try await queue.add(post("a", body: "123456789"), unique: key)
        await #expect {
            try await queue.add(post("a", body: "12345678901"), unique: key)
        } throws: {
            OfflineQueueError.Code.full ~= $0
        }
        #expect(try await queue.counts.bytes == 9)
        await queue.close()
    }

    @Test func `Old outcomes are forgotten, also without deliveries`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.outcomeRetention = .seconds(100) }
        queue.pause()
        let first = try await queue.add(post("a"))
        try await queue.remove(first)
        fixture.clock.advance(by: .seconds(101))
        try await queue.remove(try await queue.add(post("b")))
        await #expect { try await queue.outcome(of: first) } throws: { OfflineQueueError.Code.unknownRecord ~= $0 }
        await queue.close()
    }

    @Test func `An old record is dropped`() async throws {
        let fixture = try Fixture([.status(204)], .unreachable)
        let queue = try await fixture.open { $0.bounds.age = .seconds(100) }
        let id = try await queue.add(post("a"))
        queue.pause()
        fixture.clock.advance(by: .seconds(101))
        queue.resume()
        #expect(try await queue.outcome(of: id) == .dropped(.age))
        #expect(fixture.sent.isEmpty)
        await queue.close()
    }

    @Test func `A replacement needs no room of its own`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.bounds.count = 1 }
        queue.pause()
        try await queue.add(post("a"), unique: UniqueKey("k"))
        try await queue.add(post("b"), unique: UniqueKey("k"))
        #expect(try await queue.counts.pending == 1)
        await queue.close()
    }
}
