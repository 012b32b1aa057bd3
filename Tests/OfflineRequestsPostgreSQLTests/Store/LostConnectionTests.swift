#if PostgreSQL
    import Foundation
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Connections that end before a call reaches the server, and after the server has done it.
    @Suite(.timeLimit(.minutes(5))) struct LostConnectionTests {
        enum Moment: String, CaseIterable {
            case before = "cut-before"
            case after = "cut-after"
        }

        private static let calls = [
            "add_records", "COMMIT", ".enter(", ".claim(", "may_send", ".deliver(", ".postpone(", ".bury(",
        ]

        /// One server fails once and one refuses, so that each function is called.
        @Test(arguments: calls, Moment.allCases)
        func `A lost connection loses nothing and repeats nothing`(call: String, moment: Moment) async throws {
            let disturbance = try await Disturbance(moment.rawValue, call, "3")
            let test = TestQueue(
                [.status(503), .status(400)] + Array(repeating: .status(204), count: 20), address: disturbance.address)
            try await PostgreSQLSchema.migrate(TestServer.settings())
            let queue = try await test.open(options: { ($0.listens, $0.migrates) = (false, false) })
            let ids = try await withThrowingTaskGroup(of: OfflineRecord.ID.self) { group in
                for number in 0..<10 {
                    group.addTask { try await queue.add(post("\(number)"), options: OfflineOptions(lane: "\(number)")) }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.count == 10)
            try await queue.drain()
            #expect(disturbance.cuts.count > 0)
            // One is sent again after 503.
            #expect(test.sent.count == 11)
            #expect(Set(test.sent).count == 10)
            #expect(try await queue.counts.dead == 1)
            let outcomes = try await TestServer.number(
                "SELECT count(*) FROM request_operations.outcomes WHERE queue = $1 AND outcome ? 'delivered'",
                .text(test.name))
            #expect(outcomes == 9)
            await queue.close()
        }

        @Test(arguments: Moment.allCases)
        func `What a lost connection has removed is reported as removed`(moment: Moment) async throws {
            let disturbance = try await Disturbance(moment.rawValue, "COMMIT", "2")
            let test = TestQueue(address: disturbance.address)
            try await PostgreSQLSchema.migrate(TestServer.settings())
            let store = try await test.store(options: { ($0.listens, $0.migrates) = (false, false) })
            let id = try #require(try await store.add([newRecord("a")], bounds: OfflineBounds(), in: nil)[0].id)
            #expect(try await store.remove(id))
            #expect(try await !store.remove(id))
            #expect(disturbance.cuts.count == 2)
            await store.close()
        }

        @Test func `After a restart, an addition is looked for, and what became of a removal is unknown`() async throws
        {
            // A function in front of the server's own says that it began a moment ago.
            let schema = "restarted_\(UInt64.random(in: 0 ... .max))"
            try TestServer.connect().execute(
                """
                CREATE SCHEMA \(schema);
                CREATE FUNCTION \(schema).pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql
                  AS 'SELECT clock_timestamp()'
                """)
            let disturbance = try await Disturbance("cut-after", "COMMIT", "2")
            let test = TestQueue(address: "\(disturbance.address) options='-c search_path=\(schema),pg_catalog'")
            try await PostgreSQLSchema.migrate(TestServer.settings())
            let store = try await test.store(options: { ($0.listens, $0.migrates) = (false, false) })
            let id = try #require(try await store.add([newRecord("a")], bounds: OfflineBounds(), in: nil)[0].id)
            #expect(try await store.records(.all, after: nil, limit: 10).map(\.id) == [id])
            let error = try await #require(throws: OfflineQueueError.self) { try await store.remove(id) }
            #expect(error.code == .storeFailed)
            #expect("\(error)".contains("cannot say whether"))
            #expect(try await store.record(id) == nil)
            await disturbance.cuts.count(2)
            await store.close()
            try TestServer.connect().execute("DROP SCHEMA \(schema) CASCADE")
        }

        @Test func `Killed connections at random moments lose nothing`() async throws {
            let name = "killed_\(UInt32.random(in: 0 ... .max))"
            let test = TestQueue(address: "application_name=\(name)")
            let queue = try await test.open()
            let isDone = Locked(false)
            let killer = Task.detached {
                let killer = PostgreSQLPool(try TestServer.settings(), most: 1)
                while !isDone.withLock({ $0 }) {
                    try await killer.run { connection in
                        _ = try connection.run(
                            """
                            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1
                            ORDER BY random() LIMIT 1
                            """, [.text(name)])
                        try connection.execute("SELECT pg_sleep(0.1)")
                    }
                }
                await killer.close()
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        try await queue.add(post("\(number)"), options: OfflineOptions(lane: "\(number % 50)"))
                    }
                }
                try await group.waitForAll()
            }
            try await queue.drain()
            isDone.withLock { $0 = true }
            try await killer.value
            #expect(Set(test.sent).count == 300)
            #expect(try await queue.counts == OfflineCounts())
            await queue.close()
        }

        @Test func `A database whose statements are slow delivers all the same`() async throws {
            let disturbance = try await Disturbance("delay", "0.5")
            let test = TestQueue(address: disturbance.address)
            try await PostgreSQLSchema.migrate(TestServer.settings())
            let queue = try await test.open(options: { $0.migrates = false })
            let ids = try await queue.add(
                contentsOf: (0..<5).map { (try post("\($0)"), OfflineOptions(lane: "\($0)")) })
            for id in ids { #expect(try await queue.outcome(of: id) == .delivered(status: 204)) }
            await queue.close()
        }
    }
#endif
