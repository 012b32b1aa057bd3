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
        /// - Throws: ``UnusableInput``.
        func configuration() throws -> RequestConfiguration {
            let transport = TransportChoice.platform
            let options = try connections.options(over: transport)
            if connections.insecure {
                Console().print("urlrequest: --insecure: no certificate is checked, anybody can be the server\n")
            }
            var configuration = RequestConfiguration()
            configuration.transport = transport.transport(
                forConnections: 1, usingProxy: true, keepingCookies: false, options)
            configuration.retryPolicy.maximumRetries = retries
            // A large file takes its time. The number of retries limits it.
            configuration.retryPolicy.elapsedLimit = nil
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
