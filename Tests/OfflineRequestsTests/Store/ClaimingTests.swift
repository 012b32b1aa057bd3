import RequestOperationsTesting
import Testing

@testable import OfflineRequests

/// Claims of SQLite's stores, without a dispatcher. ``ConformanceTests`` has what all stores promise.
@Suite(.timeLimit(.minutes(10))) struct ClaimingTests {
    /// All records that a test adds are being delivered once they are in flight.
    private static let request = ClaimRequest(
        limit: 4, perOrigin: 3, placesTaken: [:], leaseDuration: .seconds(15),
        isOnline: true, handlers: [], met: ["reachable"], maximumAge: nil, longestShortWait: .seconds(3600),
        isWanted: { true }, delivering: Set((1...6000).map(OfflineRecord.ID.init(rawValue:))))

    /// A store on the clock of a fixture.
    private func store(
        _ fixture: Fixture, date: (@Sendable () -> Date)? = nil
    ) async throws -> SQLiteStore {
        try await SQLiteStore.open(
            name: "test", directory: fixture.directory, date: date ?? fixture.configuration.date, clock: fixture.clock,
            onRecovery: { _ in })
    }

    private func record(_ lane: String, host: String? = "a.example", notBefore: Date? = nil) -> NewRecord {
        let content = StoredContent(
            message: host == nil ? "m" : nil, method: "POST", url: host.flatMap { URL(string: "https://\($0)/") },
            constraints: [], idempotencyKey: lane)
        return NewRecord(
            content: content, body: .none, bodySize: 0, lane: lane, tag: nil, uniqueKey: nil, rule: .append,
            priority: 0, notBefore: notBefore, expires: nil)
    }

    private func add(
        _ lane: String, host: String? = "a.example", to store: SQLiteStore, notBefore: Date? = nil
    ) async throws -> OfflineRecord.ID {
        let record = record(lane, host: host, notBefore: notBefore)
        guard case .added(let id, _) = try await store.add([record], bounds: OfflineBounds()).first else {
            throw OfflineQueueError(.storeFailed)
        }
        return id
    }

    private func claimed(_ claim: Claim) -> (lease: Lease, ids: [OfflineRecord.ID])? {
        if case .claimed(let lease, let records) = claim.answer { (lease, records.map(\.id)) } else { nil }
    }

    private func isHeld(_ claim: Claim) -> Bool { if case .held = claim.answer { true } else { false } }

    /// Claims until another owner has been silent for a time, as it is polled.
    private func claims(
        of store: SQLiteStore, _ fixture: Fixture, for time: Duration
    ) async throws -> [Claim] {
        var claims = [try await store.claim(Self.request)]
        for _ in 1...Int(time / .milliseconds(400)) {
            fixture.clock.advance(by: .milliseconds(400))
            claims.append(try await store.claim(Self.request))
        }
        return claims
    }

    @Test func `An owner that goes on after a stop leaves the lease to its living successor`() async throws {
        let fixture = try Fixture()
        let (first, second) = (try await store(fixture), try await store(fixture))
        _ = try await add("a", to: first)
        let old = try #require(claimed(try await first.claim(Self.request)))
        let claims = try await claims(of: second, fixture, for: .seconds(16))
        let new = try #require(claims.lazy.compactMap(claimed).first)
        #expect(new.ids == old.ids && isHeld(claims[0]))
        // The first one goes on. Its own lock says nothing about the second one.
        #expect(isHeld(try await first.claim(Self.request)))
        #expect(try await second.beat(new.lease) == Set(new.ids))
        await first.close()
        await second.close()
    }

    @Test func `The limit of the owner counts, not that of its rival`() async throws {
        let fixture = try Fixture()
        let (first, second) = (try await store(fixture), try await store(fixture))
        _ = try await add("a", to: first)
        var request = Self.request
        request.leaseDuration = .seconds(60)
        _ = try await first.claim(request)
        let early = try await claims(of: second, fixture, for: .seconds(40))
        #expect(early.allSatisfy(isHeld))
        let late = try await claims(of: second, fixture, for: .seconds(30))
        #expect(late.contains { claimed($0) != nil })
        await first.close()
        await second.close()
    }

    @Test func `Files of owners that were killed are removed`() async throws {
        let fixture = try Fixture()
        let files = try fixture.files()
        let dead = files.owner(UUID().uuidString)
        try Data().write(to: dead)
        let first = try await store(fixture)
        _ = try await add("a", to: first)
        _ = try await first.claim(Self.request)
        let second = try await store(fixture)
        #expect(!FileManager.default.fileExists(atPath: dead.path))
        #expect(try !OwnerLock.isDead(first.owner, in: files))
        await first.close()
        #expect(!FileManager.default.fileExists(atPath: files.owner(first.owner).path))
        await second.close()
    }

    @Test func `Any number of lanes of an origin without a place hides no other origin`() async throws {
        let fixture = try Fixture()
        let store = try await store(fixture)
        let silent = (0..<5000).map { record("\($0)") }
        let others = (0..<300).map { record("other \($0)", host: "\($0).example") }
        let message = record("message", host: nil)
        _ = try await store.add(silent + others + [message], bounds: OfflineBounds())
        var request = Self.request
        request.placesTaken = ["https://a.example:": 3]
        request.handlers = ["m"]
        var ids: Set<Int64> = []
        while let more = claimed(try await store.claim(request))?.ids { ids.formUnion(more.map(\.rawValue)) }
        #expect(ids == Set(5001...5301))
        await store.close()
    }

    @Test func `Behind an origin without a place the highest priority goes first`() async throws {
        let fixture = try Fixture()
        let store = try await store(fixture)
        let silent = (0..<1100).map { record("\($0)") }
        let others = [("z", 1), ("b", 3), ("z", 3), ("c", 2)].enumerated().map { number, other in
            var record = record("other \(number)", host: "\(other.0).example")
            record.priority = other.1 - 10
            return record
        }
        _ = try await store.add(silent + others, bounds: OfflineBounds())
        var request = Self.request
        request.placesTaken = ["https://a.example:": 3]
        request.limit = 1
        var ids: [Int64] = []
        while let more = claimed(try await store.claim(request))?.ids { ids += more.map(\.rawValue) }
        #expect(ids == [1102, 1103, 1104, 1101])
        await store.close()
    }

    @Test func `A claim does not grow with the queue`() async throws {
        let fixture = try Fixture()
        let store = try await store(fixture)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<400 { group.addTask { _ = try await add("\(lane)", host: nil, to: store) } }
            try await group.waitForAll()
        }
        let claim = try await store.claim(Self.request)
        #expect(claim.next == .zero)
        #expect(try await store.counts().waiting < 300)
        while try await store.claim(Self.request).next != nil {}
        #expect(try await store.counts().waiting == 400)
        await store.close()
    }

    @Test func `A clock that was set back does not lengthen a backoff`() async throws {
        let fixture = try Fixture()
        let error = Locked(0.0)
        let store = try await store(fixture) { Fixture.epoch + error.withLock { $0 } }
        let id = try await add("a", to: store)
        let early = try await add("b", to: store, notBefore: Fixture.epoch + 86_400)
        let first = try #require(claimed(try await store.claim(Self.request)))
        let wait = FailureNote(
            attempts: 1, refusals: 1, failure: "", delay: .seconds(10), reason: .backoff)
        #expect(try await store.settle(id, as: .waits(wait), under: first.lease) == .recorded)
        #expect(claimed(try await store.claim(Self.request)) == nil)
        let longest = LongestWaits(backoff: .constant(.seconds(10)), retryAfter: .zero)
        #expect(try await store.endWaits(longerThan: longest) == 0)
        error.withLock { $0 = -86_400 }
        #expect(try await store.endWaits(longerThan: longest) == 1)
        #expect(claimed(try await store.claim(Self.request))?.ids == [id])
        #expect(try await store.record(early)?.state == .waiting(until: Fixture.epoch + 86_400, .notBefore))
        await store.close()
    }

    @Test func `The version changes with each change of another process`() async throws {
        let fixture = try Fixture()
        let (first, second) = (try await store(fixture), try await store(fixture))
        let before = try await first.version()
        #expect(try await first.version() == before)
        _ = try await add("a", to: second)
        #expect(try await first.version() != before)
        await first.close()
        await second.close()
    }
}
