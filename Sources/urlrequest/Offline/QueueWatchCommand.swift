#if CommandLineTool
    import ArgumentParser
    import OfflineRequests
    import RequestOperations

    /// The command `urlrequest queue watch`.
    struct QueueWatchCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch",
            abstract: "Shows a queue as it changes: its states, lanes, hosts and rates.",
            discussion: """
                A terminal shows one picture, which is drawn anew at most four times a second. Elsewhere a line is printed \
                after a change, at most once a second. Nothing is sent. It goes on until Ctrl-C.

                The first call for a queue makes indices in its database, and from then on the queue also counts deliveries \
                and failures by the minute.

                Exit status: with --until-empty 0 the queue is empty, 1 it is empty but for dead letters; 1 the queue failed; \
                2 it could not be opened; 141 standard output was closed; 143 after SIGTERM, 130 after Ctrl-C.
                """)

        @OptionGroup var queue: QueueArguments

        @Flag(help: "Ends when no request is left but dead letters.")
        var untilEmpty = false

        func run() async throws {
            try await queue.use { queue in
                let isUntilEmpty = untilEmpty
                let looking = Task { try await Self.look(at: queue, untilEmpty: isUntilEmpty) }
                let signal = Locked<Int32?>(nil)
                let watch = SignalWatch(
                    first: { number in
                        signal.withLock { $0 = number }
                        looking.cancel()
                    }, again: { leave(ExitStatus.signal($0)) })
                defer { watch.end() }
                let result = await looking.result
                if let signal = signal.withLock({ $0 }) { throw ExitCode(ExitStatus.signal(signal)) }
                if try result.get().dead > 0 { throw ExitCode(ExitStatus.failure) }
            }
        }

        /// Shows the queue after each change. Returns the counts when it is empty.
        private static func look(at queue: OfflineRequestQueue, untilEmpty: Bool) async throws -> OfflineCounts {
            let terminal = Console(STDOUT_FILENO)
            let step: Duration = terminal.isTerminal ? .milliseconds(250) : .seconds(1)
            var last: (version: StoreVersion, text: String)?
            var (height, silence) = (0, Duration.zero)
            while true {
                let version = try await queue.storeVersion()
                // Waits end, and rates change, without a change of the store.
                if version != last?.version || silence >= .seconds(5) {
                    let overview = try await queue.overview()
                    if terminal.isTerminal {
                        let lines = overview.picture(of: queue.name).map { String($0.prefix(terminal.width - 1)) }
                        let up = height > 0 ? "\r\u{1B}[\(height)A" : ""
                        let picture = lines.map { "\($0)\u{1B}[K\n" }.joined()
                        try StandardOutput.write(Data("\(up)\(picture)\u{1B}[J".utf8))
                        height = lines.count
                    } else if overview.line != last?.text {
                        try StandardOutput.print(overview.line)
                    }
                    (last, silence) = ((version, overview.line), .zero)
                    if untilEmpty, overview.counts.undelivered == 0 { return overview.counts }
                }
                try await Task.sleep(for: step)
                silence += step
            }
        }
    }

    extension QueueOverview {
        /// The states and the rates in one line.
        fileprivate var line: String { "\(states); \(rates)" }

        private var states: String {
            "\(counts.pending) pending, \(counts.waiting) waiting, \(counts.inFlight) in flight, \(counts.dead) dead"
        }

        private var rates: String {
            // The present minute is not over.
            let minute = minutes.dropLast().last
            return "last hour \(total(\.delivered)) delivered, \(total(\.failed)) attempts failed; "
                + "last minute \(minute?.delivered ?? 0), \(minute?.failed ?? 0)"
        }

        /// The lines for a terminal.
        fileprivate func picture(of name: String) -> [String] {
            var lines = ["queue \(lineText(name))", states, rates]
            for (title, groups, none) in [("lanes", lanes, "(none)"), ("hosts", hosts, "(messages)")] {
                guard !groups.isEmpty else { continue }
                lines.append("")
                lines.append("\(title):")
                let shown = groups.prefix(8)
                lines += shown.map { group in
                    let count = group.count > Self.mostCounted ? "\(Self.mostCounted)+" : "\(group.count)"
                    let indent = String(repeating: " ", count: max(8 - count.count, 1))
                    // A host without a port ends with the colon before it.
                    let isPortless = title == "hosts" && group.name.hasSuffix(":")
                    let name = lineText(String(group.name.dropLast(isPortless ? 1 : 0)))
                    return "\(indent)\(count)  \(name.isEmpty ? none : name)"
                }
                if groups.count > shown.count { lines.append("       and more") }
            }
            return lines
        }
    }
#endif
