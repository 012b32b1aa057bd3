#if CommandLineTool
    import ArgumentParser
    import RequestOperations

    /// The command `urlrequest upload`.
    struct UploadCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "upload",
            abstract: "Uploads a file.",
            discussion: """
                The file is sent by PUT, with its length. With --multipart it is the part of a form, which is sent by POST. \
                With --tus it is uploaded by the protocol tus 1.0: the URL is where the server creates uploads, and a retry \
                goes on from the last byte that the server has. So does a later run with the same file: what it needs is in \
                a hidden file beside it, until the upload is complete.

                The status of the last response and the URL of the file are printed on standard output, with a tab between \
                them: with --tus the URL that the server gave to the upload. Credentials in the URL are replaced by the word \
                redacted. On a terminal, standard error shows a bar.

                Exit status: 0 the file is uploaded; 1 it is not, or the result could not be written; 2 an argument could not \
                be used; 130 after Ctrl-C, 143 after SIGTERM; 141 standard output was closed.
                """)

        @Argument(help: "The path of the file.")
        var file: String

        @Argument(help: "The URL.")
        var url: String

        @Option(help: ArgumentHelp("Sends the file in a form, as the part of this name.", valueName: "name"))
        var multipart: String?

        @Flag(help: "Uploads by tus 1.0.")
        var tus = false

        @OptionGroup var files: FileArguments

        func validate() throws {
            guard multipart == nil || !tus else { throw ValidationError("--multipart and --tus are two ways.") }
        }

        func run() async throws {
            let configuration: RequestConfiguration
            let request: URLRequest
            let reports: Reports
            do {
                // It checks that the file can be read.
                _ = try OptionValue.body("@\(file)")
                reports = try files.reports.reports()
                configuration = try files.configuration(connections: 1, reports)
                request = try files.request(to: url)
            } catch let error as UnusableInput {
                TerminalScreen().print("urlrequest: \(error.reason)\n")
                throw ExitCode(ExitStatus.unusable)
            }
            let operation = operation(request, configuration)
            let run = FileRun(over: configuration.transport, showsProgress: !files.noProgress, reports)
            throw ExitCode(
                await run.run { run in
                    await run.transfer(named: file) {
                        let head = try await run.value(of: operation, named: file)
                        return "\(head.status)\t\(Redaction.default.text(of: operation.uploadURL ?? head.url))"
                    }
                })
        }

        private func operation(
            _ request: URLRequest, _ configuration: RequestConfiguration
        ) -> UploadOperation<ResponseHead> {
            let place = URL(fileURLWithPath: file)
            guard let multipart else {
                return UploadOperation(
                    .file(place), to: request, by: tus ? .tus(resume: resumption(of: place)) : .plain, decoder: .head,
                    configuration: configuration)
            }
            var form = MultipartFormData()
            form.append(file: place, name: multipart)
            return UploadOperation(form, to: request, decoder: .head, configuration: configuration)
        }

        /// A later run can go on if the side file can be kept beside the file.
        private func resumption(of file: URL) -> UploadResumption {
            if access(file.deletingLastPathComponent().path, W_OK) == 0 { return .acrossProcesses }
            TerminalScreen().print(
                "urlrequest: \(file.path): a later run cannot go on, because its folder is read-only\n")
            return .betweenAttempts
        }
    }

    /// The arguments that the commands for files share.
    struct FileArguments: ParsableArguments {
        @Option(
            help: "How many retries may follow the first attempt of a file. (default: 3)",
            transform: { try OptionValue.count($0, in: 0...1_000_000) })
        var retries = 3

        @Option(
            help: """
                The longest time of one attempt, connecting included, in seconds. The next one goes on where it ended, if the \
                server allows that. (default: no limit)
                """,
            transform: OptionValue.seconds)
        var timeout: Duration?

        @Option(
            help: "The longest time of one file, all attempts included, in seconds. (default: no limit)",
            transform: OptionValue.seconds)
        var deadline: Duration?

        @Option(
            name: .customLong("header"), parsing: .unconditionalSingleValue,
            help: ArgumentHelp("A header field of every request; can be given several times.", valueName: "K: V"),
            transform: { try HeaderField(line: $0) })
        var headers: [HeaderField] = []

        @Flag(help: "Shows no progress on standard error, only messages.")
        var noProgress = false

        @OptionGroup var reports: ReportArguments

        @OptionGroup(title: "Options for servers")
        var connections: ConnectionArguments

        /// The configuration of every request.
        ///
        /// - Parameters:
        ///   - count: How many connections a file may use.
        ///   - reports: The reports that tell of the requests.
        /// - Throws: ``UnusableInput``.
        func configuration(connections count: Int, _ reports: Reports) throws -> RequestConfiguration {
            let transport = TransportChoice.platform
            var options = try connections.options(over: transport)
            options.sharesConnections = count == 1
            if connections.insecure {
                TerminalScreen().print("urlrequest: --insecure: no certificate is checked, anybody can be the server\n")
            }
            var configuration = RequestConfiguration()
            configuration.transport = transport.transport(
                forConnections: count, usingProxy: true, keepingCookies: false, options)
            configuration.retryPolicy.maximumRetries = retries
            // A large file takes its time. The number of retries limits it.
            configuration.retryPolicy.elapsedLimit = nil
            configuration.attemptTimeLimit = timeout
            if let timeout { configuration.connectTimeLimit = timeout }
            configuration.deadline = deadline
            reports.record(&configuration)
            return configuration
        }

        /// The request of a URL, with the fields.
        ///
        /// - Throws: ``UnusableInput``.
        func request(to text: String) throws -> URLRequest {
            var request = URLRequest(url: try URL(requestable: text))
            for field in headers { request.add(field) }
            return request
        }
    }
#endif
