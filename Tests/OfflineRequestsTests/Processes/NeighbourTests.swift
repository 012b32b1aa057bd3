import OfflineRequests
import RequestOperationsTesting
import Testing

/// A queue that has nothing to do beside another owner of its files. Nobody waits for an outcome or for its end.
@Suite(.timeLimit(.minutes(2))) struct NeighbourTests {
    private func open(_ fixture: Fixture, isPaused: Bool = false) async throws -> OfflineRequestQueue {
        try await fixture.openStranger {
            $0.request.clock = ContinuousClock()
            $0.startsPaused = isPaused
        }
    }

    @Test func `An idle queue sends what another process adds`() async throws {
        let fixture = try Fixture()
        let idle = try await open(fixture)
        let other = try await open(fixture, isPaused: true)
        while !idle.isQuiet { await Task.yield() }
        let start = ContinuousClock.now
        try await other.add(post("a"))
        await fixture.transport.requests(atLeast: 1)
        // Half a second on an idle machine, and a quarter of an hour if nothing looked.
        #expect(ContinuousClock.now - start < .seconds(60))
        await other.close()
        await idle.close()
    }

    @Test func `An idle queue takes over from a sender that dies`() async throws {
        let fixture = try Fixture([.stall, .status(204)])
        let idle = try await open(fixture)
        let sender = try await open(fixture)
        // The one that is idle must not be quicker.
        idle.pause()
        try await sender.add(post("a"))
        await fixture.transport.requests(atLeast: 1)
        idle.resume()
        sender.unlock()
        await fixture.transport.requests(atLeast: 2)
        #expect(Set(fixture.transport.requests.map { $0.value(forHTTPHeaderField: "Idempotency-Key") }).count == 1)
        await idle.close()
        await sender.close(finishing: false)
    }

    @Test func `A constraint whose closure never answers holds up nobody else`() async throws {
        let fixture = try Fixture()
        let stuck = Locked<[CheckedContinuation<Void, Never>]>([])
        let queue = try await fixture.open {
            $0.conditions = [
                OfflineConstraint("never"): {
                    await withCheckedContinuation { continuation in stuck.withLock { $0.append(continuation) } }
                    return true
                }
            ]
        }
        try await queue.add(post("a"))
        await fixture.advance(by: .zero, until: { fixture.sent == ["a"] })
        queue.pause()
        await fixture.advance(by: .zero, until: { queue.isQuiet })
        for continuation in stuck.withLock({ $0 }) { continuation.resume() }
        await queue.close()
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (4, 3), (16, 12)])
    func `One host leaves a place for the others where there are several`(width: Int, most: Int) async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.width = width }
        #expect(queue.widthOfHost == most)
        await queue.close()
    }

    @Test(arguments: [Int.max, 0, -1]) func `Any width sends`(width: Int) async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.width = width }
        #expect(try await queue.outcome(of: try await queue.add(post("a"))) == .delivered(status: 204))
        await queue.close()
    }
}
