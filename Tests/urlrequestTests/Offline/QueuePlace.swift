#if CommandLineTool
    import RequestOperations

    /// A queue in a directory of its own.
    final class QueuePlace: Sendable {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("queue-\(UUID())").path

        deinit {
            // There is nothing to remove where a test made nothing.
            try? FileManager.default.removeItem(atPath: directory)
        }

        /// Starts a command on the queue.
        ///
        /// - Parameters:
        ///   - command: The command and its arguments.
        ///   - use: What becomes of its standard output.
        ///   - commands: What a shell does before it becomes the program.
        func start(
            _ command: [String], reads use: RunningTool.OutputUse = .toTheEnd, after commands: String? = nil
        ) throws -> RunningTool {
            try RunningTool(["queue"] + command + arguments, reads: use, after: commands)
        }

        /// Runs a command on the queue to its end.
        func run(_ command: String..., input: String = "") async throws -> RunningTool.Ended {
            try await RunningTool.run(["queue"] + command + arguments, input: input)
        }

        private var arguments: [String] { ["--queue", "q", "--directory", directory] }
    }
#endif
