#if CommandLineTool
    import OfflineRequests
    import RequestOperations

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

        /// Adds all, closes the queue, and returns the exit status.
        func add(_ url: String?, _ source: LineSource?, to queue: OfflineRequestQueue) async -> Int32 {
            let warnings = Self.warn(of: queue.events)
            var status = ExitStatus.success
            if let url { await add("the URL", &status, queue) { try template.request(fromURL: url, id: 1) } }
            if let source { await addLines(of: source, to: queue, &status) }
            await queue.close()
            await warnings.value
            return status
        }

        private func addLines(of source: LineSource, to queue: OfflineRequestQueue, _ status: inout Int32) async {
            var reader = source.reader()
            var number = 0
            do {
                while let line = try await reader.next() {
                    number += 1
                    await add("line \(number)", &status, queue) { try template.request(from: line, id: number) }
                }
            } catch {
                Console().print("urlrequest: \(source.name): \(error)\n")
                status = ExitStatus.unusable
            }
        }

        /// Adds one request, and prints its id or why it was refused.
        private func add(
            _ origin: String, _ status: inout Int32, _ queue: OfflineRequestQueue,
            _ make: () throws -> InputRequest?
        ) async {
            do {
                guard let request = try make() else { return }
                try printLine(try await add(request, to: queue))
            } catch let error as UnusableInput {
                Console().print("urlrequest: \(origin): \(error.reason)\n")
                status = ExitStatus.unusable
            } catch {
                Console().print("urlrequest: \(origin): \(error)\n")
                if status == ExitStatus.success { status = ExitStatus.failure }
            }
        }

        private func add(_ input: InputRequest, to queue: OfflineRequestQueue) async throws -> OfflineRecord.ID {
            var options = OfflineOptions(
                lane: input.queueing.lane ?? lane, notBefore: input.queueing.notBefore,
                expires: input.queueing.expires)
            options.storesCredentials = storesCredentials
            var request = input.request
            let key = (input.queueing.key ?? key).map { UniqueKey<URLRequest>($0, .replace) }
            switch input.body {
            case .file(let file) where key == nil:
                return try await queue.add(request, bodyFile: file, options: options)
            case .file(let file): request.httpBody = try Data(contentsOf: file)
            case .data(let data): request.httpBody = data
            case .none, .stream: break
            }
            return try await queue.add(request, options: options, unique: key)
        }

        /// Says which credentials were not stored.
        private static func warn(of events: AsyncStream<OfflineEvent>) -> Task<Void, Never> {
            Task {
                for await event in events {
                    switch event {
                    case .credentialsOmitted(let id, let fields):
                        let names = fields.joined(separator: ", ")
                        Console().print("urlrequest: \(id): not stored: \(names) (--store-credentials)\n")
                    case .recovered(let recovery): Console().print("urlrequest: \(recovery.summary)\n")
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
