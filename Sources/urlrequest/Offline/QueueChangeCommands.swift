#if CommandLineTool
    import ArgumentParser
    import OfflineRequests
    import RequestOperations

    /// The command `urlrequest queue retry`.
    struct QueueRetryCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Makes dead letters pending again.",
            discussion: "Exit status: 0 if all ids were dead letters, else 1.")

        @Argument(help: "The ids.", transform: QueueValue.id)
        var ids: [OfflineRecord.ID] = []

        @OptionGroup var queue: QueueArguments

        @Flag(help: "Retries all dead letters.")
        var all = false

        func validate() throws {
            guard all != !ids.isEmpty else { throw ValidationError("Give ids, or --all.") }
        }

        func run() async throws {
            try await queue.use { queue in
                var ids = ids
                if all { try await queue.enumerate(RecordFilter([.dead])) { record, _ in ids.append(record.id) } }
                var isComplete = true
                for id in ids where try await !queue.retry(id) {
                    Console().print("urlrequest: \(id) is no dead letter\n")
                    isComplete = false
                }
                if !isComplete { throw ExitCode(ExitStatus.failure) }
            }
        }
    }

    /// The command `urlrequest queue remove`.
    struct QueueRemoveCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Removes requests, which are then not sent.",
            discussion: "Prints how many were removed. Exit status: 0 if all ids were there, else 1.")

        @Argument(help: "The ids.", transform: QueueValue.id)
        var ids: [OfflineRecord.ID] = []

        @OptionGroup var queue: QueueArguments
        @OptionGroup var records: RecordArguments

        @Flag(help: "Removes all requests.")
        var all = false

        func validate() throws {
            let isFiltered = records.lane != nil || records.tag != nil
            guard [all, isFiltered, !ids.isEmpty].count(where: { $0 }) == 1 else {
                throw ValidationError("Give ids, or --lane or --tag, or --all.")
            }
        }

        func run() async throws {
            try await queue.use { queue in
                guard !ids.isEmpty else { return try StandardOutput.print(try await queue.removeAll(records.filter())) }
                var count = 0
                for id in ids { count += try await queue.remove(id) ? 1 : 0 }
                try StandardOutput.print(count)
                if count < ids.count { throw ExitCode(ExitStatus.failure) }
            }
        }
    }
#endif
