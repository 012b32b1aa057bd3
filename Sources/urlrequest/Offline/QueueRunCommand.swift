#if CommandLineTool
    import ArgumentParser
    import OfflineRequests
    import RequestOperations

    /// The command `urlrequest queue run`.
    struct QueueRunCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Delivers the requests of a queue, and prints a line for each outcome.",
            discussion: """
                Without --drain it stays and waits for further requests. SIGTERM and Ctrl-C let it finish what is in \
                flight; a second signal ends it at once, but the same one within half a second counts as one. Nothing is \
                lost by that, nor by SIGKILL. If standard output is closed or fails, it delivers all the same.

                A request that fails for now is tried again after a growing wait of an hour at most. Standard error says why, \
                once a minute at most.

                Exit status: 0 the queue is empty; 1 it is empty but for dead letters; 2 the queue could not be read; 143 \
                after SIGTERM, 130 after Ctrl-C.
                """)

        @OptionGroup var queue: QueueArguments

        @Flag(help: "Exits when no request is left but dead letters.")
        var drain = false

        @Option(
            help: "The largest number of attempts in flight. (default: 16)",
            transform: { try OptionValue.count($0, in: 1...100_000) })
        var concurrency = 16

        @OptionGroup var reports: ReportArguments

        func run() async throws {
            let reports: Reports
            do { reports = try self.reports.reports() } catch let error as UnusableInput {
                TerminalScreen().print("urlrequest: \(error.reason)\n")
                throw ExitCode(ExitStatus.unusable)
            }
            let queue = try await queue.open {
                $0.width = concurrency
                reports.record(&$0.request)
            }
            let printing = Self.printOutcomes(of: queue.events)
            let stopped = AsyncStream<Int32>.makeStream()
            let watch = SignalWatch(
                first: { stopped.continuation.yield($0) }, again: { leave(ExitStatus.signal($0)) })
            let drain = drain
            let draining = Task { () -> (any Error)? in
                defer { stopped.continuation.finish() }
                guard drain else {
                    for await _ in queue.events {}
                    return nil
                }
                do { try await queue.drain() } catch { return error }
                return nil
            }
            queue.resume()
            var signal: Int32?
            for await number in stopped.stream {
                signal = number
                break
            }
            let status: Int32
            do { status = try await queue.counts.dead == 0 ? ExitStatus.success : ExitStatus.failure } catch {
                TerminalScreen().print("urlrequest: \(error)\n")
                status = ExitStatus.unusable
            }
            draining.cancel()
            await queue.close(finishing: true)
            await printing.value
            let isWhole = reports.write { TerminalScreen().print("urlrequest: \($0)\n") }
            watch.end()
            if let signal { throw ExitCode(ExitStatus.signal(signal)) }
            if let error = await draining.value {
                TerminalScreen().print("urlrequest: \(error)\n")
                throw ExitCode(ExitStatus.unusable)
            }
            throw ExitCode(status == ExitStatus.success && !isWhole ? ExitStatus.failure : status)
        }

        private static func printOutcomes(of events: AsyncStream<OfflineEvent>) -> Task<Void, Never> {
            Task {
                var hasReader = true
                var lastTold: ContinuousClock.Instant?
                for await event in events {
                    switch event {
                    case .ended(let id, let outcome):
                        guard hasReader else { continue }
                        do throws(PatientWriter.Failure) {
                            try StandardOutput.print("\(id) \(outcome.line)")
                        } catch {
                            // The requests are delivered all the same, and the queue keeps their outcomes.
                            hasReader = false
                            _ = StandardOutput.tell(of: error)
                        }
                    case .missed(let count): TerminalScreen().print("urlrequest: \(count) events were not printed\n")
                    case .waits(let id, _, let failure):
                        // While nothing can be sent, as without a free file descriptor, there are no other lines.
                        if let lastTold, ContinuousClock.now - lastTold < .seconds(60) { continue }
                        lastTold = .now
                        TerminalScreen().print("urlrequest: \(id) waits: \(lineText(failure))\n")
                    default: if let trouble = event.trouble { TerminalScreen().print("urlrequest: \(trouble)\n") }
                    }
                }
            }
        }
    }

    extension OfflineOutcome {
        /// One line for people.
        var line: String {
            switch self {
            case .delivered(let status): status.map { "delivered \($0)" } ?? "delivered"
            case .dead(let reason): "dead \(lineText("\(reason)"))"
            case .removed: "removed"
            case .replaced(let id): "replaced by \(id)"
            case .dropped(let reason): "dropped \(reason.rawValue)"
            }
        }
    }
#endif
