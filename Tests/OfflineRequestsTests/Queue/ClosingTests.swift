import OfflineRequests
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct ClosingTests {
    @Test func `What is sent while the queue closes has its outcome recorded`() async throws {
        let fixture = try Fixture()
        for number in 0..<20 {
            let queue = try await fixture.open()
            let id = try await queue.add(post("\(number)"), options: OfflineOptions(lane: "\(number)"))
            await queue.close()
            let later = try await fixture.openStranger { $0.startsPaused = true }
            // It was not sent, or its outcome is known.
            let isKnown = try await later.record(id) == nil
            #expect(fixture.sent.contains("\(number)") == isKnown)
            await later.close()
        }
    }

    @Test func `A closing queue begins no further attempt`() async throws {
        let gate = Locked<CheckedContinuation<Void, Never>?>(nil)
        let fixture = try Fixture([
            .dynamic { _ in
                await withCheckedContinuation { continuation in gate.withLock { $0 = continuation } }
                return .status(503)
            }
        ])
        let queue = try await fixture.open { $0.backoff = .constant(.zero) }
        let id = try await queue.add(post("a"))
        await fixture.transport.requests(atLeast: 1)
        while gate.withLock({ $0 == nil }) { await Task.yield() }
        async let closed: Void = queue.close()
        while !queue.isEnding { await Task.yield() }
        gate.withLock { $0 }?.resume()
        await closed
        #expect(fixture.sent == ["a"])
        let later = try await fixture.openStranger { $0.startsPaused = true }
        #expect(try await later.record(id)?.attempts == 1)
        await later.close()
    }

    @Test func `A handler that closes its queue does not wait for itself`() async throws {
        struct Last: Codable, Sendable {}
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.register(Last.self, name: "last") { _ in await queue.close() }
        queue.pause()
        let id = try await queue.add(Last())
        let next = try await queue.add(post("next"))
        queue.resume()
        for await _ in queue.events {}
        await queue.close()
        let later = try await fixture.openStranger { $0.startsPaused = true }
        #expect(try await later.outcome(of: id) == .delivered(status: nil))
        #expect(try await later.record(next)?.state == .pending && fixture.sent.isEmpty)
        await later.close()
    }

    @Test func `A condition that closes its queue does not wait for itself`() async throws {
        let fixture = try Fixture()
        let opened = Locked<OfflineRequestQueue?>(nil)
        let queue = try await fixture.open {
            $0.startsPaused = true
            $0.conditions = [
                OfflineConstraint("ends"): {
                    await opened.withLock { $0 }?.close()
                    return true
                }
            ]
        }
        opened.withLock { $0 = queue }
        try await queue.add(post("a"))
        queue.resume()
        for await _ in queue.events {}
        await queue.close()
        #expect(fixture.sent.isEmpty)
    }

    @Test func `Who waits for an outcome is told that the queue was closed`() async throws {
        let fixture = try Fixture([.stall])
        let queue = try await fixture.open()
        let id = try await queue.add(post("a"))
        await fixture.transport.requests(atLeast: 1)
        let waiting = (0..<20).map { _ in Task { try await queue.outcome(of: id) } }
        await queue.close(finishing: false)
        for waiter in waiting {
            await #expect { try await waiter.value } throws: { OfflineQueueError.Code.closed ~= $0 }
        }
    }

    @Test func `A second close leaves the queue that was opened since`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        await first.close()
        let second = try await fixture.open()
        await first.close()
        #expect(try await fixture.open() === second)
        await second.close()
    }

    @Test func `A cancelled Task closes the queue all the same`() async throws {
        let fixture = try Fixture([.stall])
        let queue = try await fixture.open()
        try await queue.add(post("a"))
        await fixture.transport.requests(atLeast: 1)
        let closing = Task { await queue.close(finishing: false) }
        closing.cancel()
        await closing.value
        #expect(queue.deliveryCount == 0)
    }
}
