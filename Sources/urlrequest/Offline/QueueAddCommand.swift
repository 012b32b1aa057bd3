#if CommandLineTool
    import ArgumentParser
    import OfflineRequests
    import RequestOperations

    /// The command `urlrequest queue add`.
    struct QueueAddCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Adds requests and prints the id of each when it is on disk.",
            discussion: """
                A line of the input is a URL, or a JSON object as for run, with the keys "lane", "key", "notBefore" and \
                "expires" besides; times are as in 2026-05-01T08:00:00Z. Requests are added in the order of the input. \
                Credentials in fields and URLs are left out unless --store-credentials is given.

                If the ids cannot be printed, no further line is read, and a message says how many requests were added.

                Exit status: 0 all requests were added; 1 the queue refused some, or standard output failed; 2 an argument or \
                a line could not be used; 141 standard output was closed.
                """)

        @Argument(help: "A URL to request, before those of the input.")
        var url: String?

        @OptionGroup var queue: QueueArguments

        @OptionGroup var template: TemplateArguments

        @Option(help: "The lane. Requests of a lane are delivered one after the other. (default: one for all)")
        var lane: String?

        @Option(help: "The unique key: the request takes the place of waiting ones with the same key.")
        var key: String?

        @Option(help: "Reads URLs and JSON objects, one a line, from a file or, for -, from standard input.")
        var input: String?

        @Flag(help: "Stores credentials in fields and URLs.")
        var storeCredentials = false

        func validate() throws {
            guard url != nil || input != nil else { throw ValidationError("Give a URL, or --input.") }
        }

        func run() async throws {
            var adder = QueueAdder(lane: lane, key: key, storesCredentials: storeCredentials)
            adder.template = template.template(isForQueue: true)
            let status: Int32
            do {
                let source = try input.map(LineSource.init)
                let queue = try await queue.open()
                status = await adder.add(url, source, to: queue)
            } catch let error as UnusableInput {
                Console().print("urlrequest: \(error.reason)\n")
                throw ExitCode(ExitStatus.unusable)
            }
            throw ExitCode(status)
        }
    }
#endif
