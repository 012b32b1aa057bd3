#if PostgreSQL
    import Foundation
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct ServerFailureTests {
        @Test func `A server that stops and starts again loses nothing and needs no call`() async throws {
            let server = try await OwnServer()
            let test = TestQueue(address: server.address)
            let queue = try await test.open()
            let adding = Task {
                for number in 0..<100 {
                    try await queue.add(post("\(number)"), options: OfflineOptions(lane: "\(number % 7)"))
                }
            }
            for mode in ["immediate", "fast"] {
                try await server.control("restart", "--mode", mode)
            }
            try await adding.value
            try await queue.drain()
            #expect(Set(test.sent).count == 100)
            // While it is stopped, a call waits.
            try await server.control("stop", "--mode", "fast")
            async let id = queue.add(post("late"))
            try await server.control("start")
            #expect(try await queue.outcome(of: id) == .delivered(status: 204))
            await queue.close()
        }

        @Test func `A server that is not there is an error of the opening, at once`() async throws {
            let began = ContinuousClock.now
            let error = try await #require(throws: OfflineQueueError.self) {
                _ = try await OfflineRequestQueue.open(
                    store: .postgreSQL("postgres://me:hunter2@/name?host=/nonexistent"))
            }
            #expect(error.code == .storeFailed)
            #expect("\(error)".contains("/nonexistent") && !"\(error)".contains("hunter2"))
            #expect(ContinuousClock.now - began < .seconds(15))
        }

        @Test func `An address that cannot be read is an error of the opening`() async throws {
            let error = try await #require(throws: OfflineQueueError.self) {
                _ = try await OfflineRequestQueue.open(store: .postgreSQL("postgres://me:hunter2@[x/"))
            }
            #expect("\(error)".contains("address") && !"\(error)".contains("hunter2"))
        }

        @Test func `A role without rights is told so`() async throws {
            let test = TestQueue()
            await (try test.open()).close()
            let role = "role_\(UInt64.random(in: 0 ... .max))"
            try TestServer.connect().execute("CREATE ROLE \(role) LOGIN")
            let stranger = TestQueue(address: "user=\(role)")
            let error = try await #require(throws: OfflineQueueError.self) {
                _ = try await stranger.open(options: { $0.migrates = false })
            }
            #expect(error.code == .storeFailed)
            #expect("\(error)".contains("permission denied for schema request_operations"))
            try TestServer.connect().execute("DROP ROLE \(role)")
        }

        @Test func `A database that takes no changes is told as such, and may be read`() async throws {
            let test = TestQueue(address: "dbname=\(try TestServer.makeDatabase())")
            let before = try await test.open(configuration: { $0.startsPaused = true })
            try await before.add(post("a"))
            await before.close()
            let name = String(test.address.dropFirst("dbname=".count))
            try TestServer.connect().execute("ALTER DATABASE \(name) SET default_transaction_read_only = on")
            let queue = try await test.open(
                options: { $0.statementTimeout = .milliseconds(500) }, configuration: { $0.startsPaused = true })
            #expect(try await queue.counts.pending == 1)
            let error = try await #require(throws: OfflineQueueError.self) { try await queue.add(post("b")) }
            #expect("\(error)".contains("read-only"))
            await queue.close()
        }

        @Test(arguments: [("53100", OfflineQueueError.Code.diskFull), ("55P03", .busy), ("XX000", .storeFailed)])
        func `An error of the server has the code of the queue`(state: String, code: OfflineQueueError.Code)
            async throws
        {
            let pool = PostgreSQLPool(try TestServer.settings(), most: 1)
            let error = try await #require(throws: OfflineQueueError.self) {
                try await pool.run {
                    try $0.execute("DO $$ BEGIN RAISE EXCEPTION 'the cause' USING ERRCODE = '\(state)'; END $$")
                }
            }
            #expect(error.code == code)
            #expect("\(error)" == "\(code): the cause (SQLSTATE \(state))")
            await pool.close()
        }

        @Test func `Through a pooler in transaction mode everything works, without prepared statements`() async throws {
            let pooler = try await Pooler()
            let test = TestQueue([.status(503), .status(204)], address: pooler.address)
            let sender = try await test.open(options: { $0.preparesStatements = false })
            let ids = try await sender.add(
                contentsOf: (0..<20).map { (try post("\($0)"), OfflineOptions(lane: "\($0 % 3)")) })
            for id in ids { #expect(try await sender.outcome(of: id) == .delivered(status: 204)) }
            let adder = try await test.open(
                options: { $0.preparesStatements = false }, configuration: { $0.startsPaused = true })
            let late = try await adder.add(post("late"))
            // It is found at the next look, since no notification comes through.
            #expect(try await sender.outcome(of: late) == .delivered(status: 204))
            await adder.close()
            await sender.close()
        }
    }
#endif
