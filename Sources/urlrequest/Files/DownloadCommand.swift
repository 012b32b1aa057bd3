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
                are missing. With --resume a file that broke off in an earlier run is completed as well, and one that is \
                there as a whole is not downloaded again: the server names its length and no later change. Two runs \
                with --resume can work on one folder at once; one waits for a file that the other downloads.

                Without --output, a file gets the name that the server suggests, or else that of the URL, and a number if \
                the name is taken. With --output, an older file is replaced. --if-exists changes both. Files of one run \
                never replace each other. With --output - the content is written to standard output.

                For each file, its path and its length in bytes are printed on standard output, with a tab between them. \
                A file that was there already gets a message on standard error besides. On a terminal, standard error \
                shows a bar.

                The hidden files that a killed run has left in the folder are removed, unless --resume can complete them. \
                Those are removed after a week.

                Exit status: 0 all files are there; 1 some are not, or results could not be written; 2 an argument could not \
                be used; 130 after Ctrl-C, 143 after SIGTERM; 141 standard output was closed.
                """)

        @Argument(help: "The URLs of the files.")
        var urls: [String]

        @Option(
            name: .shortAndLong,
            help: ArgumentHelp(
                "The path of the file, if there is one URL; - writes it to standard output.", valueName: "file"))
        var output: String?

        @Option(
            help: ArgumentHelp(
                "The folder of the files. It is made if it is missing. (default: this one)", valueName: "dir"))
        var directory: String?

        @Option(
            help: """
                What becomes of a file that stands there: skip keeps it and downloads nothing, overwrite replaces it, number \
                gives the new file the next free number. (default: number, with --output overwrite)
                """)
        var ifExists: ExistingFile?

        @Flag(
            help: """
                Completes files that broke off in an earlier run, leaves the parts of those that break off, and downloads \
                no file that is there as a whole.
                """)
        var resume = false

        @Option(
            help: ArgumentHelp(
                "Does what --resume does, if there is one URL that changes: the key stands for it.", valueName: "key"))
        var resumeKey: String?

        @Option(
            help: """
                How many parts of a file are downloaded at once, over as many connections, if the server allows it. \
                (default: 1)
                """,
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
                throw ValidationError("--output and --directory both say where the file goes.")
            }
            guard urls.count == 1 || output == nil && checksum == nil && resumeKey == nil else {
                throw ValidationError("--output, --checksum and --resume-key are for one URL.")
            }
            guard resumeKey?.isEmpty != true else { throw ValidationError("--resume-key is empty.") }
            guard output != "-" || !resumes && ifExists == nil && segments == 1 else {
                throw ValidationError("--resume, --resume-key, --if-exists and --segments need a file, not --output -.")
            }
        }

        func run() async throws {
            let configuration: RequestConfiguration
            let requests: [URLRequest]
            let reports: Reports
            do {
                reports = try files.reports.reports()
                configuration = try files.configuration(connections: segments, reports)
                requests = try urls.map(files.request)
            } catch let error as UnusableInput {
                TerminalScreen().print("urlrequest: \(error.reason)\n")
                throw ExitCode(ExitStatus.unusable)
            }
            // The content on a terminal and a bar would spoil each other.
            let showsProgress = !files.noProgress && !(output == "-" && isatty(STDOUT_FILENO) == 1)
            let run = FileRun(over: configuration.transport, showsProgress: showsProgress, reports)
            throw ExitCode(
                await run.run { run in
                    if output == "-" { return await print(requests[0], configuration, run) }
                    DownloadOperation.removeAbandonedPartials(in: folder)
                    let places = DownloadPlaces(
                        file: output, in: folder, ifExists: way, resumes: resumes, checksum: checksum)
                    for request in requests { await download(request, to: places, configuration, run) }
                })
        }

        private var resumes: Bool { resume || resumeKey != nil }

        private var way: ExistingFile { ifExists ?? (output == nil ? .number : .overwrite) }

        private var folder: URL {
            output.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
                ?? URL(fileURLWithPath: directory ?? ".")
        }

        private func name(of request: URLRequest) -> String {
            request.url.map { Redaction.default.text(of: $0) } ?? ""
        }

        private func print(_ request: URLRequest, _ configuration: RequestConfiguration, _ run: FileRun) async {
            let name = name(of: request)
            await run.transfer(named: name) {
                let operation = OutputDownload(request, checksum: checksum, configuration: configuration)
                _ = try await run.value(of: operation, named: name)
                return nil
            }
        }

        // MARK: A file

        private func download(
            _ request: URLRequest, to places: DownloadPlaces, _ configuration: RequestConfiguration, _ run: FileRun
        ) async {
            let name = name(of: request)
            let began = ContinuousClock.now
            await run.transfer(named: name) {
                let (path, size): (String, Int64)
                do {
                    try await check(request, places, configuration, run)
                    let file = try await file(of: request, places, configuration, run, since: began)
                    (path, size) = (file.url.path, file.size)
                } catch let error where error.fileThere != nil {
                    guard let there = error.fileThere else { throw error }
                    (path, size) = (there.path, there.size)
                    run.say("\(name): it is there already: \(path)")
                }
                places.give(path)
                return "\(path)\t\(size)"
            }
        }

        /// Throws ``DownloadPlaces/FileIsThere`` if the file is there, as far as that can be told without its content.
        private func check(
            _ request: URLRequest, _ places: DownloadPlaces, _ configuration: RequestConfiguration, _ run: FileRun
        ) async throws {
            try places.check()
            guard places.needsHead else { return }
            var request = request
            request.httpMethod = HTTPMethod.head.rawValue
            // The length is that of the file, not of a compressed form.
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
            var configuration = configuration
            configuration.retryPolicy.maximumRetries = 0
            let operation = URLRequestOperation(request, decoder: .head, configuration: configuration)
            // A server need not answer HEAD. The response with the content tells the same.
            guard let head = try? await run.value(of: operation, named: name(of: request)) else { return }
            try places.check(head, in: folder)
        }

        /// Downloads a file. Waits while another run does so.
        private func file(
            of request: URLRequest, _ places: DownloadPlaces, _ configuration: RequestConfiguration, _ run: FileRun,
            since began: ContinuousClock.Instant
        ) async throws -> DownloadedFile {
            var waits = false
            var collisions = 0
            while true {
                var configuration = configuration
                if let deadline = files.deadline {
                    // All requests for the file share its time.
                    configuration.deadline = max(deadline - began.duration(to: .now), .milliseconds(1))
                }
                do {
                    return try await run.value(of: operation(request, places, configuration), named: name(of: request))
                } catch let error as RequestError where error.isOfTakenName && collisions < Self.mostCollisions {
                    // Another run has made a file meanwhile. It may be this one.
                    collisions += 1
                    try places.check()
                } catch let error as RequestError where error.isOfLockedFile {
                    if let deadline = files.deadline, began.duration(to: .now) >= deadline { throw error }
                    if !waits {
                        run.say("\(name(of: request)): another run is downloading it, which this one waits for")
                    }
                    waits = true
                    try await Task.sleep(for: .milliseconds(500))
                }
            }
        }

        /// How often a file is tried again whose name another run takes.
        private static let mostCollisions = 5

        private func operation(
            _ request: URLRequest, _ places: DownloadPlaces, _ configuration: RequestConfiguration
        ) -> DownloadOperation {
            let policy: ExistingFilePolicy =
                switch way {
                case .skip: .fail
                case .overwrite: .replace
                // A name that another run takes meanwhile may be that of this file.
                case .number: resumes && output == nil ? .fail : .uniqueName
                }
            let resumption: DownloadResumption =
                resumeKey.map { .acrossProcesses(key: $0) } ?? (resume ? .acrossProcesses : .betweenAttempts)
            let operation = DownloadOperation(
                request, to: output.map { .file(URL(fileURLWithPath: $0)) } ?? .folder(folder), ifExists: policy,
                resume: resumption, segments: segments, checksum: checksum, configuration: configuration)
            operation.choosePlace { try places.place(for: $0, $1, total: $2) }
            return operation
        }
    }

    extension Error {
        /// The file that is there already, if that is why a download ended.
        fileprivate var fileThere: DownloadPlaces.FileIsThere? {
            self as? DownloadPlaces.FileIsThere ?? (self as? RequestError)?.underlying as? DownloadPlaces.FileIsThere
        }
    }

    extension RequestError {
        /// Whether there is a file already under the name that a download chose.
        fileprivate var isOfTakenName: Bool { code == .fileFailed && (underlying as? POSIXError)?.code == .EEXIST }

        /// Whether another download is writing the partial file.
        fileprivate var isOfLockedFile: Bool {
            code == .fileFailed && (underlying as? POSIXError)?.code == .EWOULDBLOCK
        }
    }
#endif
