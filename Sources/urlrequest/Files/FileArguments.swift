#if CommandLineTool
    import ArgumentParser
    import RequestOperations

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

        @OptionGroup(title: "Options for servers")
        var connections: ConnectionArguments

        /// The configuration of every request.
        ///
        /// - Parameter count: How many connections a file may use.
        /// - Throws: ``UnusableInput``.
        func configuration(connections count: Int) throws -> RequestConfiguration {
            let transport = TransportChoice.platform
            var options = try connections.options(over: transport)
            options.sharesConnections = count == 1
            if connections.insecure {
                Console().print("urlrequest: --insecure: no certificate is checked, anybody can be the server\n")
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
