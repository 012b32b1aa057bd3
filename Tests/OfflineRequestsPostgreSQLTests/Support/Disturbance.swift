#if PostgreSQL
    import Foundation
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// A program between the queue and the server that cuts or delays calls.
    final class Disturbance: Sendable {
        private let folder: URL
        private let program: ChildProcess
        private let input = Pipe()
        // Its end closes with it.
        private let output = Pipe()
        /// How many connections were cut.
        let cuts = Collector<String>()

        /// The address of the server through the program.
        var address: String { "host=\(folder.path)" }

        /// - Parameter arguments: What the program does (`Python/proxy`).
        init(_ arguments: String...) async throws {
            // A path of a Unix socket is short.
            folder = URL(fileURLWithPath: "/tmp/proxy-\(UInt64.random(in: 0 ... .max))")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("Python/proxy").path
            program = try ChildProcess(
                "python3", [path, folder.path] + arguments, input: input.fileHandleForReading,
                output: output.fileHandleForWriting, errors: .standardError)
            try output.fileHandleForWriting.close()
            try input.fileHandleForReading.close()
            let lines = Collector<String>()
            let cuts = cuts
            output.fileHandleForReading.readabilityHandler = { handle in
                let data = handle.availableData
                if data.isEmpty { handle.readabilityHandler = nil }
                for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
                    line == "cut" ? cuts.append("cut") : lines.append(String(line))
                }
            }
            await lines.count(1)
            try #require(lines.elements == ["ready"])
        }

        deinit {
            // The program ends with its input. What is left in the folder for temporary files is the system's to remove.
            try? input.fileHandleForWriting.close()
            try? FileManager.default.removeItem(at: folder)
        }
    }
#endif
