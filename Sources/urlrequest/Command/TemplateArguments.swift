#if CommandLineTool
    import ArgumentParser
    import RequestOperations

    /// The arguments that say what each request is like.
    struct TemplateArguments: ParsableArguments {
        @Option(
            parsing: .unconditional, help: "The method. (default: POST for a request with a body, else GET)",
            transform: OptionValue.method)
        var method: String?

        @Option(
            name: .customLong("header"), parsing: .unconditionalSingleValue,
            help: ArgumentHelp("A header field of every request; can be given several times.", valueName: "K: V"),
            transform: { try HeaderField(line: $0) })
        var headers: [HeaderField] = []

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp(
                "The body of every request, or after @ the file that holds it.", valueName: "string|@file"),
            transform: OptionValue.body)
        var data: RequestBody?

        /// The template of the requests.
        ///
        /// - Parameter isForQueue: Whether the requests are stored in a queue.
        func template(isForQueue: Bool = false) -> RequestTemplate {
            RequestTemplate(method: method, fields: headers, body: data ?? .none, isForQueue: isForQueue)
        }
    }
#endif
