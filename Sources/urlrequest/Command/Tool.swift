#if CommandLineTool
    import ArgumentParser
    import RequestOperations

    /// The command `urlrequest`.
    struct Tool: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "urlrequest",
            abstract: "Makes many HTTP requests, each of them persistent.",
            // What --version prints: the section of CHANGELOG.md that this tool belongs to. At a release, the section
            // gets its number. Put the same number here.
            version: "Unreleased",
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
            if !message.isEmpty { Console(code.isSuccess ? STDOUT_FILENO : STDERR_FILENO).print(message + "\n") }
            return code == .validationFailure ? ExitStatus.unusable : code.rawValue
        }
    }

    extension UnusableInput: CustomStringConvertible {
        var description: String { reason }
    }
#endif
