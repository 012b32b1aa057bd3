import RequestOperationsTesting
import Testing

@testable import OfflineRequests

/// Two stores over the same files behave as those of two processes do: their file locks exclude each other.
@Suite(.timeLimit(.minutes(10))) struct LeaseTests {
    @Test func `Two owners send each record once`() async throws {
        let fixture = try Fixture()
        // A clock that we move would outrun the work, and so make the lease old.
        let first = try await fixture.openStranger { $0.request.clock = ContinuousClock() }
        let second = try await fixture.openStranger { $0.request.clock = ContinuousClock() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                let queue = number % 2 == 0 ? first : second
                group.addTask { try await queue.add(post("\(number)"), options: OfflineOptions(lane: "\(number % 7)")) }
            }
            try await group.waitForAll()
        }
        try await first.drain()
        #expect(fixture.sent.count == 100 && Set(fixture.sent).count == 100)
        await first.close()
        await second.close()
    }

    @Test func `What a dead owner had in flight is taken over`() async throws {
        let fixture = try Fixture([.stall, .status(204)])
        // The dead look at nothing: their clock stands still.
        let first = try await fixture.openStranger { $0.request.clock = ManualClock() }
        let id = try await first.add(post("a"))
        await fixture.transport.requests(atLeast: 1)
        // The system frees the locks of a process that ends. Nothing else of it changes.
        first.unlock()
        let second = try await fixture.openStranger()
        let outcome = Task { try await second.outcome(of: id) }
        await fixture.advance(by: .zero, until: { fixture.sent.count == 2 })
        #expect(try await outcome.value == .delivered(status: 204))
        let keys = Set(fixture.transport.requests.map { $0.value(forHTTPHeaderField: "Idempotency-Key") })
        #expect(keys.count == 1)
        await second.close()
        await first.close(finishing: false)
    }

    @Test func `A stopped owner is replaced after the lease`() async throws {
        let fixture = try Fixture([.stall, .status(204)])
        // A clock of its own stands still, as that of a stopped process does.
        let stopped = ManualClock()
        let first = try await fixture.openStranger { $0.request.clock = stopped }
        let id = try await first.add(post("a"))
        await fixture.transport.requests(atLeast: 1)
        let second = try await fixture.openStranger()
        let outcome = Task { try await second.outcome(of: id) }
        for _ in 0..<50 {
            await fixture.clock.sleepers(1)
            fixture.clock.advance(by: .milliseconds(200))
        }
        #expect(fixture.sent.count == 1)
        await fixture.advance(by: .seconds(5), until: { fixture.sent.count == 2 })
        #expect(try await outcome.value == .delivered(status: 204))
        // It notices when it goes on.
        let events = first.events
        await stopped.sleepers(1)
        stopped.advance(by: .seconds(15))
        for await event in events { if case .leaseLost = event { break } }
        await second.close()
        await first.close(finishing: false)
        #expect(fixture.sent.count == 2)
    }

    @Test func `An owner that lost its lease notices before it sends`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let stopped = ManualClock()
        let first = try await fixture.openStranger {
            $0.request.clock = stopped
            $0.backoff = .constant(.seconds(4))
        }
        let events = first.events
        let id = try await first.add(post("a"))
        for await case .waits(id, _, _) in events { break }
        let second = try await fixture.openStranger()
        second.pause()
        let store = try #require(second.store as? SQLiteStore)
        first.unlock()
        let request = ClaimRequest(
            limit: 1, perOrigin: 1, placesTaken: [:], leaseDuration: .seconds(15),
            isOnline: true, handlers: [], met: ["reachable"], maximumAge: nil, longestShortWait: .seconds(86_400),
            isWanted: { true }, delivering: [])
        // The wait that the first owner has noted holds for the second one.
        guard case .idle = try await store.claim(request).answer else { return #expect(Bool(false), "It is claimed.") }
        fixture.clock.advance(by: .seconds(4))
        guard case .claimed(let lease, let records) = try await store.claim(request).answer else {
            return #expect(Bool(false), "It is not claimed.")
        }
        #expect(records.map(\.id) == [id] && records.first?.attempts == 1)
        await stopped.sleepers(1)
        stopped.advance(by: .seconds(4))
        for await event in first.events { if case .leaseLost = event { break } }
        #expect(fixture.sent == ["a"])
        #expect(try await store.settle(id, as: .delivered(status: 200), under: lease) == .recorded)
        await second.close()
        await first.close(finishing: false)
    }

    @Test func `What a failed claim left in flight is claimed again`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.openStranger()
        queue.pause()
        let id = try await queue.add(post("a"))
        var request = ClaimRequest(
            limit: 1, perOrigin: 1, placesTaken: [:], leaseDuration: .seconds(15),
            isOnline: true, handlers: [], met: ["reachable"], maximumAge: nil, longestShortWait: .seconds(86_400),
            isWanted: { true }, delivering: [])
        for _ in 0..<2 {
            guard case .claimed(_, let records) = try await queue.store.claim(request).answer else {
                return #expect(Bool(false), "It is not claimed.")
            }
            #expect(records.map(\.id) == [id])
        }
        request.delivering = [id]
        guard case .idle = try await queue.store.claim(request).answer else {
            return #expect(Bool(false), "What is in flight was claimed.")
        }
        await queue.close()
    }

    @Test func `An outcome under an old lease is refused`() async throws {
        let fixture = try Fixture([.stall])
        let queue = try await fixture.openStranger()
        let id = try await queue.add(post("a"))
        await fixture.transport.requests(atLeast: 1)
        await #expect {
            try await queue.store.settle(id, as: .delivered(status: 200), under: Lease(fence: 0))
        } throws: { OfflineQueueError.Code.leaseLost ~= $0 }
        await queue.close(finishing: false)
    }

    @Test func `What one owner removes is not sent by another`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let (first, second) = (try await fixture.openStranger(), try await fixture.openStranger())
        second.pause()
        let events = first.events
        let id = try await first.add(post("a"))
        for await case .waits(id, _, _) in events { break }
        try await second.remove(id)
        #expect(try await first.outcome(of: id) == .removed)
        fixture.clock.advance(by: .seconds(100))
        try await first.drain()
        #expect(fixture.sent == ["a"])
        await first.close()
        await second.close()
    }

    @Test func `A rival is silent only after the lease`() {
        var watch = RivalWatch()
        let answers = [(1, 100), (1, 300), (2, 400), (2, 700), (2, 1000), (2, 1300)].map { beat, moment in
            watch.isSilent(fence: 1, beat: Int64(beat), at: .milliseconds(moment), for: .milliseconds(900))
        }
        #expect(answers == [false, false, false, false, false, true])
    }

    @Test func `A sleep of the whole machine is no silence`() {
        var watch = RivalWatch()
        let answers = [0, 3600, 7200].map { second in
            watch.isSilent(fence: 1, beat: 1, at: .seconds(second), for: .seconds(15))
        }
        #expect(answers == [false, false, false])
    }
}
