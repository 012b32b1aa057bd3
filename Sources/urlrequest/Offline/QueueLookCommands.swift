#if CommandLineTool
    import ArgumentParser
    import OfflineRequests
    import RequestOperations

    /// The command `urlrequest queue list`.
    struct QueueListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Prints the requests of a queue, one a line.",
            discussion: """
                A line has the id, the state, the failed attempts, the lane (- for none), and the request, where credentials \
                in the URL are replaced by the word redacted. A text with a control character, and a lane with a space, is \
                printed as a JSON string.

                \(QueueArguments.lookStatuses)
                """)

        @OptionGroup var queue: QueueArguments
        @OptionGroup var records: RecordArguments

        @Option(
            name: .customLong("state"), help: "Only records of this state; can be given several times.",
            transform: QueueValue.state)
        var states: [RecordFilter.Kind] = []

        @Option(
            help: "The largest number of lines. (default: all)",
            transform: { try OptionValue.count($0, in: 1...Int.max) })
        var limit: Int?

        func run() async throws {
            let kinds = states.isEmpty ? Set(RecordFilter.Kind.allCases) : Set(states)
            try await queue.use { queue in
                var left = limit ?? .max
                try await queue.enumerate(records.filter(kinds)) { record, stop in
                    try StandardOutput.print(record.line)
                    left -= 1
                    stop = left == 0
                }
            }
        }
    }

    /// The command `urlrequest queue show`.
    struct QueueShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Prints one request of a queue, or what has become of it.",
            discussion: """
                Credentials in fields and in the URL are replaced by the word redacted. The body is printed as it is.

                \(QueueArguments.lookStatuses)
                """)

        @Argument(help: "The id, as add has printed it.", transform: QueueValue.id)
        var id: OfflineRecord.ID

        @OptionGroup var queue: QueueArguments

        @Flag(help: "Prints only the body, as it is stored.")
        var body = false

        func run() async throws {
            try await queue.use { queue in
                if body {
                    guard let bytes = try await queue.body(of: id) else { throw ExitCode(ExitStatus.failure) }
                    try StandardOutput.write(bytes)
                } else if let record = try await queue.record(id) {
                    try StandardOutput.print(record.details)
                } else {
                    try StandardOutput.print(try await queue.outcome(of: id).line)
                }
            }
        }
    }

    /// The command `urlrequest queue stats`.
    struct QueueStatsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats", abstract: "Prints how many requests a queue holds, and its paused lanes, as JSON.",
            discussion: QueueArguments.lookStatuses)

        @OptionGroup var queue: QueueArguments

        func run() async throws {
            try await queue.use { queue in
                let counts = try await queue.counts
                let lanes = try JSONEncoder().encode(try await queue.pausedLanes.map(PausedLine.init))
                try StandardOutput.print(
                    """
                    {"pending":\(counts.pending),"waiting":\(counts.waiting),"inFlight":\(counts.inFlight),\
                    "dead":\(counts.dead),"bytes":\(counts.bytes),"pausedLanes":\(String(decoding: lanes, as: UTF8.self))}
                    """)
            }
        }
    }

    /// A paused lane as `stats` prints it.
    private struct PausedLine: Encodable {
        let lane: String?
        let reason: String
        let since: String

        init(_ paused: PausedLane) {
            lane = paused.lane
            reason = "\(paused.reason)"
            since = paused.since.formatted(.iso8601)
        }
    }

    /// A record as `list` and `show` print it, without credentials. What came from outside cannot begin a line.
    extension OfflineRecord {
        /// One line.
        var line: String { "\(id) \(stateText) \(attempts) \(lane.map(columnText) ?? "-") \(lineText(subject))" }

        /// Several lines.
        var details: String { facts.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }

        /// All that is shown of it but its body, each without control characters.
        var facts: [(name: String, value: String)] {
            var facts = [
                ("id", "\(id)"), ("state", stateText), ("request", lineText(subject)),
                ("added", added.formatted(.iso8601)), ("idempotency key", lineText(idempotencyKey)),
                ("attempts", "\(attempts)"), ("body", "\(bodySize) bytes"),
            ]
            if let lane { facts.append(("lane", lineText(lane))) }
            if let tag { facts.append(("tag", lineText(tag))) }
            if let uniqueKey { facts.append(("key", lineText(uniqueKey))) }
            if let expires { facts.append(("expires", expires.formatted(.iso8601))) }
            if let lastFailure { facts.append(("last failure", lineText(lastFailure))) }
            if case .request(let request) = content {
                for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
                    facts.append((lineText(name), lineText(Redaction.default.value(value, ofField: name))))
                }
            }
            return facts
        }

        /// The state in one or a few words.
        var stateText: String {
            switch state {
            case .pending: "pending"
            case .waiting(let until?, _): "waiting until \(until.formatted(.iso8601))"
            case .waiting(nil, .paused): "paused"
            case .waiting(nil, let reason): "waiting for a \(reason)"
            case .inFlight: "in flight"
            case .dead(let reason): "dead (\(lineText("\(reason)")))"
            }
        }
    }
#endif
