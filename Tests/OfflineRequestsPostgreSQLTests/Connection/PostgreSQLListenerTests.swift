#if PostgreSQL
    import OfflineRequestsPostgreSQL
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct PostgreSQLListenerTests {
        @Test func `Notifications of its text arrive, also after the connection was lost`() async throws {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            let channel = "channel_\(UInt32.random(in: 0 ... .max))"
            let listener = PostgreSQLListener(try TestServer.settings(), channel: channel, text: "mine") {
                continuation.yield()
            } onFailure: { error in
                Issue.record(error)
            }
            defer { listener?.close() }
            #expect(listener != nil)
            var arrivals = stream.makeAsyncIterator()
            // It has connected.
            await arrivals.next()
            let other = try TestServer.connect()
            func notify(_ text: String) throws {
                _ = try other.run("SELECT pg_notify($1, $2)", [.text(channel), .text(text)])
            }
            try notify("other")
            try notify("mine")
            await arrivals.next()
            let killed = try other.run(
                """
                SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE query = $1 AND pid <> pg_backend_pid()
                """, [.text("LISTEN \(channel)")])
            #expect(killed.count == 1)
            // It has connected again.
            await arrivals.next()
            try notify("mine")
            await arrivals.next()
        }

        @Test func `A server that is not there is reported`() async throws {
            let failures = Collector<any Error>()
            let settings = PostgreSQLSettings(try PostgreSQLAddress("host=/nonexistent"))
            let listener = PostgreSQLListener(settings, channel: "channel", text: "mine") {
            } onFailure: { error in
                failures.append(error)
            }
            defer { listener?.close() }
            await failures.count(1)
            #expect((failures.elements.first as? PostgreSQLError)?.cause == .unreachable)
        }
    }
#endif
