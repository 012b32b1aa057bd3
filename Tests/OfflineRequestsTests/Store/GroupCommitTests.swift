import RequestOperations
import Testing

@testable import OfflineRequests

/// Changes that stand in line while the writer is held up.
@Suite(.timeLimit(.minutes(2))) struct GroupCommitTests {
    private struct Refusal: Error {}

    /// Holds the writer up. Returns what lets it go on.
    private func holdUp(_ store: SQLiteStore) async -> @Sendable () async throws -> Void {
        let (isHeld, gate) = (Locked(false), DispatchSemaphore(value: 0))
        let holding = Task {
            try await store.writer.perform { _ in
                isHeld.withLock { $0 = true }
                gate.wait()
            }
        }
        while !isHeld.withLock({ $0 }) { await Task.yield() }
        return {
            gate.signal()
            try await holding.value
        }
    }

    /// Makes changes that share a commit.
    private func inOneGroup(
        _ store: SQLiteStore, _ line: [@Sendable () async throws -> Void]
    ) async throws -> [Result<Void, any Error>] {
        let goOn = await holdUp(store)

        let tasks = line.map { change in Task { try await change() } }
        while store.writer.waitingCount < line.count { await Task.yield() }
        try await goOn()
        var results: [Result<Void, any Error>] = []
        for task in tasks { results.append(await task.result) }
        return results
    }

    private func store(_ fixture: Fixture) async throws -> SQLiteStore {
        try await SQLiteStore.open(
            name: "test", directory: fixture.directory, date: { Fixture.epoch }, onRecovery: { _ in })
    }

    @Test func `One refused change does not split its group`() async throws {
        let fixture = try Fixture()
        let store = try await store(fixture)
        try await store.write { try $0.run("DELETE FROM outcomes") }
        try await store.write { try $0.run("INSERT INTO outcomes VALUES (100, 0, '')") }
        let before = try #require(try CommitMark(fixture.files().mark.path).reading).commits
        var line: [@Sendable () async throws -> Void] = (0..<50).map { number in
            { try await store.write { try $0.run("INSERT INTO outcomes VALUES (?, 0, '')", .integer(number)) } }
        }
        line.insert({ try await store.write { _ in throw Refusal() } }, at: 20)
        let results = try await inOneGroup(store, line)
        let after = try #require(try CommitMark(fixture.files().mark.path).reading).commits
        #expect(results.count { if case .failure = $0 { true } else { false } } == 1)
        #expect(after - before == 1)
        #expect(try await store.read { try $0.first("SELECT count(*) FROM outcomes") { $0.integer(0) } } == 51)
        await store.close()
    }

    @Test func `A change that was committed and not flushed is made once, and its error says so`() async throws {
        let fixture = try Fixture()
        let store = try await store(fixture)
        let runs = Locked(0)
        await #expect {
            try await store.write { _ in
                runs.withLock { $0 += 1 }
                throw UnflushedCommit(underlying: Refusal())
            }
        } throws: {
            OfflineQueueError.Code.unflushed ~= $0
        }
        #expect(runs.withLock { $0 } == 1)
        await store.close()
    }

    @Test func `The changes of a group share one flush, and a change alone has its own`() async throws {
        let (fixture, flushes) = (try Fixture(), Locked(0))
        let store = try await SQLiteStore.open(
            name: "test", directory: fixture.directory, date: { Fixture.epoch }, onRecovery: { _ in },
            flush: { descriptor in
                flushes.withLock { $0 += 1 }
                return DiskFlush.flush(descriptor)
            })
        let line: [@Sendable () async throws -> Void] = (0..<50).map { number in
            { try await store.write { try $0.run("INSERT INTO outcomes VALUES (?, 0, '')", .integer(number)) } }
        }
        let before = flushes.withLock { $0 }
        _ = try await inOneGroup(store, line)
        #expect(flushes.withLock { $0 } == before + 1)
        for _ in 0..<3 { try await store.write { try $0.run("UPDATE lease SET beat = beat + 1") } }
        #expect(flushes.withLock { $0 } == before + 4)
        await store.close()
    }

    @Test func `A sign of life waits for one commit at most`() async throws {
        let fixture = try Fixture()
        let store = try await store(fixture)
        let order = Locked<[String]>([])
        let goOn = await holdUp(store)
        let changes = (0..<600).map { _ in
            Task { try await store.write { _ in order.withLock { $0.append("change") } } }
        }
        while store.writer.waitingCount < 600 { await Task.yield() }
        let beat = Task { try await store.writer.perform { _ in order.withLock { $0.append("beat") } } }
        // The beat stands behind the commit that has been asked for.
        for _ in 0..<100 { await Task.yield() }
        try await goOn()
        try await beat.value
        for change in changes { try await change.value }
        #expect(order.withLock { $0.firstIndex(of: "beat") ?? .max } < 600)
        await store.close()
    }

    @Test func `The lock of the lease is freed after the commit and not before`() async throws {
        let fixture = try Fixture()
        let (store, files) = (try await store(fixture), try fixture.files())
        try await store.writeLease { connection in
            try store.ownerLock.lock()
            try connection.run("UPDATE lease SET owner = ?", .text(store.owner))
        }
        let seen = Locked<[Bool]>([])
        let results = try await inOneGroup(
            store,
            [
                { try await store.writeLease { try $0.releaseIfIdle(store.owner) } },
                {
                    try await store.write { _ in
                        let isDead = try OwnerLock.isDead(store.owner, in: files)
                        seen.withLock { $0.append(isDead) }
                        throw Refusal()
                    }
                },
            ])
        #expect(results.count { if case .failure = $0 { true } else { false } } == 1)
        #expect(!seen.withLock { $0 }.contains(true))
        #expect(try OwnerLock.isDead(store.owner, in: files))
        await store.close()
    }
}
