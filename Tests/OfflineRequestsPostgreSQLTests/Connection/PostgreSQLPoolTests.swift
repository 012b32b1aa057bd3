#if PostgreSQL
    import Foundation
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct PostgreSQLPoolTests {
        private static let terminate = "SELECT pg_terminate_backend($1::int, 10000)"

        @Test func `Calls share the connections, and no more are made`() async throws {
            let pool = PostgreSQLPool(try TestServer.settings(), most: 3)
            let backends = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<50 { group.addTask { try await pool.run { try $0.backend() } } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect((1...3).contains(backends.count))
            await pool.close()
        }

        @Test func `Calls on one connection keep their order`() async throws {
            let pool = PostgreSQLPool(try TestServer.settings(), most: 1)
            let seen = Locked<[Int]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                let begun = AsyncStream.makeStream(of: Void.self)
                let gate = DispatchSemaphore(value: 0)
                group.addTask {
                    try await pool.run { _ in
                        begun.continuation.yield()
                        gate.wait()
                    }
                }
                for await _ in begun.stream { break }
                for number in 0..<200 {
                    let entered = AsyncStream.makeStream(of: Void.self)
                    group.addTask(priority: .high) {
                        async let done: Void = pool.run { _ in seen.withLock { $0.append(number) } }
                        entered.continuation.yield()
                        try await done
                    }
                    for await _ in entered.stream { break }
                }
                gate.signal()
                try await group.waitForAll()
            }
            #expect(seen.withLock { $0.count } == 200)
            await pool.close()
        }

        @Test func `A call finds a new connection in place of one that ended while it was idle`() async throws {
            let pool = PostgreSQLPool(try TestServer.settings(), most: 1)
            let before = try #require(try await pool.number("SELECT pg_backend_pid()::bigint"))
            _ = try TestServer.connect().run(Self.terminate, [.int32(Int32(before))])
            let count = Locked(0)
            let after = try await pool.run(.once) { connection in
                count.withLock { $0 += 1 }
                return try connection.backend()
            }
            #expect(after != before)
            #expect(count.withLock { $0 } == 2)
            await pool.close()
        }

        @Test(arguments: [true, false])
        func `A call whose connection ends while it runs is repeated only if it may be`(isRepeatable: Bool) async throws
        {
            let pool = PostgreSQLPool(try TestServer.settings(), most: 1)
            let runs = Locked(0)
            let call = { @Sendable (connection: PostgreSQLConnection) in
                let run = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                if run == 1 { _ = try connection.run("SELECT pg_terminate_backend(pg_backend_pid())") }
            }
            if isRepeatable {
                try await pool.run(.read, call)
            } else {
                let error = try await #require(throws: OfflineQueueError.self) { try await pool.run(.once, call) }
                #expect((error.underlying as? PostgreSQLError)?.cause == .lost(mayHaveRun: true))
            }
            #expect(runs.withLock { $0 } == (isRepeatable ? 2 : 1))
            await pool.close()
        }

        @Test func `A deadlock is resolved by repetition`() async throws {
            let pool = PostgreSQLPool(try TestServer.settings(), most: 2)
            let locks = [lockNumber(), lockNumber()]
            let meeting = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
            let runs = Locked([0, 0])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for me in 0...1 {
                    group.addTask {
                        try await pool.run(.once) { connection in
                            let isFirst = runs.withLock { runs in
                                runs[me] += 1
                                return runs[me] == 1
                            }
                            try connection.transaction {
                                _ = try connection.run("SELECT pg_advisory_xact_lock($1)", [.int64(locks[me])])
                                if isFirst {
                                    meeting[1 - me].signal()
                                    meeting[me].wait()
                                }
                                _ = try connection.run("SELECT pg_advisory_xact_lock($1)", [.int64(locks[1 - me])])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(runs.withLock { $0.reduce(0, +) } >= 3)
            await pool.close()
        }

        @Test func `A cancelled caller leaves, and its statement runs to its end`() async throws {
            let pool = PostgreSQLPool(try TestServer.settings(), most: 2)
            let lock = lockNumber()
            let holder = try TestServer.connect()
            _ = try holder.run("SELECT pg_advisory_lock($1)", [.int64(lock)])
            let ran = AsyncStream.makeStream(of: Void.self)
            let caller = Task {
                try await pool.run { connection in
                    _ = try connection.run("SELECT pg_advisory_lock($1)", [.int64(lock)])
                    ran.continuation.yield()
                }
            }
            try TestServer.wait(
                until:
                    "SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND objid = $1::bigint::bit(32)::int::oid",
                .int64(lock))
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
            _ = try holder.run("SELECT pg_advisory_unlock($1)", [.int64(lock)])
            for await _ in ran.stream { break }
            await pool.close()
        }

        @Test func `A call that was cancelled before it began does not run, unless it records an outcome`() async throws
        {
            let pool = PostgreSQLPool(try TestServer.settings(), most: 1)
            let ran = Locked<[String]>([])
            let caller = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await pool.run(.sending) { _ in ran.withLock { $0.append("outcome") } }
                try await pool.run { _ in ran.withLock { $0.append("read") } }
            }
            await #expect(throws: CancellationError.self) { try await caller.value }
            try await pool.run { _ in ran.withLock { $0.append("later") } }
            #expect(ran.withLock { $0.filter { $0 != "read" } } == ["outcome", "later"])
            await pool.close()
        }

        /// Ends the connection of a transaction when it commits.
        private static let cutCommit = """
            CREATE FUNCTION pg_temp.cut() RETURNS trigger LANGUAGE plpgsql
              AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
            CREATE TEMP TABLE commits (number int);
            CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON commits DEFERRABLE INITIALLY DEFERRED
              FOR EACH ROW EXECUTE FUNCTION pg_temp.cut();
            INSERT INTO commits VALUES (1)
            """

        /// What the server says of another transaction, that was committed, counts only if it has not restarted.
        @Test(
            arguments: [
                (false, nil, 1), (true, true, 1), (true, false, 2), (true, nil, nil),
            ] as [(Bool, Bool?, Int?)])
        func `A server that restarted is not believed that it committed`(
            hasRestarted: Bool, hasEffect: Bool?, runs: Int?
        ) async throws {
            let pool = PostgreSQLPool(try TestServer.settings(), most: 1)
            let number = try await pool.number("SELECT pg_current_xact_id()::text::bigint")
            let (count, looks) = (Locked(0), Locked(0))
            let look: @Sendable (PostgreSQLConnection, Int) -> Bool? = { _, _ in
                looks.withLock { $0 += 1 }
                return hasEffect
            }
            func commit() async throws -> Int {
                try await pool.commit(hasEffect: look) { connection in
                    let run = count.withLock { count in
                        count += 1
                        return count
                    }
                    if run == 1 { try connection.execute(Self.cutCommit) }
                    let start = "extract(epoch FROM pg_postmaster_start_time())::float8"
                    let row = try connection.run(
                        "SELECT $1::bigint, \(hasRestarted ? "0::float8" : start)", [.int64(number ?? 0)]
                    ).first
                    return PostgreSQLPool.Change(run, in: row)
                }
            }
            if let runs {
                #expect(try await commit() == runs)
            } else {
                let error = try await #require(throws: OfflineQueueError.self) { try await commit() }
                #expect("\(error)".contains("cannot say whether"))
            }
            #expect(looks.withLock { $0 } == (hasRestarted ? 1 : 0))
            await pool.close()
        }

        @Test func `A server that is not there is an error when the patience is over`() async throws {
            let settings = PostgreSQLSettings(try PostgreSQLAddress("host=/nonexistent"))
            let pool = PostgreSQLPool(settings, most: 2)
            let error = try await #require(throws: OfflineQueueError.self) {
                try await pool.run(.opening) { _ in }
            }
            #expect(error.code == .storeFailed)
            #expect("\(error)".contains("/nonexistent"))
            await pool.close()
        }

        @Test func `A close ends the pause before the next try to connect`() async throws {
            let pool = PostgreSQLPool(PostgreSQLSettings(try PostgreSQLAddress("host=/nonexistent")), most: 2)
            let began = ContinuousClock.now
            let callers = (0..<10).map { _ in Task { try await pool.run { _ in } } }
            await Task.yield()
            await pool.close()
            for caller in callers {
                let error = await #expect(throws: OfflineQueueError.self) { try await caller.value }
                #expect(error?.code == .closed)
            }
            // The patience of a call is 30 s.
            #expect(ContinuousClock.now - began < .seconds(15))
        }
    }
#endif
