#if CommandLineTool
    import ArgumentParser
    import OfflineRequests
    import RequestOperations

    #if PostgreSQL
        import OfflineRequestsPostgreSQL
    #endif

    /// The command `urlrequest queue`.
    struct QueueCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "queue",
            abstract: "Keeps requests on disk until they are delivered.",
            discussion: """
                A queue outlives its processes. Any number of them may add to it. One at a time sends, or all of them if the \
                queue is in PostgreSQL (--database). Each request is delivered at least once, with an Idempotency-Key that \
                stays the same. So a server that honours the key acts on it once.
                """,
            subcommands: [
                QueueAddCommand.self, QueueListCommand.self, QueueShowCommand.self, QueueRunCommand.self,
                QueueRetryCommand.self, QueueRemoveCommand.self, QueuePauseCommand.self, QueueResumeCommand.self,
                QueueStatsCommand.self, QueueWatchCommand.self, QueueServeCommand.self,
                QueueMigrateCommand.self,
            ])
    }

    /// The arguments that say which queue is meant.
    struct QueueArguments: ParsableArguments {
        @Option(name: .customLong("queue"), help: "The name of the queue.")
        var name: String

        @Option(
            help: """
                The directory of the files of queues. (default: OfflineRequests in $XDG_DATA_HOME or ~/.local/share, or \
                in Application Support)
                """)
        var directory: String?

        @Option(
            help: """
                The PostgreSQL database of the queue, in place of a directory: a URL or a connection string of libpq. Keep the \
                password in libpq's environment or files, since other users of the machine can see arguments. (needs the \
                trait PostgreSQL)
                """)
        var database: String?

        func validate() throws {
            guard directory == nil || database == nil else { throw ValidationError("Give --directory or --database.") }
        }

        /// The exit statuses of the commands that only look.
        static let lookStatuses = """
            Exit status: 0 done; 1 the id was not there, or standard output failed; 2 an argument could not be used, or the \
            queue could not be opened; 141 standard output was closed.
            """

        /// Opens the queue. It is paused, so that a command that only looks sends nothing.
        func open(_ edit: (inout OfflineConfiguration) -> Void = { _ in }) async throws -> OfflineRequestQueue {
            var configuration = OfflineConfiguration()
            configuration.startsPaused = true
            edit(&configuration)
            do {
                if let database {
                    return try await OfflineRequestQueue.open(
                        name: name, store: try Self.storage(database), configuration: configuration)
                }
                return try await OfflineRequestQueue.open(
                    name: name, directory: directory.map { URL(fileURLWithPath: $0, isDirectory: true) },
                    configuration: configuration)
            } catch {
                TerminalScreen().print("urlrequest: the queue \(name) cannot be opened: \(errorText(error))\n")
                throw ExitCode(ExitStatus.unusable)
            }
        }

        /// The database that an option names.
        private static func storage(_ database: String) throws -> OfflineStorage {
            #if PostgreSQL
                return .postgreSQL(database)
            #else
                throw missingTrait
            #endif
        }

        #if !PostgreSQL
            static let missingTrait = UnusableInput(
                "this urlrequest was built without the trait PostgreSQL: use --traits CommandLineTool,PostgreSQL")
        #endif

        /// Opens the queue, does something with it, and closes it. Errors of the queue and what it recovers are printed.
        func use(_ body: (OfflineRequestQueue) async throws -> Void) async throws {
            let queue = try await open()
            let printing = Self.printTroubles(of: queue.events)
            let result: Result<Void, any Error>
            do { result = .success(try await body(queue)) } catch { result = .failure(error) }
            await queue.close()
            await printing.value
            do { try result.get() } catch let error as OfflineQueueError {
                TerminalScreen().print("urlrequest: \(error)\n")
                throw ExitCode(ExitStatus.failure)
            }
        }

        private static func printTroubles(of events: AsyncStream<OfflineEvent>) -> Task<Void, Never> {
            Task {
                for await event in events {
                    if let trouble = event.trouble { TerminalScreen().print("urlrequest: \(trouble)\n") }
                }
            }
        }
    }

    extension OfflineEvent {
        /// What is wrong with the store, or with the right to send; `nil` for other events. The queue says what it did about a
        /// damage only once, to the command that finds it.
        var trouble: String? {
            switch self {
            case .recovered(let recovery): recovery.summary
            case .storeFailed(let error): "\(error)"
            case .leaseLost: "another process has taken over what was in flight here"
            default: nil
            }
        }
    }

    /// The arguments that say which records are meant.
    struct RecordArguments: ParsableArguments {
        @Option(help: "Only records of this lane. An empty name means those without a lane.")
        var lane: String?

        @Option(help: "Only records with this tag.")
        var tag: String?

        /// The filter.
        func filter(_ kinds: Set<RecordFilter.Kind> = Set(RecordFilter.Kind.allCases)) -> RecordFilter {
            RecordFilter(kinds, lane: lane, tag: tag)
        }
    }

    /// The arguments of a command that changes a lane.
    struct LaneArguments: ParsableArguments {
        @Option(help: "The lane. An empty name means the requests without a lane.")
        var lane: String

        @OptionGroup var queue: QueueArguments

        /// Changes the lane. The command fails if there was nothing to change.
        func change(_ body: (OfflineRequestQueue, String) async throws -> Bool) async throws {
            try await queue.use { queue in
                guard try await body(queue, lane) else { throw ExitCode(ExitStatus.failure) }
            }
        }
    }

    /// The command `urlrequest queue pause`.
    struct QueuePauseCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause", abstract: "Pauses a lane until resume, for all processes.",
            discussion: "Exit status: 0 if the lane was not paused, else 1.")

        @OptionGroup var lane: LaneArguments

        func run() async throws { try await lane.change { try await $0.pause(lane: $1) } }
    }

    /// The command `urlrequest queue resume`.
    struct QueueResumeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Lets a paused lane go on, in its order.",
            discussion: "Exit status: 0 if the lane was paused, else 1.")

        @OptionGroup var lane: LaneArguments

        func run() async throws { try await lane.change { try await $0.resume(lane: $1) } }
    }

    /// Reads the values of options. Each function throws ``UnusableInput`` for a value that it cannot use.
    enum QueueValue {
        /// The name of a state, such as `waiting`.
        static func state(_ text: String) throws -> RecordFilter.Kind {
            guard let kind = RecordFilter.Kind.allCases.first(where: { "\($0)" == text }) else {
                throw UnusableInput("a state is pending, waiting, inFlight or dead")
            }
            return kind
        }

        /// An id as it is printed.
        static func id(_ text: String) throws -> OfflineRecord.ID {
            guard let number = Int64(text) else { throw UnusableInput("an id is a number, as add prints it") }
            return OfflineRecord.ID(rawValue: number)
        }
    }

    /// Ends the process without running the destructors of libraries, which other threads still use.
    func leave(_ status: Int32) -> Never { _exit(status) }

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
                    TerminalScreen().print("urlrequest: \(id) is no dead letter\n")
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
