#if CommandLineTool
    import ArgumentParser
    import RequestOperations

    /// The command `urlrequest download`.
    struct DownloadCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "download",
            abstract: "Downloads files one after the other, and goes on where one broke off.",
            discussion: """
                A file grows under a hidden name, and gets its own name when it is complete. A retry asks for the bytes that \
                are missing. With --resume a file that broke off in an earlier run is completed as well.

                Without --output, a file gets the name that the server suggests, or else that of the URL, and a number if \
                the name is taken. With --output, an older file is replaced.

                For each file, its path and its length in bytes are printed on standard output, with a tab between them. \
                On a terminal, standard error shows a bar.

                Exit status: 0 all files are there; 1 some are not, or results could not be written; 2 an argument could not \
                be used; 130 after Ctrl-C, 143 after SIGTERM; 141 standard output was closed.
                """)

        @Argument(help: "The URLs of the files.")
        var urls: [String]

        @Option(
            name: .shortAndLong, help: ArgumentHelp("The path of the file, if there is one URL.", valueName: "file"))
        var output: String?

        @Option(
            help: ArgumentHelp(
                "The folder of the files. It is made if it is missing. (default: this one)", valueName: "dir"))
        var directory: String?

        @Flag(help: "Completes files that broke off in an earlier run, and leaves the parts of those that break off.")
        var resume = false

        @Option(
            help: "How many parts of a file are downloaded at once, if the server allows it. (default: 1)",
            transform: { try OptionValue.count($0, in: 1...64) })
        var segments = 1

        @Option(
            help: ArgumentHelp(
                "The SHA-256 or SHA-512 that the file must have, if there is one URL.", valueName: "sha256:hex"),
            transform: OptionValue.checksum)
        var checksum: FileDigest?

        @OptionGroup var files: FileArguments

        func validate() throws {
            guard output == nil || directory == nil else {
                throw ValidationError("--output and --directory say both where the file goes.")
            }
            guard urls.count == 1 || output == nil && checksum == nil else {
                throw ValidationError("--output and --checksum are for one URL.")
            }
        }

        func run() async throws {
            let configuration: RequestConfiguration
            let requests: [URLRequest]
            do {
                configuration = try files.configuration()
                requests = try urls.map(files.request)
            } catch let error as UnusableInput {
                Console().print("urlrequest: \(error.reason)\n")
                throw ExitCode(ExitStatus.unusable)
            }
            let run = FileRun(over: configuration.transport, showsProgress: !files.noProgress)
            throw ExitCode(
                await run.run { run in
                    for request in requests {
                        let operation = DownloadOperation(
                            request, to: destination, ifExists: output == nil ? .uniqueName : .replace,
                            resume: resume ? .acrossProcesses : .betweenAttempts, segments: segments,
                            checksum: checksum,
                            configuration: configuration)
                        let name = request.url.map { Redaction.default.text(of: $0) } ?? ""
                        await run.transfer(operation, named: name) { "\($0.url.path)\t\($0.size)" }
                    }
                })
        }

        private var destination: DownloadDestination {
            output.map { .file(URL(fileURLWithPath: $0)) } ?? .folder(URL(fileURLWithPath: directory ?? "."))
        }
    }
#endif
