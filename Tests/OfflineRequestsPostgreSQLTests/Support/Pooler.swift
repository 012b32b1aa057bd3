#if PostgreSQL
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// PgBouncer in transaction mode before the server, with two connections to it.
    final class Pooler: Sendable {
        private let folder: URL
        private let program: ChildProcess

        var address: String { "host=\(folder.path)" }

        init() async throws {
            folder = URL(fileURLWithPath: "/tmp/pooler-\(UInt64.random(in: 0 ... .max))")
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
            let environment = ProcessInfo.processInfo.environment
            let user = try #require(environment["PGUSER"])
            let configuration = """
                [databases]
                * = host=\(try #require(environment["PGHOST"])) pool_size=2
                [pgbouncer]
                listen_addr =
                listen_port = \(environment["PGPORT"] ?? "5432")
                unix_socket_dir = \(folder.path)
                auth_type = trust
                auth_file = \(folder.path)/users
                pool_mode = transaction
                max_client_conn = 100
                """
            try configuration.write(to: folder.appendingPathComponent("ini"), atomically: true, encoding: .utf8)
            try "\"\(user)\" \"\"\n".write(
                to: folder.appendingPathComponent("users"), atomically: true, encoding: .utf8)
            // It refuses to run as root.
            let isRoot = geteuid() == 0
            let arguments = ["--quiet", folder.appendingPathComponent("ini").path]
            program = try ChildProcess(
                isRoot ? "runuser" : "pgbouncer",
                isRoot ? ["-u", user, "--", "/usr/sbin/pgbouncer"] + arguments : arguments,
                in: folder, errors: .standardError)
            // It listens when it can be asked.
            let isListening = try await TestServer.isReachable(address, while: { [program] in !program.hasEnded })
            try #require(isListening, "These tests need PgBouncer: .ci/install postgresql")
        }

        deinit {
            program.send(SIGTERM)
            try? FileManager.default.removeItem(at: folder)
        }
    }
#endif
