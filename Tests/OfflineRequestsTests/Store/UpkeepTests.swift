import RequestOperationsTesting
import Testing

@testable import OfflineRequests

/// Numbers of a database with a changed bit. SQLite sees nothing of it: the pages and the indexes are whole.
@Suite(.timeLimit(.minutes(10))) struct UpkeepTests {
    /// A number in a database.
    private struct Place: Sendable, CustomStringConvertible {
        let table: String
        let row: Int64
        let column: String
        let bit: Int

        var description: String { "\(table).\(column) of row \(row), bit \(bit)" }
    }

    /// The files of a queue with records in each state, and what they hold.
    private struct Sample: Sendable {
        let database: Data
        let mark: Data
        /// How many records there are.
        let count: Int
        /// The table, the row id and the column of each number.
        let numbers: [(table: String, row: Int64, column: String)]
    }

    private static let sample = Task { try await makeSample() }

    private static func makeSample() async throws -> Sample {
        let fixture = try Fixture()
        let store = try await SQLiteStore.open(
            name: "test", directory: fixture.directory, date: { Fixture.epoch }, onRecovery: { _ in })
        func add(_ lane: String, message: String? = nil, after delay: TimeInterval? = nil) async throws {
            let content = StoredContent(
                message: message, method: "POST", url: message == nil ? URL(string: "https://a.example/\(lane)") : nil,
                constraints: [], idempotencyKey: lane)
            let record = NewRecord(
                content: content, body: .data(Data("body".utf8)), bodySize: 4, lane: lane, tag: "t", uniqueKey: lane,
                rule: .append, priority: 1, notBefore: delay.map { Fixture.epoch + $0 },
                expires: Fixture.epoch + 86_400)
            _ = try await store.add([record], bounds: OfflineBounds())
        }
        for lane in ["dead", "delivered", "backoff", "flight"] { try await add(lane) }
        try await add("message", message: "m")
        let request = ClaimRequest(
            limit: 5, perOrigin: 5, placesTaken: [:], leaseDuration: .seconds(15),
            isOnline: true, handlers: [], met: [], maximumAge: nil, longestShortWait: .seconds(3600),
            isWanted: { true }, delivering: [])
        // The message waits for a handler from now on.
        guard case .claimed(let lease, let records) = try await store.claim(request).answer, records.count == 4 else {
            throw OfflineQueueError(.storeFailed)
        }
        func settle(_ index: Int, as settlement: Settlement) async throws {
            _ = try await store.settle(records[index].id, as: settlement, under: lease)
        }
        try await settle(0, as: .dead(DeadLetterReason(.rejected, detail: "no")))
        try await settle(1, as: .delivered(status: 204))
        try await settle(
            2,
            as: .waits(
                FailureNote(attempts: 3, refusals: 2, failure: "no", delay: .seconds(30), reason: .backoff)))
        try await add("lane")
        try await add("lane")
        try await add("later", after: 90)
        try await add("paused")
        #expect(try await store.pause(lane: "paused", because: .requested))
        try await store.checkpoint()
        await store.close()
        let files = try fixture.files()
        let connection = try SQLiteConnection(files.database.path)
        defer { connection.close() }
        var numbers: [(String, Int64, String)] = []
        for (table, columns) in [
            ("lease", ["id", "fence", "beat", "patience"]), ("totals", ["state", "count", "bytes"]),
            (
                "records",
                [
                    "id", "state", "head", "network", "reason", "fence", "priority", "added", "due", "expires",
                    "attempts", "refusals", "bytes", "seal",
                ]
            ), ("outcomes", ["id", "ended"]), ("sqlite_sequence", ["seq"]), ("lanes", ["paused"]),
        ] {
            for row in try connection.rows("SELECT rowid FROM \(table)", row: { $0.integer(0) }) {
                numbers += columns.map { (table, row, $0) }
            }
        }
        return Sample(
            database: try Data(contentsOf: files.database), mark: try Data(contentsOf: files.mark), count: 8,
            numbers: numbers)
    }

    /// Changes a number. Returns `false` if no database can hold the new one.
    private static func change(_ place: Place, _ connection: SQLiteConnection) throws -> Bool {
        let value = try connection.first(
            "SELECT \(place.column), typeof(\(place.column)) FROM \(place.table) WHERE rowid = ?", .integer(place.row)
        ) { row in
            row.text(1) == "real"
                ? SQLiteValue.real(Double(bitPattern: row.real(0).bitPattern ^ 1 << UInt64(place.bit)))
                : .integer(row.integer(0) ^ 1 << Int64(place.bit))
        }
        guard let value else { return false }
        // SQLite reads a real number that is none as NULL.
        if case .real(let number) = value, number.isNaN { return false }
        try connection.execute("PRAGMA ignore_check_constraints = ON")
        do {
            try connection.run(
                "UPDATE \(place.table) SET \(place.column) = ? WHERE rowid = ?", value, .integer(place.row))
        } catch let error as SQLiteError where error.description.contains("UNIQUE") {
            return false
        }
        return true
    }

    /// Opens a queue over changed files and delivers all of it.
    private static func check(
        _ sample: Sample, _ what: String, _ change: (SQLiteConnection) throws -> Bool
    ) async throws {
        let fixture = try Fixture()
        let files = try fixture.files()
        try sample.database.write(to: files.database)
        try sample.mark.write(to: files.mark)
        let connection = try SQLiteConnection(files.database.path)
        // The triggers would change the totals with the rows.
        let triggers = try connection.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'") {
            (name: $0.text(0) ?? "", sql: $0.text(1) ?? "")
        }
        for trigger in triggers { try connection.execute("DROP TRIGGER \(trigger.name)") }
        let isChanged = try change(connection)
        for trigger in triggers { try connection.execute(trigger.sql) }
        connection.close()
        guard isChanged else { return }

        let queue = try await fixture.open {
            $0.startsPaused = true
            $0.handlerTimeLimit = nil
        }
        let handled = Locked(0)
        queue.register(
            String.self, name: "m", decode: { String(decoding: $0, as: UTF8.self) },
            handler: { _ in handled.withLock { $0 += 1 } })
        queue.resume()
        try await queue.resume(lane: "paused")
        let isDrained = Locked(false)
        let drain = Task {
            try await queue.drain()
            isDrained.withLock { $0 = true }
        }
        let end = ContinuousClock.now + .seconds(300)
        while !isDrained.withLock({ $0 }) {
            guard ContinuousClock.now < end else {
                drain.cancel()
                Issue.record("\(what): not drained: \(try await queue.records().map(\.state))")
                return
            }
            fixture.clock.advance(by: .seconds(10))
            for _ in 0..<20 { await Task.yield() }
        }
        let left = try await queue.records(limit: 1000)
        #expect(left.allSatisfy { if case .dead = $0.state { true } else { false } }, "\(what): drained early")
        // Each record is sent, handled or a dead letter.
        #expect(Set(fixture.sent).count <= sample.count, "\(what)")
        let done = fixture.sent.count + handled.withLock { $0 } + left.count
        #expect(done == sample.count, "\(what): \(fixture.sent), \(left.map(\.state)) are left")
        let counts = try await queue.counts
        #expect(counts.dead == left.count && counts.undelivered == 0 && counts.bytes >= 0, "\(what)")
        let id = try await queue.add(post("new"))
        #expect(id.rawValue > 0 && id.rawValue < .max, "\(what)")
        await queue.close()
    }

    /// Each bit of each number with `REQUEST_OPERATIONS_STRESS=full`. In the suite, one bit of each number, in pairs of
    /// different rows.
    @Test(.timeLimit(.minutes(60)))
    func `A changed bit of a number neither ends the process nor stops the queue nor loses a record`() async throws {
        let sample = try await Self.sample.value
        var places: [Place] = []
        for (index, number) in sample.numbers.enumerated() {
            let bits = Extent.isFull ? Array(0..<64) : [[62, 63, 1, 0, 40, 55, 61][index % 7]]
            places += bits.map { Place(table: number.table, row: number.row, column: number.column, bit: $0) }
        }
        let half = (places.count + 1) / 2
        let pairs = (0..<half).map { [places[$0]] + places.dropFirst(half + $0).prefix(1) }
        let groups = Extent.isFull ? places.map { [$0] } : pairs
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, places) in groups.enumerated() {
                if index >= 8 { try await group.next() }
                group.addTask {
                    try await Self.check(sample, "\(places)") { connection in
                        try places.map { try Self.change($0, connection) }.contains(true)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [
        "UPDATE lease SET fence = 9223372036854775807", "UPDATE lease SET fence = -9223372036854775808",
        "UPDATE lease SET beat = 9223372036854775807", "UPDATE lease SET patience = 1.7e20, owner = 'x'",
        "UPDATE totals SET count = -9223372036854775808, bytes = -9223372036854775808",
        "UPDATE totals SET count = 9223372036854775807, bytes = 9223372036854775807", "DELETE FROM totals",
        "UPDATE records SET attempts = 9223372036854775807", "UPDATE records SET refusals = 9223372036854775807",
        "UPDATE records SET attempts = -9223372036854775808, refusals = -9223372036854775808",
        "UPDATE records SET due = 1e308", "UPDATE records SET expires = 1e308, added = -1e308",
        "UPDATE records SET bytes = 9223372036854775807", "UPDATE records SET head = 0",
        "UPDATE records SET head = 1 WHERE state < 3", "UPDATE records SET reason = 9223372036854775807",
        "UPDATE sqlite_sequence SET seq = 9223372036854775807",
        "UPDATE sqlite_sequence SET seq = -9223372036854775808",
        "UPDATE outcomes SET ended = 1e308, id = 9223372036854775807",
    ])
    func `The greatest and least numbers do not end the process`(change: String) async throws {
        try await Self.check(Self.sample.value, change) { connection in
            try connection.execute("PRAGMA ignore_check_constraints = ON; \(change)")
            return true
        }
    }

    @Test func `The check of a large database beside the work finds wrong numbers`() async throws {
        let sample = try await Self.sample.value
        let fixture = try Fixture()
        let files = try fixture.files()
        try sample.database.write(to: files.database)
        let database = try SQLiteDatabase(files: files, isReader: true, date: { Fixture.epoch })
        try database.check()
        database.close()
        let connection = try SQLiteConnection(files.database.path)
        try connection.execute("UPDATE totals SET count = 60 WHERE state = 0")
        connection.close()
        #expect { try database.check() } throws: { $0.meansDamage }
        let writer = try SQLiteDatabase(files: files, date: { Fixture.epoch })
        try writer.repair()
        writer.close()
        try database.check()
        database.close()
    }

    @Test func `Wrong numbers are told, and are right afterwards`() async throws {
        let sample = try await Self.sample.value
        let fixture = try Fixture()
        let files = try fixture.files()
        try sample.database.write(to: files.database)
        let connection = try SQLiteConnection(files.database.path)
        try connection.execute(
            """
            UPDATE totals SET count = 60, bytes = -1 WHERE state = 0; UPDATE records SET head = 0 WHERE lane = 'lane';
            UPDATE records SET added = 0 WHERE lane = 'later'
            """)
        connection.close()
        let queue = try await fixture.open { $0.startsPaused = true }
        let found = await queue.event { if case .recovered(let recovery) = $0 { recovery } else { nil } }
        let recovery = try #require(found)
        #expect(recovery.damagedFile == nil && recovery.damagedRecords == 1 && recovery.missingRecords == 0)
        #expect(recovery.reason == "wrong numbers: records (1), lanes (1), totals")
        let counts = try await queue.counts
        #expect(counts.pending == 2 && counts.dead == 2 && counts.bytes == 8 * 4)
        await queue.close()
        let again = try await fixture.open { $0.startsPaused = true }
        let events = again.events
        try await again.add(post("new"))
        for await event in events {
            guard case .added = event else { return #expect(Bool(false), "\(event) is told again.") }
            break
        }
        await again.close()
    }
}
