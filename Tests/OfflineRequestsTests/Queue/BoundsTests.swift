import RequestOperationsTesting
import Testing

@testable import OfflineRequests

@Suite struct BoundsTests {
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
