import RequestOperationsTesting
import Testing

@testable import OfflineRequests

/// Databases and logs that are cut off or have wrong bytes: 2,000 of each with `REQUEST_OPERATIONS_STRESS=full`.
@Suite(.timeLimit(.minutes(10))) struct DamageTests {
    private static let rounds = Extent.isFull ? 2000 : 8
    private static let count = 24

    /// The files of a queue with records in the database and others in the log only.
    private struct Sample: Sendable {
        let database: Data
        let log: Data
        let mark: Data
    }

    private static func sample() async throws -> Sample {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        for number in 0..<count {
            try await queue.add(post("\(number)", body: body(number)), options: OfflineOptions(lane: "\(number % 3)"))
            if number == count / 2 { try await queue.synchronize() }
        }
        let files = try fixture.files()
        // The files of a process that was killed: without a close, which would empty the log.
        let sample = Sample(
            database: try Data(contentsOf: files.database), log: try Data(contentsOf: files.log),
            mark: try Data(contentsOf: files.mark))
        await queue.close()
        return sample
    }

    private static func body(_ number: Int) -> String {
        // Some records need several pages.
        number % 10 == 3 ? String(repeating: "\(number) ", count: 3000) : "body \(number)"
    }

    /// The records of the sample that a damage of the log leaves whole, and those that one of the database does.
    private static let (inDatabase, inLog) = (Set(0...(count / 2)), Set((count / 2 + 1)..<count))

    /// Delivers over damaged files. What is not delivered must have been told, and nothing else is sent than was added.
    ///
    /// - Parameter whole: The records that the damage does not reach, which must be delivered.
    private static func check(
        _ database: Data, _ log: Data, _ mark: Data, whole: Set<Int> = [], _ what: String
    ) async throws {
        let fixture = try Fixture()
        let files = try fixture.files()
        try database.write(to: files.database)
        try log.write(to: files.log)
        try mark.write(to: files.mark)
        let queue = try await fixture.open { $0.startsPaused = true }
        let events = queue.events
        let id = try await queue.add(post("new"))
        #expect(id.rawValue > Self.count, "\(what)")
        queue.resume()
        try await queue.drain()
        await queue.close()
        var (told, isRecovered) = (0, false)
        for await event in events {
            switch event {
            case .recovered: isRecovered = true
            case .ended(_, .dead): told += 1
            default: break
            }
        }
        var delivered: Set<Int> = []
        for task in fixture.transport.tasks {
            guard let name = task.request.url?.lastPathComponent, let number = Int(name) else { continue }
            guard case .data(let body) = task.body else { return #expect(Bool(false), "\(what): no body") }
            #expect(body == Data(Self.body(number).utf8), "\(what): record \(number) was sent with other bytes")
            delivered.insert(number)
        }
        let missing = Self.count - delivered.count
        #expect(missing <= told || isRecovered, "\(what): \(missing) lost, \(told) told")
        #expect(whole.isSubset(of: delivered), "\(what): \(whole.subtracting(delivered)) lost without need")
    }

    @Test func `A log that is cut off loses nothing in silence`() async throws {
        let sample = try await Self.sample()
        for _ in 0..<Self.rounds {
            let length = Int.random(in: 0..<sample.log.count)
            try await Self.check(
                sample.database, sample.log.prefix(length), sample.mark, whole: Self.inDatabase, "log cut at \(length)")
        }
    }

    @Test func `A database that is cut off loses nothing in silence`() async throws {
        let sample = try await Self.sample()
        for _ in 0..<Self.rounds {
            let length = Int.random(in: 0..<sample.database.count)
            try await Self.check(
                sample.database.prefix(length), sample.log, sample.mark, whole: Self.inLog, "database cut at \(length)")
        }
    }

    @Test func `Wrong bytes in the log lose nothing in silence`() async throws {
        let sample = try await Self.sample()
        for _ in 0..<Self.rounds {
            let offset = Int.random(in: 0..<sample.log.count)
            var log = sample.log
            log[offset] ^= UInt8.random(in: 1...255)
            try await Self.check(sample.database, log, sample.mark, whole: [], "wrong byte in the log at \(offset)")
        }
    }

    @Test func `Wrong bytes in the database lose nothing in silence`() async throws {
        let sample = try await Self.sample()
        for _ in 0..<Self.rounds {
            var database = sample.database
            var offsets: [Int] = []
            for _ in 0..<Int.random(in: 1...8) {
                let offset = Int.random(in: 0..<database.count)
                database[offset] ^= UInt8.random(in: 1...255)
                offsets.append(offset)
            }
            try await Self.check(
                database, sample.log, sample.mark, whole: Self.inLog, "wrong bytes in the database at \(offsets)")
        }
    }

    @Test func `The log still has what follows a wrong byte`() async throws {
        let sample = try await Self.sample()
        let fixture = try Fixture()
        let files = try fixture.files()
        var log = sample.log
        // The checksum of the first frame. SQLite ignores all that follows.
        log[32 + 16] ^= 0xFF
        try sample.database.write(to: files.database)
        try log.write(to: files.log)
        try sample.mark.write(to: files.mark)
        let queue = try await fixture.open()
        queue.pause()
        let recovery = await queue.event { event in
            if case .recovered(let recovery) = event { recovery } else { nil }
        }
        #expect(try #require(recovery).missingRecords == 0)
        #expect(try await queue.counts.pending == Self.count)
        await queue.close()
    }

    @Test func `A damaged database is set aside and its records are queued again`() async throws {
        let sample = try await Self.sample()
        let fixture = try Fixture()
        let files = try fixture.files()
        var database = sample.database
        for offset in 0..<100 { database[offset] = 0 }
        try database.write(to: files.database)
        try sample.mark.write(to: files.mark)
        let queue = try await fixture.open()
        let found = await queue.event { event in
            if case .recovered(let recovery) = event { recovery } else { nil }
        }
        let recovery = try #require(found)
        let aside = try #require(recovery.damagedFile)
        #expect(try Data(contentsOf: aside) == database)
        #expect(recovery.recovered >= Self.count / 2)
        // The log is gone with what was in it only, and the mark has the last id.
        #expect(recovery.missingRecords == Self.count - recovery.recovered)
        try await queue.drain()
        // The order of each lane is as before.
        let numbers = fixture.sent.compactMap(Int.init)
        for lane in 0..<3 {
            let ofLane = numbers.filter { $0 % 3 == lane }
            #expect(ofLane == ofLane.sorted())
        }
        await queue.close()
    }

    @Test func `A recovery says how many records are missing`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        first.pause()
        for number in 0..<100 { try await first.add(post("\(number)", body: Self.body(number))) }
        await first.close()
        let files = try fixture.files()
        var database = try Data(contentsOf: files.database)
        // The leaf of a table with the most rows, which are records.
        let pages = stride(from: 4096, to: database.count, by: 4096).filter { database[$0] == 13 }
        let page = try #require(pages.max { database[$0 + 4] < database[$1 + 4] })
        let rows = Int(database[page + 4])
        for offset in page..<page + 4096 { database[offset] = 0 }
        try database.write(to: files.database)
        let second = try await fixture.open { $0.startsPaused = true }
        let recovery = await second.event { event in
            if case .recovered(let recovery) = event { recovery } else { nil }
        }
        #expect(rows > 3 && (recovery?.missingRecords ?? 0) == rows && recovery?.recovered == 100 - rows)
        await second.close()
    }

    @Test func `A record with wrong bytes is a dead letter`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        first.pause()
        let id = try await first.add(post("a", body: "right"))
        await first.close()
        let connection = try SQLiteConnection(fixture.files().database.path)
        try connection.execute("UPDATE records SET body = CAST('wrong' AS BLOB)")
        connection.close()
        let second = try await fixture.open()
        guard case .dead(let reason) = try await second.outcome(of: id) else {
            return #expect(Bool(false), "It is no dead letter.")
        }
        #expect(reason.kind == .damaged && fixture.sent.isEmpty)
        await second.close()
    }

    @Test func `A missing body file makes a dead letter`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.inlineBodyLimit = 1 }
        queue.pause()
        let id = try await queue.add(post("a", body: "long"))
        let bodies = try fixture.files().bodies
        for file in try FileManager.default.contentsOfDirectory(at: bodies, includingPropertiesForKeys: nil) {
            try FileManager.default.removeItem(at: file)
        }
        queue.resume()
        guard case .dead(let reason) = try await queue.outcome(of: id) else {
            return #expect(Bool(false), "It is no dead letter.")
        }
        #expect(reason.kind == .damaged)
        await queue.close()
    }

    @Test func `A body file with other bytes makes a dead letter`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.inlineBodyLimit = 1 }
        queue.pause()
        let ids = [
            try await queue.add(post("a", body: "right"), options: OfflineOptions(lane: "a")),
            try await queue.add(post("b", body: "right"), options: OfflineOptions(lane: "b")),
        ]
        let bodies = try fixture.files().bodies
        let files = try FileManager.default.contentsOfDirectory(at: bodies, includingPropertiesForKeys: nil)
        // One of the same size, and one that is cut off.
        for (file, bytes) in zip(files, ["wrong", "righ"]) { try Data(bytes.utf8).write(to: file) }
        queue.resume()
        for id in ids {
            guard case .dead(let reason) = try await queue.outcome(of: id) else {
                return #expect(Bool(false), "It is no dead letter.")
            }
            #expect(reason.kind == .damaged)
        }
        #expect(fixture.sent.isEmpty)
        await queue.close()
    }

    @Test func `A mark only counts if its checksum fits`() throws {
        let fixture = try Fixture()
        let file = fixture.directory.appendingPathComponent("mark")
        let mark = try CommitMark(file.path)
        #expect(mark.reading == nil)
        try mark.write(CommitMark.Reading(commits: 7, lastID: 300))
        #expect(mark.reading == CommitMark.Reading(commits: 7, lastID: 300))
        var bytes = try Data(contentsOf: file)
        bytes[7] = 9
        try bytes.write(to: file)
        #expect(try CommitMark(file.path).reading == nil)
    }

    @Test func `Another process takes the recovered database`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.openStranger()
        first.pause()
        try await first.add(post("a"))
        try await first.synchronize()
        let files = try fixture.files()
        var database = try Data(contentsOf: files.database)
        for offset in 0..<100 { database[offset] = 0 }
        // The same file, so that the first one has it open.
        let handle = try FileHandle(forWritingTo: files.database)
        try handle.write(contentsOf: database)
        let second = try await fixture.openStranger()
        second.pause()
        let id = try await first.add(post("b"))
        #expect(try await second.record(id) != nil)
        #expect(try await second.counts.pending == 2)
        await first.close()
        await second.close()
    }
}
