#if CommandLineTool
    import ArgumentParser
    import OfflineRequests
    import RequestOperations

    /// The command `urlrequest queue migrate`.
    struct QueueMigrateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate",
            abstract: "Brings the schema of queues in a PostgreSQL database to the version of this program.",
            discussion: """
                Makes the schema request_operations if there is none. Programs of the version before keep working meanwhile. \
                A schema that is up to date is not changed.

                Exit status: 0 the schema has this version; 2 an argument could not be used, or the database refused.
                """)

        @Option(help: "The PostgreSQL database: a URL or a connection string of libpq.")
        var database: String

        func run() async throws {
            do {
                var configuration = OfflineConfiguration()
                configuration.startsPaused = true
                let queue = try await OfflineRequestQueue.open(
                    store: try QueueArguments.storage(database, migrates: true), configuration: configuration)
                await queue.close()
            } catch {
                TerminalScreen().print("urlrequest: the database cannot be migrated: \(errorText(error))\n")
                throw ExitCode(ExitStatus.unusable)
            }
        }
    }
#endif
