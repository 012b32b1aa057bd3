#if PostgreSQL
    import Foundation
    package import OfflineRequests
    import RequestOperations

    /// A queue in a PostgreSQL database, over the functions of the schema `request_operations`.
    package final class PostgreSQLStore: OfflineStore {
        let queue: PostgreSQLValue
        let pool: PostgreSQLPool
        let state = Locked(State())
        /// In seconds. No outcomes are kept if it is not positive.
        let retention: Double
        let leaseDuration: Duration
        let statementTimeout: Duration
        /// How long a lane may fail before it is paused; `nil` if that is not watched.
        let lanePatience: Duration?
        package let changes: AsyncStream<Void>
        private let listener: PostgreSQLListener?
        let onEvent: @Sendable (OfflineEvent) -> Void
        let adds: Batcher<Addition, [AddResult]>
        let deliveries: Batcher<Delivery, SettlementAnswer>
        let questions: Batcher<Flight, Bool>

        /// What changes while the store is open.
        struct State {
            /// The lease of this process, if it has one.
            var lease: HeldLease?
            var polls = PollCounter()
            /// The origin that the last claim ended with. The next one begins behind it.
            var lastOrigin = ""
            var nextTidying: ContinuousClock.Instant?
            var hasTidyingFailed = false
        }

        struct HeldLease {
            let fence: Int64
            var renewed: ContinuousClock.Instant
            /// What this process delivers, or has just claimed.
            var known: Set<Int64> = []
            /// Whether more may be in flight than what is known: the answer to a claim was lost.
            var mayHaveMore = false
        }

        private init(_ opening: OfflineStorage.Opening, _ settings: PostgreSQLSettings, _ options: PostgreSQLOptions) {
            let pool = PostgreSQLPool(settings, most: options.connections)
            let queue = PostgreSQLValue.text(opening.name)
            let retention = opening.configuration.outcomeRetention.inSeconds
            (self.pool, self.queue, self.retention) = (pool, queue, retention)
            onEvent = opening.onEvent
            lanePatience = opening.configuration.lanePause?.failingFor
            (leaseDuration, statementTimeout) = (opening.configuration.leaseDuration, settings.statementTimeout)
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            self.changes = changes
            listener =
                options.listens
                ? PostgreSQLListener(settings, channel: "request_operations", text: opening.name) {
                    continuation.yield()
                } onFailure: { [onEvent = opening.onEvent] error in
                    onEvent(.storeFailed(OfflineQueueError(database: error)))
                } : nil
            if listener == nil { continuation.finish() }
            adds = Batcher(weight: \.weight) { await Self.add($0, to: queue, retention: retention, over: pool) }
            deliveries = Batcher { await Self.deliver($0, retention: retention, over: pool) }
            questions = Batcher { await Self.maySend($0, over: pool) }
        }

        /// Opens a queue.
        ///
        /// - Throws: ``OfflineQueueError``.
        package static func open(
            _ opening: OfflineStorage.Opening, _ settings: PostgreSQLSettings, _ options: PostgreSQLOptions
        ) async throws -> PostgreSQLStore {
            if options.migrates { try await PostgreSQLSchema.migrate(settings) }
            let store = PostgreSQLStore(opening, settings, options)
            do { try await store.pool.run(.opening) { try PostgreSQLSchema.check($0) } } catch {
                await store.close()
                throw error
            }
            return store
        }

        /// Calls a function of the schema, or reads.
        ///
        /// - Parameters:
        ///   - sql: One statement. Its first parameter is the name of the queue.
        ///   - values: The other parameters.
        ///   - terms: ``PostgreSQLPool/Terms/read`` by default.
        ///   - read: Makes the result of the rows.
        func call<Value: Sendable>(
            _ sql: String, _ values: [PostgreSQLValue] = [], terms: PostgreSQLPool.Terms = .read,
            read: @escaping @Sendable (PostgreSQLRows) throws -> Value
        ) async throws -> Value {
            try await pool.run(terms) { [queue] in try read($0.run(sql, [queue] + values)) }
        }

        /// Calls a function whose answer says whether it changed anything. So it must not run twice.
        ///
        /// - Parameters:
        ///   - sql: One statement. Its first parameter is the name of the queue.
        ///   - values: The other parameters.
        ///   - read: Makes the result of the rows.
        func change<Value: Sendable>(
            _ sql: String, _ values: [PostgreSQLValue], read: @escaping @Sendable (PostgreSQLRows) -> Value
        ) async throws -> Value {
            try await pool.commit(.read) { [queue] connection in
                let row = try connection.run("SELECT \(PostgreSQLPool.Change<Value>.columns)").first
                return PostgreSQLPool.Change(read(try connection.run(sql, [queue] + values)), in: row)
            }
        }

        // MARK: Bodies

        /// Reads a file, because bodies are parts of the rows.
        package func keep(_ body: StoredBody, inlineLimit: Int) async throws -> OwnedBody {
            switch body {
            case .none: return OwnedBody(stored: .none, size: 0)
            case .data(let data): return OwnedBody(stored: body, size: Int64(data.count))
            case .file(let file):
                let data: Data = try await withCheckedThrowingContinuation { continuation in
                    // Not on a thread of Swift's Tasks.
                    DispatchQueue.global().async {
                        continuation.resume(
                            with: Result { try Data(contentsOf: file) }.mapError {
                                OfflineQueueError(.unusableRequest, underlying: $0)
                            })
                    }
                }
                return OwnedBody(stored: .data(data), size: Int64(data.count))
            }
        }

        package func discard(_ body: OwnedBody) async throws {}
        package func isWhole(_ record: StoredRecord) async throws -> Bool { true }

        // MARK: The life of the store

        package var isShared: Bool { true }

        /// Changes whenever it is time to look again. It asks the database nothing.
        package func version() async throws -> StoreVersion {
            StoreVersion(number: state.withLock { $0.polls.number(at: .now) })
        }

        package func checkpoint() async throws {}

        package func close() async {
            listener?.close()
            let lease = state.withLock { state in
                defer { state.lease = nil }
                return state.lease
            }
            if let lease {
                // Without this, others wait until the lease is over.
                do {
                    try await pool.run(.closing) { _ = try $0.run(Self.leave, [.int64(lease.fence)]) }
                } catch {
                    // A database that is away ends the lease by its time.
                }
            }
            await pool.close()
        }

        static let leave = "SELECT request_operations.leave($1::bigint)"
    }

    /// Counts whole intervals of time, after which a store is looked at even if nothing was notified: of 1 s, or of 5 s
    /// after a minute without work.
    package struct PollCounter {
        package init() {}

        private var polls: Int64 = 0
        private var last: ContinuousClock.Instant?
        private var lastWork: ContinuousClock.Instant?

        package mutating func worked(at now: ContinuousClock.Instant) { lastWork = now }

        package mutating func number(at now: ContinuousClock.Instant) -> Int64 {
            let isBusy = lastWork.map { now - $0 < .seconds(60) } ?? false
            if let last, now - last < .seconds(isBusy ? 1 : 5) { return polls }
            last = now
            polls += 1
            return polls
        }
    }
#endif
