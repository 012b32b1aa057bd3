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
                TerminalScreen().print("urlrequest: \(error.reason)\n")
                throw ExitCode(ExitStatus.unusable)
            }
            throw ExitCode(status)
        }
    }

    /// Adds the requests of an argument and of lines to a queue, and prints their ids.
    struct QueueAdder {
        var template = RequestTemplate()
        let lane: String?
        let key: String?
        let storesCredentials: Bool

        init(lane: String?, key: String?, storesCredentials: Bool) {
            self.lane = lane
            self.key = key
            self.storesCredentials = storesCredentials
        }

        /// What has been done so far.
        private struct Progress {
            var status = ExitStatus.success
            var added = 0
            var printed = 0

            /// Prints the ids of requests that were added.
            mutating func print(_ ids: [OfflineRecord.ID]) throws(PatientWriter.Failure) {
                added += ids.count
                for id in ids {
                    try StandardOutput.print(id)
                    printed += 1
                }
            }

            mutating func fail() {
                if status == ExitStatus.success { status = ExitStatus.failure }
            }
        }

        /// Adds all, closes the queue, and returns the exit status. If ids cannot be printed, it reads no further.
        func add(_ url: String?, _ source: LineSource?, to queue: OfflineRequestQueue) async -> Int32 {
            let warnings = Self.warn(of: queue.events)
            var progress = Progress()
            var lost: PatientWriter.Failure?
            do throws(PatientWriter.Failure) {
                if let url { try await add("the URL", &progress, queue) { try template.request(fromURL: url, id: 1) } }
                if let source { try await addLines(of: source, to: queue, &progress) }
            } catch { lost = error }
            await queue.close()
            await warnings.value
            guard let lost else { return progress.status }
            // Even if the reader is gone: who adds them again sends them twice.
            TerminalScreen().print(
                "urlrequest: \(lost.text) (requests added: \(progress.added), ids printed: \(progress.printed))\n")
            progress.fail()
            return lost == .closed ? ExitStatus.outputClosed : progress.status
        }

        private func addLines(
            of source: LineSource, to queue: OfflineRequestQueue, _ progress: inout Progress
        ) async throws(PatientWriter.Failure) {
            var reader = source.reader()
            var number = 0
            while true {
                var lines: [LineReader.Line] = []
                do {
                    guard let first = try await reader.next() else { return }
                    lines.append(first)
                } catch {
                    TerminalScreen().print("urlrequest: \(source.name): \(error)\n")
                    progress.status = ExitStatus.unusable
                    return
                }
                // What has arrived already shares a commit. Nobody waits for a line that has not.
                while lines.count < Self.linesOfCommit, let line = reader.nextWithoutWaiting() {
                    lines.append(line)
                }
                try await add(lines, after: number, &progress, queue)
                number += lines.count
            }
        }

        /// The most lines of one commit.
        private static let linesOfCommit = 256

        /// Adds the requests of lines. They share a commit if each can be added as it is.
        ///
        /// - Parameter number: How many lines came before.
        private func add(
            _ lines: [LineReader.Line], after number: Int, _ progress: inout Progress, _ queue: OfflineRequestQueue
        ) async throws(PatientWriter.Failure) {
            let together: [OfflineRecord.ID]?
            do { together = try await addTogether(lines, after: number, to: queue) } catch {
                // None was added. Each is added alone now, and the error of one names its line.
                together = nil
            }
            if let together { return try progress.print(together) }
            for (offset, line) in lines.enumerated() {
                let id = number + offset + 1
                try await add("line \(id)", &progress, queue) { try template.request(from: line, id: id) }
            }
        }

        /// Adds the requests of lines in one commit. Returns `nil` if one of them has a key or a file as its body.
        private func addTogether(
            _ lines: [LineReader.Line], after number: Int, to queue: OfflineRequestQueue
        ) async throws -> [OfflineRecord.ID]? {
            guard key == nil, lines.count > 1 else { return nil }
            var requests: [(request: URLRequest, options: OfflineOptions)] = []
            for (offset, line) in lines.enumerated() {
                guard let input = try template.request(from: line, id: number + offset + 1) else { continue }
                guard input.queueing.key == nil, let request = wholeRequest(of: input) else { return nil }
                requests.append((request, options(for: input)))
            }
            return try await queue.add(contentsOf: requests)
        }

        /// The request with its body. `nil` if the body is in a file.
        private func wholeRequest(of input: InputRequest) -> URLRequest? {
            var request = input.request
            switch input.body {
            case .file: return nil
            case .data(let data): request.httpBody = data
            case .none, .stream: break
            }
            return request
        }

        /// Adds one request, and prints its id or why it was refused.
        private func add(
            _ origin: String, _ progress: inout Progress, _ queue: OfflineRequestQueue,
            _ make: () throws -> InputRequest?
        ) async throws(PatientWriter.Failure) {
            let id: OfflineRecord.ID
            do {
                guard let request = try make() else { return }
                id = try await add(request, to: queue)
            } catch {
                TerminalScreen().print("urlrequest: \(origin): \(errorText(error))\n")
                if error is UnusableInput { progress.status = ExitStatus.unusable } else { progress.fail() }
                return
            }
            try progress.print([id])
        }

        private func add(_ input: InputRequest, to queue: OfflineRequestQueue) async throws -> OfflineRecord.ID {
            let options = options(for: input)
            let key = (input.queueing.key ?? key).map { UniqueKey<URLRequest>($0, .replace) }
            if case .file(let file) = input.body, key == nil {
                return try await queue.add(input.request, bodyFile: file, options: options)
            }
            var request = wholeRequest(of: input) ?? input.request
            if case .file(let file) = input.body { request.httpBody = try Data(contentsOf: file) }
            return try await queue.add(request, options: options, unique: key)
        }

        private func options(for input: InputRequest) -> OfflineOptions {
            var options = OfflineOptions(
                lane: input.queueing.lane ?? lane, notBefore: input.queueing.notBefore,
                expires: input.queueing.expires)
            options.storesCredentials = storesCredentials
            return options
        }

        /// Says which credentials were not stored.
        private static func warn(of events: AsyncStream<OfflineEvent>) -> Task<Void, Never> {
            Task {
                for await event in events {
                    switch event {
                    case .credentialsOmitted(let id, let fields):
                        let names = fields.joined(separator: ", ")
                        TerminalScreen().print("urlrequest: \(id): not stored: \(names) (--store-credentials)\n")
                    case .recovered(let recovery): TerminalScreen().print("urlrequest: \(recovery.summary)\n")
                    default: break
                    }
                }
            }
        }
    }

    extension OfflineRecovery {
        /// One line for people.
        var summary: String {
            var line = "the queue was damaged (\(reason)): \(recovered) records recovered"
            if damagedRecords > 0 { line += ", \(damagedRecords) damaged" }
            if let missingRecords { line += ", at most \(missingRecords) missing" }
            if let damagedFile { line += ", the old file is \(damagedFile.path)" }
            return line
        }
    }
#endif
