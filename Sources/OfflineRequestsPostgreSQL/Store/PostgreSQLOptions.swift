#if PostgreSQL
    public import OfflineRequests
    import RequestOperations

    /// How a queue uses its database.
    public struct PostgreSQLOptions: Sendable, Hashable {
        /// The most connections. 8 by default, and at least 1. Each has a thread of its own. One more listens.
        public var connections = 8
        /// Whether statements are prepared once for each connection. `true` by default.
        ///
        /// Set it to `false` behind a pooler in transaction mode, such as PgBouncer. Each call is then a transaction of its
        /// own with three round trips, and leaves nothing in the session.
        public var preparesStatements = true
        /// Whether one connection waits for notifications of new records. `true` by default.
        ///
        /// Without notifications, and behind a pooler in transaction mode, the queue finds them when it looks: once a second,
        /// and every five seconds after a minute without work.
        public var listens = true
        /// Whether opening a queue makes the schema `request_operations`, or brings it to the version of this program.
        /// `false` by default: then `urlrequest queue migrate` does it, and opening fails without it.
        public var migrates = false
        /// How long a statement may take, and how long a call waits for a lost database. 30 s by default.
        public var statementTimeout: Duration = .seconds(30)

        /// Makes options with the defaults given at each property.
        public init() {}
    }

    extension OfflineStorage {
        /// A PostgreSQL database, version 15 or newer. All programs that open the queue send, and share its limits.
        ///
        /// What the address leaves out comes from libpq's environment and files: `PGHOST`, `PGSERVICE`, `PGPASSWORD`,
        /// `~/.pgpass`, `PGSSLMODE` and the others. A time limit of 10 s for a connection holds unless they or the address
        /// name one. No password is shown in errors or logs.
        ///
        /// A call in a Task that is cancelled throws `CancellationError` at once. What it has begun may still have its effect:
        /// a request can be added nevertheless.
        ///
        /// Opening throws ``OfflineQueueError``: ``OfflineQueueError/Code/newerSchema`` if this program is too old for the
        /// schema, and ``OfflineQueueError/Code/storeFailed`` if the database cannot be reached or the schema is missing.
        ///
        /// - Parameters:
        ///   - address: A URL such as `postgres://user@host/name`, or a connection string of libpq. Empty by default.
        ///   - options: How the queue uses the database.
        public static func postgreSQL(
            _ address: String = "", options: PostgreSQLOptions = PostgreSQLOptions()
        ) -> OfflineStorage {
            // An address that cannot be read is an error of the opening.
            let parsed = Result { try PostgreSQLAddress(address) }
            let place = (try? parsed.get())?.place ?? "an unreadable address"
            return OfflineStorage(place: "PostgreSQL \(place)") { opening in
                do {
                    var settings = PostgreSQLSettings(try parsed.get())
                    settings.preparesStatements = options.preparesStatements
                    settings.statementTimeout = options.statementTimeout
                    return try await PostgreSQLStore.open(opening, settings, options)
                } catch {
                    throw OfflineQueueError(database: error)
                }
            }
        }
    }
#endif
