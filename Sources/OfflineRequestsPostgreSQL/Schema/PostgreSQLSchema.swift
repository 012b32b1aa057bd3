#if PostgreSQL
    /// The tables and functions of a queue in PostgreSQL, and the way from each version to the next.
    ///
    /// `request_operations.version` holds the number of steps that have run. Functions keep their signatures in later
    /// versions, so an older program works beside a newer schema.
    package enum PostgreSQLSchema {
        /// The steps. Each one is a text of several statements that runs in a transaction. A step that has been released
        /// never changes. `settings` runs after them, for the functions that they made.
        package static let steps = [
            [
                tables, lanes, adding, outbox, senders, claiming, delivering, waking, managing,
            ].joined(separator: "\n")
        ]

        /// The oldest program, by its number of steps, that works with this schema.
        package static let oldest = 1
    }
#endif
