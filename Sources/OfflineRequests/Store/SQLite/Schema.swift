/// The tables of a queue and the way from each version to the next.
///
/// `user_version` of the database is the number of migrations that have run.
enum Schema {
    /// Sets a connection up. SQLite flushes a log to the disk only before it moves it into the database. ``SQLiteDatabase``
    /// flushes it after each commit, when others can write again.
    static let settings = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
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
    static func migrate(_ connection: SQLiteConnection, through migrations: [Migration] = migrations) throws {
        guard try version(of: connection) != migrations.count else { return }
        try connection.execute("BEGIN IMMEDIATE")
        do {
            // Another process may have done it meanwhile.
            let version = try version(of: connection)
            guard (0...migrations.count).contains(version) else {
                throw OfflineQueueError(
                    .newerSchema, underlying: UnknownVersion(found: version, known: migrations.count))
            }
            for migration in migrations[version...] { try migration(connection) }
            try connection.execute("PRAGMA user_version = \(migrations.count); COMMIT")
        } catch {
            // The error that ended the transaction says more than that of the rollback.
            if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    private static func version(of connection: SQLiteConnection) throws -> Int {
        Int(clamping: try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0)
    }

    /// A database of a version that has no steps here.
    struct UnknownVersion: StoreFailure {
        let found: Int
        let known: Int

        var description: String {
            "the database has version \(found) of the schema, but this program supports only up to version \(known)"
        }
    }
}
