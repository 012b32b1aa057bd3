#if CommandLineTool
    import ArgumentParser
    import RequestOperations
    import RequestOperationsTesting

    /// The command `urlrequest`.
    struct Tool: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "urlrequest",
            abstract: "Makes many HTTP requests, each of them persistent.",
            // What --version prints: the newest section of CHANGELOG.md.
            version: "0.1.0",
            subcommands: [
                RunCommand.self, DownloadCommand.self, UploadCommand.self, QueueCommand.self, PinsCommand.self,
                DemoCommand.self,
            ])

        /// Runs the command that the arguments name. Returns the exit status.
        ///
        /// - Parameter isOutputOpen: Whether standard output was open when the process began.
        static func runCommand(isOutputOpen: Bool) async -> Int32 {
            // A write to a pipe without a reader must fail. It must not end the process in the middle of its work.
            signal(SIGPIPE, SIG_IGN)
            Descriptors.raiseLimit()
            do {
                var command = try parseAsRoot()
                // A queue delivers without a reader. All others are of no use without one.
                guard isOutputOpen || command is QueueRunCommand else { return ExitStatus.outputClosed }
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
                return ExitStatus.success
            } catch let failure as PatientWriter.Failure {
                return StandardOutput.tell(of: failure)
            } catch {
                return report(error)
            }
        }

        /// Prints the text of an error and returns its exit status. Help and version go to standard output.
        private static func report(_ error: any Error) -> Int32 {
            let code = exitCode(for: error)
            let message = fullMessage(for: error)
            if !message.isEmpty { TerminalScreen(code.isSuccess ? STDOUT_FILENO : STDERR_FILENO).print(message + "\n") }
            return code == .validationFailure ? ExitStatus.unusable : code.rawValue
        }
    }

    extension UnusableInput: CustomStringConvertible {
        var description: String { reason }
    }

    /// The command `urlrequest demo`.
    struct DemoCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "demo",
            abstract: "Makes a thousand requests to a server of its own that is not quite well.",
            discussion: """
                The server listens on the loopback interface only. It takes its time, and now and then it answers a \
                first attempt with 503, or not at all; every request succeeds in the end.
                """)

        @Option(help: "How many requests are made.", transform: { try OptionValue.count($0, in: 1...1_000_000) })
        var requests = 1000

        @Flag(help: "Prints a line for each result on standard output.")
        var results = false

        func run() async throws {
            let host = MoodyServer()
            let server = try await LoopbackServer.start(logLimit: 0) { host.answer($0) }
            var settings = RunSettings()
            settings.usesProxy = false
            settings.urls = (1...requests).map { server.url("/item/\($0)").absoluteString }
            settings.format = results ? .text : nil
            TerminalScreen().print("urlrequest: \(requests) requests to a server at \(server.url), 64 in flight\n")
            let status = await RequestRun(settings).run()
            server.stop()
            throw ExitCode(status)
        }
    }

    /// A server that answers late. Sometimes it answers a first attempt badly.
    private final class MoodyServer: Sendable {
        /// The targets whose first attempt has been answered badly.
        private let disappointed = Locked<Set<String>>([])

        func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            let answer = LoopbackServer.Response.json(#"{"path": "\#(request.path)"}"#)
            let dice = Int.random(in: 0..<100)
            if dice < 8, disappointed.withLock({ $0.insert(request.target).inserted }) {
                return dice < 5 ? .status(503) : .closeWithoutAnswer
            }
            return .delayed(.milliseconds(Int.random(in: 20...300)), then: answer)
        }
    }
#endif
