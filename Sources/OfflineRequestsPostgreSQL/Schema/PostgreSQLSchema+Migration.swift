#if PostgreSQL
    import OfflineRequests

    extension PostgreSQLSchema {
        /// Checks that this program can use the schema of a database.
        ///
        /// - Throws: ``PostgreSQLError``.
        static func check(_ connection: PostgreSQLConnection) throws {
            guard let version = try version(connection) else {
                throw PostgreSQLError(.schema(isNewer: false), "the database has no schema for queues; \(advice)")
            }
            try check(version)
            guard version.number >= steps.count else {
                throw PostgreSQLError(
                    .schema(isNewer: false),
                    """
                    the database has version \(version.number) of the schema, and this program needs \(steps.count); \
                    \(advice)
                    """)
            }
        }

        private static let advice = "run urlrequest queue migrate --database with its address, or set migrates"

        private static func check(_ version: Version) throws {
            guard version.oldest <= steps.count else {
                throw PostgreSQLError(
                    .schema(isNewer: true),
                    """
                    the database has version \(version.number) of the schema, which programs from version \
                    \(version.oldest) on can use, but this one has version \(steps.count)
                    """)
            }
        }

        private typealias Version = (number: Int, oldest: Int)

        /// The version of the schema; `nil` if there is none.
        private static func version(_ connection: PostgreSQLConnection) throws -> Version? {
            let isThere = try connection.run("SELECT to_regclass('request_operations.version') IS NOT NULL")
            guard isThere.first?.bool(0) == true else { return nil }
            let row = try connection.run("SELECT number, oldest FROM request_operations.version").first
            return row.map { (Int($0.integer(0) ?? 0), Int($0.integer(1) ?? 0)) }
        }

        /// Makes the schema, or brings it to the version of this program, in one transaction. Other migrations wait.
        ///
        /// - Throws: ``OfflineQueueError``.
        package static func migrate(_ settings: PostgreSQLSettings) async throws {
            var settings = settings
            // A step may make an index of a large table.
            settings.statementTimeout = .seconds(3600)
            let pool = PostgreSQLPool(settings, most: 1)
            do { try await pool.run(.opening) { try migrate($0) } } catch {
                await pool.close()
                throw error
            }
            await pool.close()
        }

        private static func migrate(_ connection: PostgreSQLConnection) throws {
            try connection.transaction {
                // Any number will do, as long as nobody else has it.
                _ = try connection.run("SELECT pg_advisory_xact_lock(5100)")
                let present = try version(connection)
                if let present { try check(present) }
                let number = present?.number ?? 0
                guard number < steps.count else { return }
                for step in steps[number...] + [settings] { try connection.execute(step) }
                _ = try connection.run(
                    "UPDATE request_operations.version SET number = $1, oldest = $2",
                    [.int32(Int32(steps.count)), .int32(Int32(oldest))])
            }
        }
    }
#endif
