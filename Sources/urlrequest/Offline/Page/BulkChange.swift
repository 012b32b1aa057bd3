#if CommandLineTool
    import OfflineRequests
    import RequestOperations

    /// A change of many records. One change runs at a time. It goes on when the browser is gone.
    final class BulkChange: Sendable {
        enum Verb: String, Sendable, Encodable {
            case retry
            case remove
        }

        /// Which records are changed.
        enum Target: Sendable {
            case ids([OfflineRecord.ID])
            /// All that match. Records that are newer than ``RecordQuery/before`` stay as they are.
            case query(RecordQuery)
        }

        /// How far the last change has come.
        struct Progress: Sendable, Equatable, Encodable {
            let verb: Verb
            /// How many records were changed.
            var done = 0
            var isRunning = true
            /// Why it ended early.
            var error: String?
        }

        private struct State {
            var progress: Progress?
            var task: Task<Void, Never>?
        }

        private let state = Locked(State())

        /// The last change; `nil` if there was none.
        var progress: Progress? { state.withLock { $0.progress } }

        /// Begins a change. Returns `false` if another one is under way.
        func begin(_ verb: Verb, _ target: Target, in queue: OfflineRequestQueue) -> Bool {
            state.withLock { state in
                guard state.progress?.isRunning != true else { return false }
                state.progress = Progress(verb: verb)
                state.task = Task { [self] in
                    do { try await run(verb, target, in: queue) } catch {
                        let text = error is CancellationError ? "it was stopped" : "\(error)"
                        self.state.withLock { $0.progress?.error = text }
                    }
                    self.state.withLock { $0.progress?.isRunning = false }
                }
                return true
            }
        }

        /// Ends the change that is under way. What it has changed stays changed.
        func stop() {
            state.withLock { $0.task }?.cancel()
        }

        private func run(_ verb: Verb, _ target: Target, in queue: OfflineRequestQueue) async throws {
            switch target {
            case .ids(let ids): try await change(ids, verb, in: queue)
            case .query(let query) where verb == .remove && query.host == nil && query.text == nil:
                try await removeAll(query, in: queue)
            case .query(var query):
                query.limit = 500
                if verb == .retry { query.filter.kinds.formIntersection([.dead]) }
                repeat {
                    let page = try await queue.page(query)
                    try await change(page.records.map(\.id), verb, in: queue)
                    query.before = page.next
                } while query.before != nil
            }
        }

        /// Each transaction finds and removes its records, so another process cannot change them between.
        private func removeAll(_ query: RecordQuery, in queue: OfflineRequestQueue) async throws {
            let last = OfflineRecord.ID(rawValue: (query.before?.rawValue ?? .max) - 1)
            while true {
                try Task.checkCancellation()
                let removed = try await queue.removeSome(query.filter, upTo: last)
                guard removed > 0 else { return }
                state.withLock { $0.progress?.done += removed }
            }
        }

        /// Changes that run at the same time share a commit.
        private func change(_ ids: [OfflineRecord.ID], _ verb: Verb, in queue: OfflineRequestQueue) async throws {
            try Task.checkCancellation()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for id in ids {
                    group.addTask {
                        switch verb {
                        case .retry: try await queue.retry(id)
                        case .remove: try await queue.remove(id)
                        }
                    }
                }
                for try await isChanged in group where isChanged { state.withLock { $0.progress?.done += 1 } }
            }
        }
    }
#endif
