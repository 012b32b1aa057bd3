import RequestOperationsTesting
import Testing

@testable import OfflineRequests

/// Databases as earlier commits of the package made them.
@Suite(.timeLimit(.minutes(10))) struct MigrationTests {
    /// The first form of version 1.
    private static let oldest = """
        CREATE TABLE lease (
          id INTEGER PRIMARY KEY CHECK (id = 1), owner TEXT, fence INTEGER NOT NULL, beat INTEGER NOT NULL);
        INSERT INTO lease VALUES (1, NULL, 0, 0);
        CREATE TABLE totals (state INTEGER PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO totals VALUES (-1, 0, 0), (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0);
        CREATE TABLE records (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
          head INTEGER NOT NULL CHECK (head IN (0, 1)),
          network INTEGER NOT NULL CHECK (network IN (0, 1)),
          reason INTEGER NOT NULL, fence INTEGER NOT NULL,
          lane TEXT NOT NULL, tag TEXT, key TEXT, priority INTEGER NOT NULL,
          added REAL NOT NULL, due REAL NOT NULL, expires REAL,
          attempts INTEGER NOT NULL, refusals INTEGER NOT NULL, failure TEXT, ending TEXT,
          origin TEXT, message TEXT, bytes INTEGER NOT NULL,
          content BLOB NOT NULL, body BLOB, file TEXT, checksum INTEGER NOT NULL);
        CREATE INDEX records_ready ON records (network, priority DESC, id) WHERE head = 1 AND state = 0;
        CREATE INDEX records_due ON records (due) WHERE head = 1 AND state = 1;
        CREATE INDEX records_flight ON records (fence) WHERE state = 2;
        CREATE INDEX records_dead ON records (id) WHERE state = 3;
        CREATE INDEX records_lane ON records (lane, id) WHERE state < 3;
        CREATE INDEX records_key ON records (key, id) WHERE key IS NOT NULL AND state < 3;
        CREATE INDEX records_tag ON records (tag, id) WHERE tag IS NOT NULL;
        CREATE INDEX records_expiry ON records (expires) WHERE expires IS NOT NULL AND state < 2;
        CREATE INDEX records_origin ON records (origin, reason) WHERE origin IS NOT NULL AND state = 1;
        CREATE INDEX records_file ON records (file) WHERE file IS NOT NULL;
        CREATE INDEX records_message ON records (message) WHERE message IS NOT NULL AND state = 1;
        CREATE TABLE outcomes (id INTEGER PRIMARY KEY, ended REAL NOT NULL, outcome TEXT NOT NULL);
        CREATE TRIGGER records_added AFTER INSERT ON records BEGIN
          UPDATE totals SET count = count + 1, bytes = bytes + NEW.bytes WHERE state = NEW.state;
        END;
        CREATE TRIGGER records_removed AFTER DELETE ON records BEGIN
          UPDATE totals SET count = count - 1, bytes = bytes - OLD.bytes WHERE state = OLD.state;
        END;
        CREATE TRIGGER records_changed AFTER UPDATE OF state, bytes ON records BEGIN
          UPDATE totals SET count = count - 1, bytes = bytes - OLD.bytes WHERE state = OLD.state;
          UPDATE totals SET count = count + 1, bytes = bytes + NEW.bytes WHERE state = NEW.state;
        END;
        PRAGMA user_version = 1;
        """

    /// The forms that databases had, oldest first: what each changed in the one before.
    static let changes = [
        "",
        """
        DROP TABLE lease;
        CREATE TABLE lease (
          id INTEGER PRIMARY KEY CHECK (id = 1), owner TEXT, fence INTEGER NOT NULL, beat INTEGER NOT NULL,
          patience REAL NOT NULL);
        INSERT INTO lease VALUES (1, NULL, 0, 0, 15);
        DROP INDEX records_ready;
        CREATE INDEX records_ready ON records (network, priority DESC, id, origin) WHERE head = 1 AND state = 0;
        CREATE INDEX records_reason ON records (reason, due) WHERE head = 1 AND state = 1;
        CREATE INDEX outcomes_ended ON outcomes (ended);
        """,
        """
        DROP INDEX records_message;
        CREATE INDEX records_message ON records (reason, message) WHERE message IS NOT NULL AND head = 1 AND state = 1;
        """,
        """
        CREATE INDEX records_ready_origin ON records (network, origin, priority DESC, id) WHERE head = 1 AND state = 0;
        PRAGMA user_version = 2;
        """,
    ]

    /// What version 4 has and version 3 had not.
    private static let lanes = "DROP TABLE lanes; PRAGMA user_version = 3;"

    /// Records as the first commits wrote them: one that is ready, one that waits for its earliest time, and one with a
    /// wrong byte in its body. The last values are their checksums.
    private static let rows = """
        INSERT INTO records VALUES
          (3, 0, 1, 1, 0, 0, '', NULL, NULL, 0, 1799999990.25, 0, NULL, 0, 0, NULL, NULL, 'https://a.example:', NULL, 4,
            CAST('\(content)' AS BLOB), CAST('body' AS BLOB), NULL, 2846207606791141384),
          (4, 1, 1, 1, 1, 0, 'later', NULL, NULL, 0, 1799999990.25, 1800000050.5, 1800000900, 1, 1, NULL, NULL,
            'https://a.example:', NULL, 4, CAST('\(content)' AS BLOB), CAST('body' AS BLOB), NULL, -1270352801066435561),
          (5, 0, 1, 1, 0, 0, 'wrong', NULL, NULL, 0, 1799999990.25, 0, NULL, 0, 0, NULL, NULL, 'https://a.example:',
            NULL, 4, CAST('\(content)' AS BLOB), CAST('bode' AS BLOB), NULL, 1500968955494710329);
        """
    private static let content =
        #"{"constraints":["reachable"],"fields":{},"idempotencyKey":"k","method":"POST","url":"https://a.example/old"}"#

    /// Makes a database of a form.
    private static func make(_ form: Int, at files: QueueFiles) throws {
        let connection = try SQLiteConnection(files.database.path)
        defer { connection.close() }
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute(oldest)
        for change in changes[...form] { try connection.execute(change) }
        try connection.execute(rows)
    }

    /// The columns of all tables, and the text of all indexes.
    private static func form(
        of files: QueueFiles
    ) throws -> (columns: Set<String>, indexes: Set<String>, version: Int64?) {
        let connection = try SQLiteConnection(files.database.path)
        defer { connection.close() }
        let columns = try connection.rows(
            "SELECT s.name || '.' || c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c WHERE s.type = 'table'"
        ) { $0.text(0) ?? "" }
        let indexes = try connection.rows("SELECT sql FROM sqlite_schema WHERE type = 'index'") { row in
            (row.text(0) ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        return (Set(columns), Set(indexes), try connection.first("PRAGMA user_version") { $0.integer(0) })
    }

    @Test(arguments: changes.indices)
    func `A database of an earlier commit is brought to the present form, and its records are delivered`(
        form: Int
    ) async throws {
        let fixture = try Fixture()
        try Self.make(form, at: fixture.files())
        let queue = try await fixture.open { $0.startsPaused = true }
        let counts = try await queue.counts
        #expect(counts.pending == 1 && counts.waiting == 1 && counts.dead == 1)
        guard case .dead(let reason) = try await queue.record(OfflineRecord.ID(rawValue: 5))?.state else {
            return #expect(Bool(false), "The damaged record is no dead letter.")
        }
        #expect(reason.kind == .damaged)
        queue.resume()
        #expect(try await queue.outcome(of: OfflineRecord.ID(rawValue: 3)) == .delivered(status: 204))
        #expect(try await queue.record(OfflineRecord.ID(rawValue: 4))?.attempts == 1)
        let id = OfflineRecord.ID(rawValue: 4)
        let outcome = Task { try await queue.outcome(of: id) }
        let isSent = { @Sendable in fixture.sent.count == 2 }
        await fixture.advance(by: .seconds(51), until: isSent)
        #expect(try await outcome.value == .delivered(status: 204))
        #expect(try await queue.add(post("new")).rawValue == 6)
        await queue.close()

        let fresh = try Fixture()
        let other = try await fresh.open()
        await other.close()
        let (old, new) = (try Self.form(of: fixture.files()), try Self.form(of: fresh.files()))
        #expect(old.columns == new.columns && old.indexes == new.indexes && old.version == new.version)
    }

    @Test func `A database of version 3 is brought to the present form`() async throws {
        let (fixture, fresh) = (try Fixture(), try Fixture())
        for fixture in [fixture, fresh] {
            let queue = try await fixture.open { $0.startsPaused = true }
            try await queue.add(post("a"))
            await queue.close()
        }
        let connection = try SQLiteConnection(fixture.files().database.path)
        try connection.execute(Self.lanes)
        connection.close()
        let queue = try await fixture.open()
        try await queue.drain()
        await queue.close()
        let (old, new) = (try Self.form(of: fixture.files()), try Self.form(of: fresh.files()))
        #expect(old.columns == new.columns && old.indexes == new.indexes && old.version == new.version)
    }

    @Test func `A damaged database of an earlier commit gives its records back`() async throws {
        let fixture = try Fixture()
        let files = try fixture.files()
        try Self.make(0, at: files)
        var database = try Data(contentsOf: files.database)
        for offset in 0..<100 { database[offset] = 0 }
        try database.write(to: files.database)
        let queue = try await fixture.open { $0.startsPaused = true }
        let counts = try await queue.counts
        #expect(counts.pending == 1 && counts.waiting == 1 && counts.dead == 1)
        queue.resume()
        #expect(try await queue.outcome(of: OfflineRecord.ID(rawValue: 3)) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `A number of the schema that has lost a bit is found again`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.startsPaused = true }
        let id = try await queue.add(post("a"))
        await queue.close()
        for version in 0..<Schema.migrations.count {
            let connection = try SQLiteConnection(fixture.files().database.path)
            try connection.execute("PRAGMA user_version = \(version)")
            connection.close()
            let again = try await fixture.open { $0.startsPaused = true }
            #expect(try await again.record(id)?.state == .pending)
            await again.close()
        }
        let last = try await fixture.open()
        #expect(try await last.outcome(of: id) == .delivered(status: 204))
        await last.close()
    }

    /// If this fails, a step must be added to `Schema.migrations`, and the form so far to this file. Databases with the old
    /// form and the same number exist.
    @Test func `The columns of version 4 are these`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        await queue.close()
        let form = try Self.form(of: fixture.files())
        #expect(form.version == 4)
        let records = [
            "id", "state", "head", "network", "reason", "fence", "lane", "tag", "key", "priority", "added", "due",
            "expires", "attempts", "refusals", "failure", "ending", "origin", "message", "bytes", "content", "body",
            "file", "seal",
        ]
        let columns =
            ["lease.id", "lease.owner", "lease.fence", "lease.beat", "lease.patience"]
            + ["totals.state", "totals.count", "totals.bytes", "outcomes.id", "outcomes.ended", "outcomes.outcome"]
            + ["lanes.lane", "lanes.paused", "lanes.reason", "lanes.failing"]
            + ["sqlite_sequence.name", "sqlite_sequence.seq"] + records.map { "records.\($0)" }
        #expect(form.columns == Set(columns) && form.indexes.count == 16)
    }
}
