#if PostgreSQL
    import Foundation
    import OfflineRequestsPostgreSQL
    import RequestOperationsTesting
    import Testing

    /// A server for one test, which may stop it.
    final class OwnServer: Sendable {
        private let program: ChildProcess
        private let (input, output) = (Pipe(), Pipe())
        private let control: [String]
        private let data: String
        /// Where it listens.
        let host: String

        var address: String { "host=\(host)" }

        init() async throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            let lines = Collector<String>()
            output.fileHandleForReading.readabilityHandler = { handle in
                let data = handle.availableData
                if data.isEmpty { handle.readabilityHandler = nil }
                for line in String(decoding: data, as: UTF8.self).split(separator: "\n") { lines.append(String(line)) }
            }
            program = try ChildProcess(
                root.appendingPathComponent(".ci/postgresql").path,
                [
                    "run", "sh", "-c",
                    """
                    printf '%s\\n' "$PGHOST" "$REQUEST_OPERATIONS_PG_CTL" "$REQUEST_OPERATIONS_PGDATA"
                    exec cat
                    """,
                ], in: root, input: input.fileHandleForReading, output: output.fileHandleForWriting,
                errors: .standardError)
            try output.fileHandleForWriting.close()
            try input.fileHandleForReading.close()
            await lines.count(3)
            host = lines.elements[0]
            control = lines.elements[1].split(separator: " ").map(String.init)
            data = lines.elements[2]
        }

        deinit {
            // The server ends with the input of the program beside it.
            try? input.fileHandleForWriting.close()
        }

        /// Runs `pg_ctl` on the server, and waits for its end.
        func control(_ arguments: String...) async throws {
            let program = try ChildProcess(
                control[0],
                control.dropFirst() + ["--pgdata", data, "--wait", "--silent", "--log", "\(host)/log"] + arguments,
                in: URL(fileURLWithPath: host), errors: .standardError)
            #expect(await program.status == 0)
        }
    }
#endif
