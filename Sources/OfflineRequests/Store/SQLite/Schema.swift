/// The tables of a queue and the way from each version to the next.
///
/// `user_version` of the database is the number of migrations that have run.
enum Schema {
    /// What turns each version into the next one.
    static let migrations = [first, readyByOrigin]

    /// Lets a claim find the records of the origins that have a place.
    private static let readyByOrigin = """
        CREATE INDEX records_ready_origin ON records (network, origin, priority DESC, id) WHERE head = 1 AND state = 0;
        """

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

    /// Sets a connection up. The log of a commit is flushed to the disk before the commit returns.
    static let settings = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA fullfsync = ON;
        PRAGMA checkpoint_fullfsync = ON;
        PRAGMA secure_delete = ON;
        PRAGMA cell_size_check = ON;
        PRAGMA trusted_schema = OFF;
        PRAGMA journal_size_limit = 16777216;
        """

    /// Brings a database to the present version, in one transaction.
    ///
    /// - Throws: ``OfflineQueueError/Code/newerSchema`` if a newer version of the package made it.
    static func migrate(_ connection: SQLiteConnection, through migrations: [String] = migrations) throws {
        guard try version(of: connection) != migrations.count else { return }
        try connection.execute("BEGIN IMMEDIATE")
        do {
            // Another process may have done it meanwhile.
            let version = try version(of: connection)
            guard version <= migrations.count else { throw OfflineQueueError(.newerSchema) }
            for migration in migrations[version...] { try connection.execute(migration) }
            try connection.execute("PRAGMA user_version = \(migrations.count); COMMIT")
        } catch {
            // The error that ended the transaction says more than that of the rollback.
            if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    private static func version(of connection: SQLiteConnection) throws -> Int {
        Int(try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0)
    }
}
