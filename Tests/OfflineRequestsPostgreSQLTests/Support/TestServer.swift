#if PostgreSQL
    import Foundation
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import Testing

    /// The server that the environment names.
    enum TestServer {
        /// The longest wait for what must come.
        private static let patience = Duration.seconds(60)

        /// The settings of a connection to it.
        static func settings(_ address: String = "") throws -> PostgreSQLSettings {
            _ = try #require(
                ProcessInfo.processInfo.environment["PGHOST"],
                "These tests need a server: .ci/postgresql run swift test --traits PostgreSQL")
            return PostgreSQLSettings(try PostgreSQLAddress(address))
        }

        static func connect(_ address: String = "") throws -> PostgreSQLConnection {
            try PostgreSQLConnection(settings(address))
        }

        /// Waits until a query returns true.
        static func wait(until query: String, _ values: PostgreSQLValue...) throws {
            let connection = try connect()
            let limit = ContinuousClock.now + patience
            while try connection.run(query, values).first?.bool(0) != true {
                try #require(limit > .now, "It has not become true: \(query)")
                try connection.execute("SELECT pg_sleep(0.005)")
            }
        }

        /// Waits until a query returns true, without blocking a thread of Swift's Tasks.
        static func waitAsync(until query: String, _ values: PostgreSQLValue...) async throws {
            let pool = PostgreSQLPool(try settings(), most: 1)
            let limit = ContinuousClock.now + patience
            while try await pool.run(.read, { try $0.run(query, values).first?.bool(0) }) != true {
                try #require(limit > .now, "It has not become true: \(query)")
                try await pool.run { try $0.execute("SELECT pg_sleep(0.005)") }
            }
            await pool.close()
        }

        /// The number that a query returns.
        static func number(_ query: String, _ values: PostgreSQLValue...) async throws -> Int64? {
            let pool = PostgreSQLPool(try settings(), most: 1)
            let number = try await pool.run { try $0.run(query, values).first?.integer(0) }
            await pool.close()
            return number
        }

        /// Waits until a server answers, as long as a condition holds.
        static func isReachable(_ address: String, while condition: () -> Bool) async throws -> Bool {
            var settings = try settings(address)
            settings.preparesStatements = false
            settings.statementTimeout = .milliseconds(100)
            let pool = PostgreSQLPool(settings, most: 1)
            let limit = ContinuousClock.now + patience
            while condition(), limit > .now {
                do {
                    try await pool.run { _ = try $0.run("SELECT 1") }
                    await pool.close()
                    return true
                } catch let error as OfflineQueueError where error.code == .storeFailed {
                    continue
                }
            }
            await pool.close()
            return false
        }

        /// Makes an empty database of its own.
        static func makeDatabase() throws -> String {
            let name = "test_\(UInt64.random(in: 0 ... .max))"
            try connect().execute("CREATE DATABASE \(name)")
            return name
        }
    }

    extension PostgreSQLConnection {
        /// The process of the server that serves the connection.
        func backend() throws -> Int64 { try #require(try run("SELECT pg_backend_pid()").first?.integer(0)) }
    }

    extension PostgreSQLPool {
        func number(_ sql: String, _ values: PostgreSQLValue...) async throws -> Int64? {
            try await run { try $0.run(sql, values).first?.integer(0) }
        }
    }

    /// A number for an advisory lock that no other test uses.
    func lockNumber() -> Int64 { .random(in: .min ... .max) }
#endif
