#if CommandLineTool
    import ArgumentParser
    import OfflineRequests
    import RequestOperations

    #if PostgreSQL
        import OfflineRequestsPostgreSQL
    #endif

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

        @Option(help: "The PostgreSQL database: a URL or a connection string of libpq. (needs the trait PostgreSQL)")
        var database: String

        func run() async throws {
            do {
                #if PostgreSQL
                    try await PostgreSQLSchema.migrate(PostgreSQLSettings(try PostgreSQLAddress(database)))
                #else
                    throw QueueArguments.missingTrait
                #endif
            } catch {
                TerminalScreen().print("urlrequest: the database cannot be migrated: \(errorText(error))\n")
                throw ExitCode(ExitStatus.unusable)
            }
        }
    }
#endif
