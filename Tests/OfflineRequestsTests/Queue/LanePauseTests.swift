import Foundation
import OfflineRequests
import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct LanePauseTests {
    private static let lane = OfflineOptions(lane: "l")
    private static let paused = OfflineRecord.State.waiting(until: nil, .paused)

    /// Delivers a record of another lane, which the queue finds after those that it could have sent before.
    private func deliverAnother(_ queue: OfflineRequestQueue) async throws {
        let id = try await queue.add(post("other", host: "b.example"), options: OfflineOptions(lane: UUID().uuidString))
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
    }

    private static func pause(_ event: OfflineEvent) -> PausedLane? {
        if case .lanePaused(let lane, let reason) = event {
            PausedLane(lane: lane ?? "", reason: reason, since: Fixture.epoch)
        } else {
            nil
        }
    }

    /// The lane and the reason of the next pause.
    private func nextPause(_ queue: OfflineRequestQueue) async -> PausedLane? { await queue.event(Self.pause) }

    @Test func `A paused lane sends nothing, and others go on`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        #expect(try await queue.pause(lane: "l"))
        #expect(try await !queue.pause(lane: "l"))
        let first = try await queue.add(post("1"), options: Self.lane)
        let second = try await queue.add(post("2"), options: Self.lane)
        try await deliverAnother(queue)
        #expect(fixture.sent == ["other"])
        #expect(try await queue.record(first)?.state == Self.paused)
        #expect(try await queue.record(second)?.state == .pending)
        let counts = try await queue.counts
        #expect(counts.waiting == 1 && counts.pending == 1)
        #expect(
            try await queue.pausedLanes == [PausedLane(lane: "l", reason: .requested, since: Fixture.epoch)])
        await queue.close()
    }

    @Test func `A resumed lane goes on in its order`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.startsPaused = true }
        for number in 1...3 { try await queue.add(post("\(number)"), options: Self.lane) }
        try await queue.pause(lane: "l")
        queue.resume()
        try await deliverAnother(queue)
        #expect(try await queue.resume(lane: "l"))
        #expect(try await !queue.resume(lane: "l"))
        try await queue.drain()
        #expect(fixture.sent == ["other", "1", "2", "3"])
        #expect(try await queue.pausedLanes.isEmpty)
        await queue.close()
    }

    @Test func `The first record of a lane is shown as paused at once`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.startsPaused = true }
        let id = try await queue.add(post("1"), options: Self.lane)
        try await queue.pause(lane: "l")
        #expect(try await queue.record(id)?.state == Self.paused)
        try await queue.resume(lane: "l")
        #expect(try await queue.record(id)?.state == .pending)
        await queue.close()
    }

    @Test func `A pause survives a restart and another process`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        try await first.pause(lane: "l")
        try await first.add(post("1"), options: Self.lane)
        await first.close()
        let second = try await fixture.open()
        let third = try await fixture.openStranger()
        let isDone = Locked(false)
        let use = Task {
            defer { isDone.withLock { $0 = true } }
            try await deliverAnother(second)
            try await deliverAnother(third)
            #expect(fixture.sent == ["other", "other"])
            // Another process notices the end of the pause.
            #expect(try await third.resume(lane: "l"))
            try await second.drain()
        }
        await fixture.advance(by: .zero, until: { isDone.withLock { $0 } })
        try await use.value
        #expect(fixture.sent == ["other", "other", "1"])
        await second.close()
        await third.close()
    }

    @Test func `A delivery goes on with its attempt, and the next record of its lane stays`() async throws {
        let door = Door()
        let fixture = try Fixture([
            .dynamic { request in
                if request.url?.lastPathComponent == "1" { await door.pass() }
                return .status(204)
            }
        ])
        let queue = try await fixture.open()
        let first = try await queue.add(post("1"), options: Self.lane)
        let second = try await queue.add(post("2"), options: Self.lane)
        await fixture.transport.requests(atLeast: 1)
        try await queue.pause(lane: "l")
        door.open()
        #expect(try await queue.outcome(of: first) == .delivered(status: 204))
        try await deliverAnother(queue)
        #expect(fixture.sent == ["1", "other"])
        #expect(try await queue.record(second)?.state == Self.paused)
        await queue.close()
    }

    @Test func `After a failed attempt no other follows in a paused lane`() async throws {
        let fixture = try Fixture([.dynamic { $0.url?.lastPathComponent == "1" ? .status(503) : .status(204) }])
        let queue = try await fixture.open { $0.backoff = .constant(.seconds(3)) }
        let events = queue.events
        let id = try await queue.add(post("1"), options: Self.lane)
        for await event in events { if case .waits = event { break } }
        try await queue.pause(lane: "l")
        // Its delivery is not over: it waits for its next attempt.
        #expect(queue.deliveryCount == 1)
        await fixture.advance(by: .seconds(3), until: { queue.deliveryCount == 0 })
        try await deliverAnother(queue)
        #expect(fixture.sent == ["1", "other"])
        let record = try await queue.record(id)
        #expect(record?.state == Self.paused && record?.attempts == 1)
        await queue.close()
    }

    @Test func `A paused record keeps its earliest time and its backoff`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.startsPaused = true }
        let start = Fixture.epoch + 3600
        let id = try await queue.add(post("1"), options: OfflineOptions(lane: "l", notBefore: start))
        try await queue.pause(lane: "l")
        #expect(try await queue.record(id)?.state == .waiting(until: start, .notBefore))
        try await queue.resume(lane: "l")
        #expect(try await queue.record(id)?.state == .waiting(until: start, .notBefore))
        await queue.close()
    }

    @Test func `A record of a paused lane expires`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        try await queue.pause(lane: "l")
        let id = try await queue.add(post("1"), options: OfflineOptions(lane: "l", expires: Fixture.epoch + 10))
        async let outcome = queue.outcome(of: id)
        await fixture.advance(by: .seconds(11), until: { fixture.clock.now.offset > .seconds(60) })
        guard case .dead(let reason) = try await outcome else { return #expect(Bool(false), "It has not expired.") }
        #expect(reason.kind == .expired)
        await queue.close()
    }

    @Test func `410 pauses its lane with an event, and the next record of the lane stays`() async throws {
        let fixture = try Fixture([.dynamic { $0.url?.host == "b.example" ? .status(204) : .status(410) }])
        let queue = try await fixture.open { $0.lanePause = LanePausePolicy() }
        async let event = nextPause(queue)
        let first = try await queue.add(post("1"), options: Self.lane)
        let second = try await queue.add(post("2"), options: Self.lane)
        guard case .dead(let reason) = try await queue.outcome(of: first) else {
            return #expect(Bool(false), "It is no dead letter.")
        }
        #expect(reason.status == 410)
        let pause = PausedLane(lane: "l", reason: .status(410), since: Fixture.epoch)
        #expect(await event == pause)
        try await deliverAnother(queue)
        #expect(fixture.sent == ["1", "other"])
        #expect(try await queue.record(second)?.state == Self.paused)
        #expect(try await queue.pausedLanes == [pause])
        await queue.close()
    }

    @Test func `No policy pauses the lane of records without one`() async throws {
        let fixture = try Fixture([.status(410)])
        let queue = try await fixture.open { $0.lanePause = LanePausePolicy(failingFor: .zero) }
        for number in 1...3 { try await queue.add(post("\(number)")) }
        try await queue.drain()
        #expect(fixture.sent == ["1", "2", "3"])
        #expect(try await queue.pausedLanes.isEmpty)
        await queue.close()
    }

    @Test func `The lane of records without one can be paused`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        try await queue.pause(lane: nil)
        let id = try await queue.add(post("1"))
        try await deliverAnother(queue)
        #expect(try await queue.record(id)?.state == Self.paused)
        #expect(try await queue.pausedLanes.map(\.lane) == [nil])
        #expect(try await queue.resume(lane: nil))
        try await queue.drain()
        #expect(fixture.sent == ["other", "1"])
        await queue.close()
    }

    /// One failed delivery a day, since the backoff is longer than what a delivery waits for.
    private func failDaily(
        _ policy: LanePausePolicy?, _ answers: [ScriptedTransport.Answer]
    ) async throws -> (Fixture, OfflineRequestQueue, OfflineRecord.ID) {
        let fixture = try Fixture(answers)
        let queue = try await fixture.open {
            $0.lanePause = policy
            $0.backoff = .constant(.seconds(86_400))
        }
        return (fixture, queue, try await queue.add(post("1"), options: Self.lane))
    }

    /// Moves the clock by a day at a time, until this many attempts were made and stored.
    private func attempts(_ count: Int, of queue: OfflineRequestQueue, _ fixture: Fixture) async {
        while true {
            // What it has begun ends before the day does.
            while !queue.isQuiet { await Task.yield() }
            let sent = fixture.sent.count
            if sent >= count { return }
            await fixture.advance(by: .seconds(86_400), until: { fixture.sent.count > sent })
        }
    }

    @Test func `A lane that fails for five days is paused`() async throws {
        let (fixture, queue, id) = try await failDaily(LanePausePolicy(), [.status(503)])
        let event = Task { await nextPause(queue) }
        await attempts(6, of: queue, fixture)
        guard case .failing(let since) = await event.value?.reason else {
            return #expect(Bool(false), "It is not paused for failing.")
        }
        #expect(abs(since.timeIntervalSince(Fixture.epoch)) < 60)
        #expect(try await queue.pausedLanes.map(\.lane) == ["l"])
        // Its backoff has a day left. Then the pause stops it.
        let isStopped = Locked(false)
        let check = Task {
            while try await queue.record(id)?.state != Self.paused { await Task.yield() }
            isStopped.withLock { $0 = true }
        }
        await fixture.advance(by: .seconds(86_400), until: { isStopped.withLock { $0 } })
        try await check.value
        #expect(fixture.sent.count == 6)
        await queue.close()
    }

    @Test func `One delivery ends the failing time`() async throws {
        let failures = Array(repeating: ScriptedTransport.Answer.status(503), count: 4)
        let (fixture, queue, _) = try await failDaily(
            LanePausePolicy(), failures + [.status(204)] + failures + [.status(204)])
        try await queue.add(post("2"), options: Self.lane)
        await attempts(10, of: queue, fixture)
        try await queue.drain()
        #expect(try await queue.pausedLanes.isEmpty)
        await queue.close()
    }

    @Test func `The failing time begins anew after a resumption`() async throws {
        let (fixture, queue, _) = try await failDaily(
            LanePausePolicy(failingFor: .seconds(86_400)), [.status(503)])
        let first = Task { await nextPause(queue) }
        await attempts(2, of: queue, fixture)
        _ = await first.value
        let events = queue.events
        try await queue.resume(lane: "l")
        await attempts(3, of: queue, fixture)
        for await event in events { if case .waits = event { break } }
        #expect(try await queue.pausedLanes.isEmpty)
        let second = Task { await nextPause(queue) }
        await attempts(4, of: queue, fixture)
        #expect(await second.value?.lane == "l")
        await queue.close()
    }

    @Test func `A queue without the policy never pauses a lane`() async throws {
        let (fixture, queue, _) = try await failDaily(
            nil, Array(repeating: .status(503), count: 7) + [.status(410), .status(204)])
        try await queue.add(post("2"), options: Self.lane)
        await attempts(9, of: queue, fixture)
        try await queue.drain()
        #expect(try await queue.pausedLanes.isEmpty)
        await queue.close()
    }

    @Test func `Removing all of a paused lane keeps it paused`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        try await queue.pause(lane: "l")
        try await queue.add(post("1"), options: Self.lane)
        #expect(try await queue.removeAll(RecordFilter(lane: "l")) == 1)
        let id = try await queue.add(post("2"), options: Self.lane)
        try await deliverAnother(queue)
        #expect(try await queue.record(id)?.state == Self.paused)
        #expect(fixture.sent == ["other"])
        await queue.close()
    }

    @Test func `A record that is replaced or merged in a paused lane stays there`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        try await queue.pause(lane: "l")
        try await queue.add(post("1"), options: Self.lane, unique: UniqueKey("k"))
        try await deliverAnother(queue)
        let id = try await queue.add(post("2"), options: Self.lane, unique: UniqueKey("k"))
        try await deliverAnother(queue)
        #expect(
            try await queue.add(post("3"), options: Self.lane, unique: UniqueKey("k", .merge { _, new in new })) == id)
        try await deliverAnother(queue)
        #expect(try await queue.record(id)?.state == Self.paused)
        try await queue.resume(lane: "l")
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        #expect(fixture.sent == ["other", "other", "other", "3"])
        await queue.close()
    }

    @Test func `A dead letter that is revived in a paused lane stays there`() async throws {
        let fixture = try Fixture([.status(404), .status(204)])
        let queue = try await fixture.open()
        let id = try await queue.add(post("1"), options: Self.lane)
        _ = try await queue.outcome(of: id)
        try await queue.pause(lane: "l")
        #expect(try await queue.retry(id))
        try await deliverAnother(queue)
        #expect(try await queue.record(id)?.state == Self.paused)
        await queue.close()
    }

    @Test func `A pause survives a damaged database`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open { $0.startsPaused = true }
        let id = try await first.add(post("1"), options: Self.lane)
        try await first.pause(lane: "l")
        try await first.pause(lane: "other")
        try await first.resume(lane: "other")
        try await first.synchronize()
        await first.close()
        let file = URL(fileURLWithPath: try fixture.database())
        var database = try Data(contentsOf: file)
        for offset in 0..<100 { database[offset] = 0 }
        try database.write(to: file)
        let second = try await fixture.open()
        #expect(try await second.pausedLanes.map(\.lane) == ["l"])
        try await deliverAnother(second)
        #expect(try await second.record(id)?.state == Self.paused)
        try await second.resume(lane: "l")
        #expect(try await second.outcome(of: id) == .delivered(status: 204))
        await second.close()
    }
}
