#if CommandLineTool
    import ArgumentParser
    import RequestOperations

    /// The command `urlrequest run`.
    struct RunCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Makes a request of each URL or input line and prints a line for each result.",
            discussion: """
                A line of the input is a URL, or a JSON object with the keys "url" and, as needed, "method", "headers" \
                (an object whose values are strings or arrays of strings) and "body" (a string, or an object or array \
                that is sent as JSON); null stands for an absent value. Empty lines, and those that begin with #, make no \
                request; they count in the numbers of lines. What an object says counts in place of the options --method, \
                --header of the same name, and --data. What a URL cannot hold is escaped as browsers do it.

                A request is submitted when there is a place for it; its time and its deadline run from then. Redirects \
                are followed. Proxies are those of the environment (http_proxy, https_proxy, all_proxy, no_proxy).

                Results are printed as they come: status ("-" if no response came), URL, bytes of the body, attempts, \
                seconds from the submission to the end, and "ok", "skipped", or "failed:" and the code of the error; or \
                the same and more as JSON. A status other than 2xx is a failure. Of a refused body the bytes that were \
                read are counted. Requests that were submitted when the run is ended by a signal are printed as well, \
                as cancelled.

                A failed attempt is followed by another, after a backoff or when the server's Retry-After says, if its \
                method is idempotent (or it has an Idempotency-Key) or it surely did not reach the server, and its \
                failure is a passing one: a time-out, a lost connection, status 408, 425, 429, 500, 502, 503 or 504. A \
                Retry-After of more than 300 seconds, or beyond the deadline, fails the request at once. A backoff ends \
                early when the host answers another request, or when the network is back.

                What a host asks for with 503 or 429 holds for all requests to it. After a 429 the host is sent as many \
                attempts a second as it accepted in the last one, and 10 % more each second until the next 429. If it \
                accepted none, it is sent one a second, and twice as many each second. A pause that a 429 asks for uses up \
                no retry, a hundred times for each request.

                The roots that servers are trusted by are those of the system, or those that CURL_CA_BUNDLE, SSL_CERT_FILE \
                or SSL_CERT_DIR name.

                With --cookies, the cookies of responses are kept in memory for the time of the run, and sent with later \
                requests, redirects and retries to the hosts that they are for.

                A saved body is named after its URL; of several with one name, the later ones of the input get a number. \
                As many as four files are written at a time.

                A report in JSON is one object: began, seconds, requests, succeeded, failed, cancelled, skipped, unusable, \
                attempts, retries, bytes, requestsPerSecond, statuses and errors (numbers of requests), latency (p50, p90, p95, \
                p99 and max, in seconds), exitStatus, configuration and timeline. The documentation of RequestOperations tells \
                more of each, and lists the codes of errors.

                Exit status: 0 all requests succeeded; 1 some failed, or results could not be written; 2 an argument or \
                a line could not be used, whatever became of the requests; \
                130 after Ctrl-C, 143 after SIGTERM: both cancel what is under way and print the summary, and a second \
                one ends at once; 141 standard output was closed.
                """)

        @Argument(help: "URLs to request, before those of the input.")
        var urls: [String] = []

        @Option(help: "Reads URLs and JSON objects, one a line, from a file or, for -, from standard input.")
        var input: String?

        @Option(
            help: "The largest number of attempts in flight. (default: 64)",
            transform: { try OptionValue.count($0, in: 1...100_000) }
        )
        var concurrency = 64

        @Option(
            help: "The largest number of attempts in flight to one scheme, host and port. (default: no limit)",
            transform: { try OptionValue.count($0, in: 1...100_000) })
        var perHost: Int?

        @Option(
            help: ArgumentHelp(
                "The largest number of attempts a second to one scheme, host and port. (default: no limit)",
                valueName: "n"),
            transform: OptionValue.rate)
        var rate: Double?

        @Option(
            help: "How many retries may follow the first attempt of a request. (default: 3)",
            transform: { try OptionValue.count($0, in: 0...1_000_000) })
        var retries = 3

        @Flag(help: "Ends no wait for a retry early when its host or the network recovers.")
        var noEarlyRetry = false

        @Option(
            help: "The longest time of one attempt, connecting included, in seconds. (default: 30)",
            transform: OptionValue.seconds)
        var timeout = Duration.seconds(30)

        @Option(
            help: "The longest time of one request, all its attempts included, in seconds. (default: no limit)",
            transform: OptionValue.seconds)
        var deadline: Duration?

        @OptionGroup var template: TemplateArguments

        @Option(help: ArgumentHelp("Saves the bodies of successful responses in a directory.", valueName: "dir"))
        var outputDirectory: String?

        @Option(
            help: """
                What becomes of a file that stands in that directory under the name of a body: skip sends no request, \
                overwrite replaces it, number gives the body the next free number. (default: number)
                """)
        var ifExists: ExistingFile?

        @Flag(help: "Keeps cookies in memory and sends them with later requests of the run.")
        var cookies = false

        @Option(help: "What carries the requests. The options for servers below need curl.")
        var transport = TransportChoice.platform

        @OptionGroup(title: "Options for servers")
        var connections: ConnectionArguments

        @OptionGroup var reports: ReportArguments

        @Flag(help: "Prints each result as a JSON object, with the phases of its attempts.")
        var json = false

        @Option(
            help: ArgumentHelp(
                """
                Prints each result in a format with variables of curl, such as '%{http_code} %{time_total}\\n'. A variable \
                that does not exist is an error, which lists those that do.
                """, valueName: "format"),
            transform: WriteOut.init)
        var writeOut: WriteOut?

        @Flag(help: "Prints the bodies of successful responses in place of results, each as a whole.")
        var body = false

        @Flag(help: "Shows no progress on standard error, only messages and the summary.")
        var noProgress = false

        @Flag(
            help: """
                Shows the busiest hosts beside the progress: requests in flight, those that wait and for what, the rate, and \
                what the host has asked for.
                """)
        var watch = false

        func validate() throws {
            guard [json, writeOut != nil, body].count(where: \.self) <= 1 else {
                throw ValidationError("--json, --write-out and --body each say how a result is printed.")
            }
            guard !watch || !noProgress else {
                throw ValidationError("--watch shows progress, which --no-progress turns off.")
            }
            guard !urls.isEmpty || input != nil else { throw ValidationError("Give at least one URL, or --input.") }
            guard ifExists == nil || outputDirectory != nil else {
                throw ValidationError("--if-exists says something of --output-directory, which is missing.")
            }
        }

        func run() async throws {
            let settings: RunSettings
            do { settings = try makeSettings() } catch let error as UnusableInput {
                TerminalScreen().print("urlrequest: \(error.reason)\n")
                throw ExitCode(ExitStatus.unusable)
            }
            throw ExitCode(await RequestRun(settings).run())
        }

        private func makeSettings() throws -> RunSettings {
            var settings = RunSettings()
            settings.urls = urls
            settings.input = try input.map(LineSource.init)
            settings.concurrency = concurrency
            settings.lowerConcurrency(to: Descriptors.limit) { TerminalScreen().print($0) }
            settings.perHost = perHost
            settings.rate = rate
            settings.retries = retries
            settings.retriesEarly = !noEarlyRetry
            settings.timeout = timeout
            settings.deadline = deadline
            settings.template = template.template()
            settings.transport = transport
            settings.connections = try connections.options(over: transport)
            if connections.insecure {
                TerminalScreen().print("urlrequest: --insecure: no certificate is checked, anybody can be the server\n")
            }
            settings.keepsCookies = cookies
            settings.reports = try reports.reports()
            settings.outputDirectory = try outputDirectory.map {
                try OutputDirectory($0, ifExists: ifExists ?? .number)
            }
            settings.format = body ? .body : json ? .json : writeOut.map { .writeOut($0) } ?? .text
            settings.showsProgress = !noProgress
            settings.watchesHosts = watch
            return settings
        }
    }

    extension TransportChoice: ExpressibleByArgument {}
    extension ExistingFile: ExpressibleByArgument {}
#endif
