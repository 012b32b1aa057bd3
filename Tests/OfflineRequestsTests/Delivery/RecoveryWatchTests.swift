import OfflineRequests
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct RecoveryWatchTests {
    @Test func `A path that always fails is not tried after each success at its host`() async throws {
        let fixture = try Fixture([
            .dynamic { request in request.url?.lastPathComponent == "bad" ? .status(500) : .status(204) }
        ])
        let queue = try await fixture.open { $0.backoff = .constant(.seconds(3600)) }
        let events = queue.events
        let bad = try await queue.add(post("bad"), options: OfflineOptions(lane: "bad"))
        for await case .waits(bad, _, _) in events { break }
        for number in 0..<40 {
            _ = try await queue.outcome(of: try await queue.add(post("\(number)")))
            // What was woken has its answer before the next success.
            while !queue.isQuiet { await Task.yield() }
        }
        let count = fixture.sent.count { $0 == "bad" }
        // At first, and after the first, third, seventh, fifteenth and thirty-first success at most.
        #expect(count >= 2 && count <= 6)
        await queue.close()
    }

    @Test func `A success wakes the records of an earlier process`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let first = try await fixture.open { $0.backoff = .constant(.seconds(3600)) }
        let events = first.events
        let failed = try await first.add(post("failed"), options: OfflineOptions(lane: "a"))
        for await case .waits(failed, _, _) in events { break }
        await first.close()
        let second = try await fixture.open { $0.backoff = .constant(.seconds(3600)) }
        while try await second.record(failed) != nil {
            _ = try await second.outcome(of: try await second.add(post("fine"), options: OfflineOptions(lane: "b")))
        }
        #expect(try await second.outcome(of: failed) == .delivered(status: 204))
        await second.close()
    }

    @Test func `An attempt whose retry the budget refuses counts once`() async throws {
        let fixture = try Fixture([.status(503)])
        let queue = try await fixture.open {
            $0.backoff = .constant(.seconds(2))
            $0.request.hosts = HostRegistry()
            // Room for the first ten retries, and none comes back.
            $0.request.retryPolicy.budget = RetryBudget(
                ratio: 0, minimumPerSecond: 0, window: .seconds(1), mode: .failing)
        }
        let events = queue.events
        for number in 0..<12 { try await queue.add(post("a"), options: OfflineOptions(lane: "\(number)")) }
        var waits = 0
        for await case .waits in events {
            waits += 1
            if waits == 12 { break }
        }
        await fixture.advance(by: .zero, until: { fixture.sent.count >= 20 })
        await queue.close()
        let later = try await fixture.openStranger { $0.startsPaused = true }
        let attempts = try await later.records().map(\.attempts).reduce(0, +)
        #expect(attempts <= fixture.sent.count)
        await later.close()
    }
}
