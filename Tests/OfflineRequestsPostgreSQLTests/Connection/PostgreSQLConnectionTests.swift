#if PostgreSQL
    import Foundation
    import OfflineRequestsPostgreSQL
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct PostgreSQLConnectionTests {
        @Test func `Values arrive as they were sent`() throws {
            let connection = try TestServer.connect()
            let rows = try connection.run(
                """
                SELECT $1::bool, $2::smallint, $3::int, $4::bigint, $5::float8, $6::text, $7::bytea, $8::jsonb, $9::text[],
                  $10::text, $11::bigint[]::text, $12::smallint[]::text, $13::float8[]::text, $14::bytea[]::text, $15::text[]
                """,
                [
                    .bool(true), .int16(-2), .int32(.min), .int64(.min), .double(-0.1), .text("ä\u{1F600}"),
                    .bytes(Data([0, 255])), .json(#"{"a": "b"}"#), .texts(["", "x,{}\""]), .null,
                    .array(.int64, [.int64(1), .null]), .array(.int16, [.int16(-1)]), .array(.double, [.double(1.5)]),
                    .array(.bytes, [.bytes(Data([1]))]), .array(.text, []),
                ])
            let row = try #require(rows.first)
            #expect(rows.count == 1)
            #expect(row.bool(0) == true)
            #expect(row.integer(1) == -2)
            #expect(row.integer(2) == Int64(Int32.min))
            #expect(row.integer(3) == .min)
            #expect(row.double(4) == -0.1)
            #expect(row.text(5) == "ä\u{1F600}")
            #expect(row.data(6) == Data([0, 255]))
            #expect(row.text(7) == #"{"a": "b"}"#)
            #expect(row.texts(8) == ["", "x,{}\""])
            #expect(row.text(9) == nil)
            #expect(row.text(10) == "{1,NULL}")
            #expect(row.text(11) == "{-1}")
            #expect(row.text(12) == "{1.5}")
            #expect(row.text(13) == #"{"\\x01"}"#)
            #expect(row.texts(14) == [])
            // A column of another type.
            #expect(row.integer(5) == nil)
            #expect(row.double(0) == nil)
        }

        @Test func `A large value passes`() throws {
            let connection = try TestServer.connect()
            let data = Data(repeating: 7, count: 8 << 20)
            #expect(try connection.run("SELECT $1::bytea", [.bytes(data)]).first?.data(0) == data)
        }

        @Test(arguments: [true, false], ["jsonb", "int"])
        func `A refused statement names its SQLSTATE, quotes no value and leaves the connection usable`(
            prepares: Bool, type: String
        ) throws {
            var settings = try TestServer.settings()
            settings.preparesStatements = prepares
            let connection = try PostgreSQLConnection(settings)
            let error = try #require(throws: PostgreSQLError.self) {
                _ = try connection.run("SELECT $1::text::\(type)", [.text("secret")])
            }
            #expect(error.state == "22P02")
            #expect(!"\(error)".contains("secret"))
            #expect(!"\(error)".contains("\n"))
            #expect(try connection.run("SELECT 1").first?.integer(0) == 1)
        }

        @Test(arguments: [true, false])
        func `A statement ends when its time is up`(prepares: Bool) throws {
            var settings = try TestServer.settings()
            settings.preparesStatements = prepares
            settings.statementTimeout = .milliseconds(50)
            let connection = try PostgreSQLConnection(settings)
            let error = try #require(throws: PostgreSQLError.self) { _ = try connection.run("SELECT pg_sleep(60)") }
            #expect(error.state == "57014")
        }

        @Test(arguments: [true, false])
        func `Every statement sees what others have committed, whatever the database's default is`(prepares: Bool)
            throws
        {
            var settings = try TestServer.settings("options='-c default_transaction_isolation=serializable'")
            settings.preparesStatements = prepares
            let connection = try PostgreSQLConnection(settings)
            func isolation() throws -> String? {
                try connection.run("SELECT current_setting('transaction_isolation')").first?.text(0)
            }
            #expect(try isolation() == "read committed")
            #expect(try connection.transaction { try isolation() } == "read committed")
        }

        @Test func `Statements are prepared once`() throws {
            let connection = try TestServer.connect()
            for _ in 0..<3 { _ = try connection.run("SELECT 7") }
            let count = try connection.run("SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT 7'")
            #expect(count.first?.integer(0) == 1)
        }

        @Test func `Without prepared statements a session keeps nothing`() throws {
            var settings = try TestServer.settings()
            settings.preparesStatements = false
            let connection = try PostgreSQLConnection(settings)
            #expect(try connection.run("SELECT current_setting('statement_timeout')").first?.text(0) == "30s")
            try connection.execute("CREATE TEMP TABLE seen AS SELECT current_setting('statement_timeout') AS limit")
            #expect(try connection.run("SELECT \"limit\" FROM seen").first?.text(0) == "0")
            #expect(try connection.run("SELECT count(*) FROM pg_prepared_statements").first?.integer(0) == 0)
        }

        @Test func `A transaction that fails has no effect`() throws {
            let connection = try TestServer.connect()
            try connection.execute("CREATE TEMP TABLE numbers (number int)")
            #expect(throws: PostgreSQLError.self) {
                try connection.transaction {
                    _ = try connection.run("INSERT INTO numbers VALUES (1)")
                    _ = try connection.run("SELECT 1/0")
                }
            }
            #expect(try connection.run("SELECT count(*) FROM numbers").first?.integer(0) == 0)
            try connection.transaction { _ = try connection.run("INSERT INTO numbers VALUES (1)") }
            #expect(try connection.run("SELECT count(*) FROM numbers").first?.integer(0) == 1)
        }

        @Test func `A loss within a transaction has no effect, and one of a single statement may have`() throws {
            let (lone, open, killer) = (try TestServer.connect(), try TestServer.connect(), try TestServer.connect())
            let suicide = "SELECT pg_terminate_backend(pg_backend_pid())"
            let first = try #require(throws: PostgreSQLError.self) { _ = try lone.run(suicide) }
            #expect(first.cause == .lost(mayHaveRun: true))
            #expect(lone.isLost)
            let second = try #require(throws: PostgreSQLError.self) {
                try open.transaction { _ = try open.run(suicide) }
            }
            #expect(second.cause == .lost(mayHaveRun: false))
            let idle = try TestServer.connect()
            _ = try killer.run("SELECT pg_terminate_backend($1::int, 10000)", [.int32(Int32(try idle.backend()))])
            let third = try #require(throws: PostgreSQLError.self) { _ = try idle.run("SELECT 1") }
            #expect(third.cause == .lost(mayHaveRun: false))
        }

        @Test(arguments: [
            "postgres://user:pa ss%@host", "host=/nowhere pass word=hunter2", "postgresql://u:hunter2@[x/",
            "postgres://u:p@hunter2@host/name", "postgres://u:hunter2/x@host/name", "postgres://u:1/hunter2@host/name",
        ])
        func `An address that cannot be read is refused without quoting it`(address: String) throws {
            let error = try #require(throws: PostgreSQLError.self) { _ = try PostgreSQLAddress(address) }
            #expect(error.cause == .address)
            #expect(!"\(error)".contains("hunter2") && !"\(error)".contains("pa ss"))
        }

        @Test func `A user may have an at sign, and what is connected to tells queues apart`() throws {
            let address = try PostgreSQLAddress("user=me@example.com hostaddr=127.0.0.2 password=hunter2")
            #expect(address.place.contains("user=me@example.com") && address.place.contains("hostaddr=127.0.0.2"))
            #expect(!address.place.contains("hunter2"))
        }

        @Test func `A server that is not there is named without the password`() throws {
            let address = try PostgreSQLAddress("postgres://someone:hunter2@/things?host=/nonexistent")
            #expect("\(address)" == "PostgreSQL things at /nonexistent")
            let error = try #require(throws: PostgreSQLError.self) {
                _ = try PostgreSQLConnection(PostgreSQLSettings(address))
            }
            #expect(error.cause == .unreachable)
            #expect("\(error)".contains("/nonexistent") && !"\(error)".contains("hunter2"))
            var text = ""
            dump(PostgreSQLSettings(address), to: &text)
            #expect(!text.contains("hunter2"))
        }
    }
#endif
