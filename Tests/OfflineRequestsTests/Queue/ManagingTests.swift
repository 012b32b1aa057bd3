import OfflineRequests
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct ManagingTests {
    @Test func `A removed request is never sent`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        let id = try await queue.add(post("a"))
        #expect(try await queue.remove(id))
        #expect(try await !queue.remove(id))
        queue.resume()
        #expect(try await queue.outcome(of: id) == .removed)
        try await queue.drain()
        #expect(fixture.sent.isEmpty)
        await queue.close()
    }

    @Test func `Removing one in flight cancels it`() async throws {
        let fixture = try Fixture([.stall])
        let queue = try await fixture.open()
        let id = try await queue.add(post("a"))
        await fixture.transport.requests(atLeast: 1)
        #expect(queue.deliveryCount == 1)
        try await queue.remove(id)
        // Nothing else ends an answer that never comes.
        while queue.deliveryCount > 0 { await Task.yield() }
        await queue.close()
    }

    @Test func `The next of a lane follows a removed one`() async throws {
        let fixture = try Fixture([.stall, .status(204)])
        let queue = try await fixture.open()
        let first = try await queue.add(post("a"))
        let second = try await queue.add(post("b"))
        await fixture.transport.requests(atLeast: 1)
        try await queue.remove(first)
        #expect(try await queue.outcome(of: second) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `Records are removed by lane and tag`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        for number in 0..<10 {
            let options = OfflineOptions(lane: number % 2 == 0 ? "even" : nil, tag: number < 5 ? "low" : nil)
            try await queue.add(post("\(number)"), options: options)
        }
        #expect(try await queue.removeAll(RecordFilter(lane: "even", tag: "low")) == 3)
        #expect(try await queue.removeAll(RecordFilter(tag: "low")) == 2)
        #expect(try await queue.removeAll(RecordFilter(lane: "")) == 3)
        #expect(try await queue.removeAll() == 2)
        #expect(try await queue.counts == OfflineCounts())
        await queue.close()
    }

    @Test func `Pages follow each other`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        for number in 0..<10 { try await queue.add(post("\(number)")) }
        let first = try await queue.records(limit: 4)
        let second = try await queue.records(after: first.last?.id, limit: 100)
        #expect(first.count == 4 && second.count == 6 && second.allSatisfy { $0.id > first[3].id })
        await queue.close()
    }

    @Test func `Enumeration stops`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        for number in 0..<5 { try await queue.add(post("\(number)")) }
        var seen: [String] = []
        try await queue.enumerate { record, stop in
            if case .request(let request) = record.content { seen.append(request.url?.lastPathComponent ?? "") }
            stop = seen.count == 3
        }
        #expect(seen == ["0", "1", "2"])
        await queue.close()
    }

    @Test func `A dead letter can be retried`() async throws {
        let fixture = try Fixture([.status(404), .status(204)])
        let queue = try await fixture.open()
        let id = try await queue.add(post("a"))
        _ = try await queue.outcome(of: id)
        #expect(try await queue.records(RecordFilter([.dead])).map(\.id) == [id])
        #expect(try await queue.retry(id))
        while case .dead = try await queue.outcome(of: id) {}
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        #expect(try await !queue.retry(id))
        await queue.close()
    }

    @Test func `A retried dead letter does not break the order of its lane`() async throws {
        let fixture = try Fixture([.status(404), .status(204)])
        let queue = try await fixture.open()
        let dead = try await queue.add(post("dead"), options: OfflineOptions(lane: "l"))
        _ = try await queue.outcome(of: dead)
        queue.pause()
        for name in ["b", "c"] { try await queue.add(post(name), options: OfflineOptions(lane: "l")) }
        try await queue.retry(dead)
        queue.resume()
        try await queue.drain()
        #expect(fixture.sent == ["dead", "dead", "b", "c"])
        await queue.close()
    }

    @Test func `A paused queue sends nothing`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        try await queue.add(post("a"))
        // A search that does not heed the pause has sent it when the next one is over.
        queue.search()
        while !queue.isQuiet { await Task.yield() }
        #expect(try await queue.counts.pending == 1)
        #expect(queue.isPaused && fixture.sent.isEmpty)
        queue.resume()
        try await queue.drain()
        #expect(fixture.sent == ["a"])
        await queue.close()
    }

    @Test func `A paused queue makes no other attempt`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let queue = try await fixture.open { $0.backoff = .constant(.seconds(1)) }
        try await queue.add(post("a"))
        let wait: Void? = await queue.event { if case .waits = $0 { () } else { nil } }
        #expect(wait != nil)
        queue.pause()
        await fixture.advance(by: .seconds(2)) { queue.isQuiet }
        #expect(fixture.sent == ["a"])
        #expect(try await queue.counts.undelivered == 1)
        queue.resume()
        try await queue.drain()
        #expect(fixture.sent == ["a", "a"])
        await queue.close()
    }

    @Test func `Synchronize empties the log`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        try await queue.add(post("a"))
        try await queue.synchronize()
        #expect(try fixture.log().isEmpty)
        await queue.close()
    }

    @Test func `Closing patiently finishes what is in flight`() async throws {
        let gate = Locked<CheckedContinuation<Void, Never>?>(nil)
        let fixture = try Fixture([
            .dynamic { _ in
                await withCheckedContinuation { continuation in gate.withLock { $0 = continuation } }
                return .status(204)
            }
        ])
        let queue = try await fixture.open()
        let id = try await queue.add(post("a"))
        try await queue.add(post("b"))
        await fixture.transport.requests(atLeast: 1)
        while gate.withLock({ $0 == nil }) { await Task.yield() }
        async let closed: Void = queue.close()
        while !queue.isEnding { await Task.yield() }
        gate.withLock { $0 }?.resume()
        await closed
        #expect(fixture.sent == ["a"])
        let again = try await fixture.open()
        again.pause()
        #expect(try await again.outcome(of: id) == .delivered(status: 204))
        await again.close(finishing: false)
    }

    @Test func `Events tell the way of a record`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let queue = try await fixture.open { $0.backoff = .constant(.zero) }
        let events = queue.events
        let id = try await queue.add(post("a"))
        var steps: [String] = []
        for await event in events {
            switch event {
            case .added(id): steps.append("added")
            case .began(id): steps.append("began")
            case .waits(id, _, _): steps.append("waits")
            case .ended(id, .delivered): steps.append("ended")
            default: steps.append("other")
            }
            if steps.last == "ended" { break }
        }
        #expect(steps == ["added", "began", "waits", "ended"] || steps == ["began", "added", "waits", "ended"])
        await queue.close()
    }

    @Test func `Events end when the queue is closed`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        let events = queue.events
        await queue.close()
        for await _ in events {}
        for await _ in queue.events {}
    }

    @Test func `A cancelled waiter leaves`() async throws {
        let fixture = try Fixture([.stall])
        let queue = try await fixture.open()
        let id = try await queue.add(post("a"))
        let waiter = Task { try await queue.outcome(of: id) }
        await fixture.transport.requests(atLeast: 1)
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        await queue.close(finishing: false)
    }
}
