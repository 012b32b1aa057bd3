#if PostgreSQL
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What every store promises, over PostgreSQL.
    @Suite(.serialized, .timeLimit(.minutes(5))) struct PostgreSQLConformanceTests {
        @Test(arguments: OfflineStoreConformance.all, [true, false])
        func `PostgreSQL keeps a promise`(promise: OfflineStoreConformance, prepares: Bool) async throws {
            let test = TestQueue()
            let bench = OfflineStoreConformance.Bench(
                isShared: true, now: { Date() }, wait: { try await Self.moveBack(test.name, by: $0) },
                open: { opening in
                    try await test.store(
                        options: { $0.preparesStatements = prepares },
                        configuration: { configuration in
                            configuration.outcomeRetention = opening.outcomeRetention
                            configuration.leaseDuration = opening.leaseDuration
                            configuration.lanePause = LanePausePolicy(failingFor: opening.lanePatience)
                        })
                })
            try await promise.run(bench)
        }

        /// Makes all dates of a queue earlier, which is the same for it as if time had passed.
        private static func moveBack(_ queue: String, by duration: Duration) async throws {
            let columns = [
                "records": ["added", "not_before", "expires", "due"], "senders": ["lease_until"],
                "origins": ["rests_until", "refilled"], "lanes": ["paused_since", "failing_since"],
                "outcomes": ["ended"],
            ]
            let changes = columns.sorted { $0.key < $1.key }.map { table, columns in
                let values = columns.map { "\($0) = \($0) - $2::float8 * interval '1 s'" }.joined(separator: ", ")
                return "UPDATE request_operations.\(table) SET \(values) WHERE queue = $1"
            }
            let pool = PostgreSQLPool(try TestServer.settings(), most: 1)
            try await pool.run { connection in
                try connection.transaction {
                    for change in changes {
                        _ = try connection.run(change, [.text(queue), .double(duration / .seconds(1))])
                    }
                }
            }
            await pool.close()
        }
    }
#endif
