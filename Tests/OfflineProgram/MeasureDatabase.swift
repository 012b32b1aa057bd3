#if PostgreSQL
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations

    extension Measure {
        /// Adds in batches of 100, then deliveries, of records in 10,000 lanes. The database is that of libpq's environment.
        /// Prints one line for each.
        static func database(_ count: Int) async throws {
            var options = PostgreSQLOptions()
            options.migrates = true
            var configuration = OfflineConfiguration()
            configuration.request.transport = NoContent()
            configuration.request.networkPath = NetworkPath()
            configuration.width = 64
            configuration.startsPaused = true
            configuration.outcomeRetention = .zero
            let queue = try await OfflineRequestQueue.open(
                name: "measure", store: .postgreSQL("", options: options), configuration: configuration)
            let adding = try await time {
                for start in stride(from: 0, to: count, by: 100) {
                    _ = try await queue.add(
                        contentsOf: (start..<start + 100).map { number in
                            (sample(number), OfflineOptions(lane: "lane-\(number % 10_000)"))
                        })
                }
            }
            report("\(Int(Double(count) / adding)) adds/s in batches of 100")
            let delivering = try await time {
                queue.resume()
                try await queue.drain()
            }
            report("\(Int(Double(count) / delivering)) deliveries/s")
            await queue.close()
        }
    }

    /// A transport that answers 204 at once.
    private struct NoContent: Transport {
        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            let head = ResponseHead(status: 204, url: task.request.url ?? URL(fileURLWithPath: "/"))
            try onHead(head)
            return TransportResponse(head: head)
        }
    }
#endif
