#if PostgreSQL
    import Foundation
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// What programs add with SQL, in transactions of their own.
    @Suite(.timeLimit(.minutes(5))) struct OutboxTests {
        private func statement(_ path: String, to test: TestQueue) throws -> OutboxStatement {
            var request = try post(path, body: "thé\0")
            request.setValue("ä \"quoted\"", forHTTPHeaderField: "X-Field")
            var options = OfflineOptions(lane: "o'brien", tag: "tag", priority: -1)
            options.expires = Date(timeIntervalSinceNow: 3600)
            return try OutboxStatement(adding: request, to: test.name, options: options)
        }

        /// Runs a statement as any driver does, with texts.
        private func run(
            _ statement: OutboxStatement, on connection: PostgreSQLConnection
        ) throws -> OfflineRecord.ID {
            let values = statement.parameters.map { PostgreSQLValue.optional($0) }
            let id = try connection.run(statement.text, values).first?.integer(0)
            return OfflineRecord.ID(rawValue: try #require(id))
        }

        @Test func `A commit is delivered as it was added, and a rollback leaves nothing`() async throws {
            let test = TestQueue()
            let queue = try await test.open()
            let connection = try TestServer.connect()
            try connection.execute("BEGIN")
            let lost = try run(statement("lost", to: test), on: connection)
            try connection.execute("ROLLBACK")
            let kept = try statement("kept", to: test)
            let id = try connection.transaction { try run(kept, on: connection) }
            #expect(try await queue.outcome(of: id) == .delivered(status: 204))
            #expect(test.sent == ["kept"])
            let sent = try #require(test.transport.requests.first)
            #expect(sent.httpMethod == "POST")
            guard case .data(let body)? = test.transport.tasks.first?.body, body == Data("thé\0".utf8) else {
                Issue.record("The body is another one.")
                return
            }
            #expect(sent.value(forHTTPHeaderField: "X-Field") == "ä \"quoted\"")
            let key = try #require(sent.value(forHTTPHeaderField: "Idempotency-Key"))
            #expect(kept.parameters.contains(key))
            #expect(try await queue.record(lost) == nil)
            #expect(try await queue.counts == OfflineCounts())
            await queue.close()
        }

        @Test func `A role that may only add can add and read nothing`() async throws {
            let test = TestQueue()
            let queue = try await test.open()
            let role = "adder_\(UInt64.random(in: 0 ... .max))"
            let owner = try TestServer.connect()
            try owner.execute("CREATE ROLE \(role) LOGIN; SELECT request_operations.grant_add('\(role)')")
            let adder = try TestServer.connect("user=\(role)")
            let id = try run(statement("a", to: test), on: adder)
            #expect(try await queue.outcome(of: id) == .delivered(status: 204))
            for sql in [
                "SELECT FROM request_operations.records", "SELECT FROM request_operations.outcomes",
                "DELETE FROM request_operations.records",
            ] {
                let error = try #require(throws: PostgreSQLError.self) { try adder.execute(sql) }
                #expect(error.state == "42501")
            }
            await queue.close()
            try owner.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
        }

        @Test(arguments: [
            ("queue", "queue => ''"), ("method", "method => 'P OST'"), ("url", "url => 'ftp://a.example'"),
            ("headers", #"headers => '{"a": 1}'"#), ("lane", "lane => NULL"), ("policy", "policy => 'merge'"),
            ("not_before", "not_before => 'infinity'"), ("timeout", "timeout => -1"),
        ])
        func `The error of a bad argument names it`(name: String, argument: String) async throws {
            try await PostgreSQLSchema.migrate(TestServer.settings())
            let good = ["queue": "'q'", "method": "'POST'", "url": "'https://a.example'"].filter { $0.key != name }
            let arguments = good.map { "\($0.key) => \($0.value)" } + [argument]
            let connection = try TestServer.connect()
            let error = try #require(throws: PostgreSQLError.self) {
                _ = try connection.run("SELECT request_operations.add(\(arguments.joined(separator: ", ")))")
            }
            #expect(error.state == "22023")
            #expect(error.message.hasPrefix("\(name): "))
        }

        @Test func `SQL cancels what is not in flight, and sends a dead letter again`() async throws {
            let test = TestQueue([.status(400), .status(204)])
            let connection = try TestServer.connect()
            func call(_ function: String, _ id: OfflineRecord.ID) throws -> Bool? {
                try connection.run(
                    "SELECT request_operations.\(function)($1::text, $2::bigint)",
                    [.text(test.name), .int64(id.rawValue)]
                ).first?.bool(0)
            }
            let paused = try await test.open(configuration: { $0.startsPaused = true })
            let first = try run(statement("a", to: test), on: connection)
            #expect(try call("retry", first) == false)
            #expect(try call("cancel", first) == true)
            #expect(try call("cancel", first) == false)
            #expect(try await paused.outcome(of: first) == .removed)
            await paused.close()
            let queue = try await test.open()
            let second = try run(statement("b", to: test), on: connection)
            guard case .dead = try await queue.outcome(of: second) else {
                Issue.record("The request is no dead letter.")
                return
            }
            #expect(try call("retry", second) == true)
            #expect(try await queue.outcome(of: second) == .delivered(status: 204))
            #expect(test.sent == ["b", "b"])
            await queue.close()
        }
    }
#endif
