import RequestOperationsTesting
import Testing

@testable import OfflineRequests

@Suite struct FlappingTests {
    @Test func `A flapping network sends nothing twice`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        let adding = Task {
            for number in 0..<100 {
                try await queue.add(post("\(number)"), options: OfflineOptions(lane: "\(number % 5)"))
            }
        }
        while !adding.isCancelled {
            fixture.path.update(.unreachable)
            await Task.yield()
            fixture.path.update(.reachable(.wifi))
            if fixture.sent.count >= 100 { break }
            await Task.yield()
        }
        try await adding.value
        try await queue.drain()
        #expect(fixture.sent.count == 100 && Set(fixture.sent).count == 100)
        await queue.close()
    }

    @Test func `Only failed attempts are repeated and removed ones are not`() async throws {
        // Each request fails once.
        let seen = Locked<Set<String>>([])
        let fixture = try Fixture([
            .dynamic { request in
                let name = request.url?.lastPathComponent ?? ""
                return seen.withLock { $0.insert(name).inserted } ? .error(.connectionLost) : .status(204)
            }
        ])
        let queue = try await fixture.open { $0.backoff = .constant(.zero) }
        queue.pause()
        var removed: Set<String> = []
        for number in 0..<100 {
            let id = try await queue.add(post("\(number)"), options: OfflineOptions(lane: "\(number)"))
            if number % 10 == 0 {
                try await queue.remove(id)
                removed.insert("\(number)")
            }
        }
        queue.resume()
        let drained = Locked(false)
        let waiting = Task {
            try await queue.drain()
            drained.withLock { $0 = true }
        }
        while !drained.withLock({ $0 }) {
            fixture.path.update(.unreachable)
            await Task.yield()
            fixture.path.update(.reachable(.wifi))
            await Task.yield()
            fixture.clock.advance(by: .milliseconds(50))
        }
        try await waiting.value
        let counts = Dictionary(grouping: fixture.sent, by: \.self).mapValues(\.count)
        #expect(counts.count == 90 && counts.values.allSatisfy { $0 == 2 })
        #expect(removed.isDisjoint(with: counts.keys))
        await queue.close()
    }
}
