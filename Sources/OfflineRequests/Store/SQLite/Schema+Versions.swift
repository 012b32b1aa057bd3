/// What turns each version of the schema into the next one. A change of the tables adds a step here, and edits none.
extension Schema {
    /// A step, in the transaction of all steps. It changes nothing that has its form already.
    typealias Migration = @Sendable (SQLiteConnection) throws -> Void

    /// The steps. The number of those that have run is the version of a database.
    static let migrations: [Migration] = [
        { if try !$0.hasTable("records") { try $0.execute(first) } },
        { try $0.execute(readyByOrigin) },
        seal,
        { try $0.execute(lanes) },
    ]

    /// Version 1.
    ///
    /// `head` marks the first record of each lane that has no outcome. The partial indexes hold little more than those.
    ///
    /// `patience` is how many seconds the owner of the lease may be silent.
    ///
    /// States: 0 pending, 1 waiting, 2 in flight, 3 dead. `totals` counts them, and row -1 counts the commits.
    private static let first = """
        CREATE TABLE lease (
          id INTEGER PRIMARY KEY CHECK (id = 1), owner TEXT, fence INTEGER NOT NULL, beat INTEGER NOT NULL,
          patience REAL NOT NULL);
        INSERT INTO lease VALUES (1, NULL, 0, 0, 15);
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
        CREATE INDEX records_ready ON records (network, priority DESC, id, origin) WHERE head = 1 AND state = 0;
        CREATE INDEX records_due ON records (due) WHERE head = 1 AND state = 1;
        CREATE INDEX records_reason ON records (reason, due) WHERE head = 1 AND state = 1;
        CREATE INDEX records_flight ON records (fence) WHERE state = 2;
        CREATE INDEX records_dead ON records (id) WHERE state = 3;
        CREATE INDEX records_lane ON records (lane, id) WHERE state < 3;
        CREATE INDEX records_key ON records (key, id) WHERE key IS NOT NULL AND state < 3;
        CREATE INDEX records_tag ON records (tag, id) WHERE tag IS NOT NULL;
        CREATE INDEX records_expiry ON records (expires) WHERE expires IS NOT NULL AND state < 2;
        CREATE INDEX records_origin ON records (origin, reason) WHERE origin IS NOT NULL AND state = 1;
        CREATE INDEX records_file ON records (file) WHERE file IS NOT NULL;
        CREATE INDEX records_message ON records (reason, message) WHERE message IS NOT NULL AND head = 1 AND state = 1;
        CREATE TABLE outcomes (id INTEGER PRIMARY KEY, ended REAL NOT NULL, outcome TEXT NOT NULL);
        CREATE INDEX outcomes_ended ON outcomes (ended);
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
        """

    /// Version 2 lets a claim find the records of the origins that have a place.
    private static let readyByOrigin = """
        CREATE INDEX IF NOT EXISTS records_ready_origin ON records (network, origin, priority DESC, id)
          WHERE head = 1 AND state = 0;
        """

    /// Version 4 has the lanes that are paused, and those that fail.
    private static let lanes = """
        CREATE TABLE IF NOT EXISTS lanes (lane TEXT PRIMARY KEY, paused REAL, reason TEXT, failing REAL);
        CREATE INDEX IF NOT EXISTS lanes_paused ON lanes (lane) WHERE paused IS NOT NULL;
        """

    /// Version 3: the checksum is over all that does not change while a record waits, also over its dates.
    ///
    /// Version 1 had several forms, so each of their differences is looked for. The column has another name, so that an
    /// older program, which has the database open, fails instead of taking each record for damaged.
    @Sendable private static func seal(_ connection: SQLiteConnection) throws {
        if try !connection.columns(of: "lease").contains("patience") {
            try connection.execute("ALTER TABLE lease ADD COLUMN patience REAL NOT NULL DEFAULT 15")
        }
        try connection.execute(
            """
            DROP INDEX IF EXISTS records_ready;
            DROP INDEX IF EXISTS records_reason;
            DROP INDEX IF EXISTS records_message;
            DROP INDEX IF EXISTS outcomes_ended;
            CREATE INDEX records_ready ON records (network, priority DESC, id, origin) WHERE head = 1 AND state = 0;
            CREATE INDEX records_reason ON records (reason, due) WHERE head = 1 AND state = 1;
            CREATE INDEX records_message ON records (reason, message)
              WHERE message IS NOT NULL AND head = 1 AND state = 1;
            CREATE INDEX outcomes_ended ON outcomes (ended);
            """)
        if try connection.columns(of: "records").contains("checksum") {
            try connection.execute("ALTER TABLE records RENAME COLUMN checksum TO seal")
        }
        // These are the columns of version 3, whatever a later one has. A change of their order in `RecordRow.parts` or of
        // `Parts.checksum` must leave the present form for this step.
        var last = Int64.min
        while true {
            let rows = try connection.rows(
                """
                SELECT id, state, reason, due, content, lane, tag, key, priority, added, expires, attempts, refusals,
                  failure, ending, bytes, seal, file, network, origin, message, body
                FROM records WHERE id > ? ORDER BY id LIMIT 100
                """, .integer(last)
            ) { (parts: RecordRow.parts($0, hasBody: true), seal: UInt64(bitPattern: $0.integer(16))) }
            guard let end = rows.last else { return }
            // A checksum that does not fit stays, so that its record is found to be damaged.
            for row in rows where row.parts.firstChecksum.value == row.seal {
                try connection.run(
                    "UPDATE records SET seal = ? WHERE id = ?", .integer(Int64(bitPattern: row.parts.checksum)),
                    .integer(row.parts.id))
            }
            last = end.parts.id
        }
    }
}

extension SQLiteConnection {
    fileprivate func hasTable(_ name: String) throws -> Bool { try !columns(of: name).isEmpty }

    /// The columns of a table; none if there is no such table.
    fileprivate func columns(of table: String) throws -> [String] {
        try rows("SELECT name FROM pragma_table_info(?)", .text(table)) { $0.text(0) ?? "" }
    }
}
