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
                A terminal shows one picture, which is drawn anew at most four times a second. Elsewhere a line is \
                printed after a change, at most once a second. Nothing is sent. It goes on until Ctrl-C.

                The first call for a queue makes indices in its database, and from then on the queue also counts \
                deliveries and failures by the minute.

                Exit status: with --until-empty 0 the queue is empty, 1 it is empty but for dead letters; 1 the queue or \
                standard output failed; 2 it could not be opened; 141 standard output was closed; 143 after SIGTERM, 130 \
                after Ctrl-C.
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
            let terminal = TerminalScreen(STDOUT_FILENO)
            let step: Duration = terminal.isTerminal ? .milliseconds(250) : .seconds(1)
            var last: (version: StoreVersion, text: String)?
            var silence = Duration.zero
            var picture: [String] = []
            // The last picture stays, as much as the terminal takes within a second.
            defer {
                terminal.hurry()
                if !picture.isEmpty { terminal.print(picture.joined(separator: "\n") + "\n") }
            }
            while true {
                let version = try await queue.storeVersion()
                // Waits end, and rates change, without a change of the store.
                if version != last?.version || silence >= .seconds(5) {
                    let overview = try await queue.overview()
                    if terminal.isTerminal {
                        let width = terminal.size.width - 1
                        picture = overview.picture(of: queue.name).map { String($0.prefix(width)) }
                        terminal.draw(picture)
                        if let failure = terminal.failure { throw failure }
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
                    return "\(indent)\(count)  \(group.name.isEmpty ? none : lineText(group.name))"
                }
                if groups.count > shown.count { lines.append("       and more") }
            }
            return lines
        }
    }
#endif
