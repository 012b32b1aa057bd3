#if CommandLineTool
    import Foundation
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct QueueDatabaseTests {
        #if PostgreSQL
            /// `.ci/postgresql run` starts a server and names it so.
            private static let hasServer = ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_PGDATA"] != nil

            @Test(.enabled(if: hasServer)) func `A queue in a database is delivered by another process`() async throws {
                let server = try await LoopbackServer.start { _ in .empty(204) }
                let place = ["--queue", UUID().uuidString, "--database", ""]
                #expect(try await RunningTool.run("queue", "migrate", "--database", "").status == 0)
                #expect(
                    try await RunningTool.run(["queue", "add", server.url("/a").absoluteString] + place).status == 0)
                let listed = try await RunningTool.run(["queue", "list"] + place)
                #expect(listed.lines.count == 1)
                let delivered = try await RunningTool.run(["queue", "run", "--drain"] + place)
                #expect(delivered.status == 0 && delivered.errors.isEmpty)
                #expect(delivered.lines.first?.hasSuffix("delivered 204") == true)
                #expect(server.requests.map(\.path) == ["/a"])
            }

            @Test func `A database that cannot be reached is an error without its password`() async throws {
                let address = "postgres://user:secret@127.0.0.1:1/none"
                let stats = try await RunningTool.run("queue", "stats", "--queue", "q", "--database", address)
                #expect(stats.status == 2)
                #expect(stats.errors.contains("cannot be opened") && !stats.errors.contains("secret"))
                let migration = try await RunningTool.run("queue", "migrate", "--database", address)
                #expect(migration.status == 2)
                #expect(migration.errors.contains("cannot be migrated") && !migration.errors.contains("secret"))
            }
        #else
            @Test func `Without its trait a database is refused by the name of the trait`() async throws {
                for command in [["stats", "--queue", "q"], ["migrate"]] {
                    let ended = try await RunningTool.run(["queue"] + command + ["--database", "x"])
                    #expect(ended.status == 2)
                    #expect(ended.errors.contains("--traits CommandLineTool,PostgreSQL"))
                }
            }
        #endif

        @Test func `A directory and a database are one too many`() async throws {
            let ended = try await RunningTool.run(
                "queue", "stats", "--queue", "q", "--directory", "/tmp", "--database", "x")
            #expect(ended.status == 2 && ended.errors.contains("--database"))
        }
    }
#endif
