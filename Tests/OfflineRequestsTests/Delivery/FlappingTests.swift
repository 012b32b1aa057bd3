import OfflineRequests
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlappingTests {
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

    @Test func `What a flap interrupts is sent again with its key, and nothing else twice`() async throws {
        let (fixture, network) = (try Fixture(), FlappingNetwork())
        let queue = try await fixture.open {
            $0.request.transport = network
            $0.backoff = .constant(.zero)
            $0.maximumAttempts = nil
        }
        for number in 0..<60 {
            try await queue.add(post("\(number)"), options: OfflineOptions(lane: "\(number % 12)"))
        }
        let drained = Locked(false)
        let waiting = Task {
            try await queue.drain()
            drained.withLock { $0 = true }
        }
        var flaps = 0
        while !drained.withLock({ $0 }) {
            flaps += 1
            if flaps <= 200, Bool.random() {
                fixture.path.update(.unreachable)
                network.goAway()
                await Task.yield()
                fixture.path.update(.reachable(.wifi))
            } else {
                network.answer()
            }
            await Task.yield()
            fixture.clock.advance(by: .milliseconds(50))
        }
        try await waiting.value
        let arrivals = Dictionary(grouping: network.arrivals, by: \.name)
        #expect(arrivals.count == 60)
        for (name, all) in arrivals {
            #expect(all.count == 1 + network.interruptions[name, default: 0])
            #expect(Set(all).count == 1 && all[0].key != nil)
        }
        await queue.close()
    }
}
