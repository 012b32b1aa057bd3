#if PostgreSQL
    import OfflineRequests

    extension PostgreSQLPool {
        /// How a transaction ended.
        private enum End<Value: Sendable>: Sendable {
            case committed(Value)
            /// The answer to its COMMIT was lost.
            case unknown(Change<Value>, PostgreSQLError)
        }

        /// What a transaction did.
        package struct Change<Value: Sendable>: Sendable {
            let value: Value
            /// The number of the transaction (`pg_current_xact_id()`).
            let transaction: Int64
            /// When the server began, in seconds since 1970.
            let serverStart: Double

            /// The columns that tell of the transaction.
            package static var columns: String { "pg_current_xact_id()::text::bigint, \(serverStart)" }

            fileprivate static var serverStart: String { "extract(epoch FROM pg_postmaster_start_time())::float8" }

            /// - Parameters:
            ///   - value: What the change returns.
            ///   - row: A row with ``columns``.
            ///   - first: The number of the first of these. 0 by default.
            package init(_ value: Value, in row: PostgreSQLRow?, from first: Int = 0) {
                self.value = value
                transaction = row?.integer(first) ?? 0
                serverStart = row?.double(first + 1) ?? 0
            }
        }

        /// Makes a change in a transaction, once. If the answer to its COMMIT is lost, the database is asked what became of
        /// it.
        ///
        /// - Parameters:
        ///   - terms: ``Terms/once`` by default.
        ///   - hasEffect: Looks whether the change is there; `nil` means it cannot be known, which is the default. Called if
        ///     the server began anew: it can have lost the transaction in a crash, and given its number to another one.
        ///   - body: The change. It runs again if an earlier run had no effect.
        /// - Throws: ``OfflineQueueError``, or `CancellationError`.
        package func commit<Value: Sendable>(
            _ terms: Terms = .once,
            hasEffect: @escaping @Sendable (PostgreSQLConnection, Value) throws -> Bool? = { _, _ in nil },
            _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Change<Value>
        ) async throws -> Value {
            var terms = terms
            terms.isRepeatable = false
            while true {
                let end = try await run(terms) { connection -> End<Value> in
                    var change: Change<Value>?
                    do {
                        return .committed(
                            try connection.transaction {
                                let made = try body(connection)
                                change = made
                                return made.value
                            })
                    } catch let error as PostgreSQLError where error.cause == .lost(mayHaveRun: true) {
                        guard let change else { throw error }
                        return .unknown(change, error)
                    }
                }
                switch end {
                case .committed(let value): return value
                case .unknown(let change, let error):
                    guard let isCommitted = try await isCommitted(change, hasEffect) else {
                        throw OfflineQueueError(
                            database: PostgreSQLError(
                                error.cause, "\(error.message); the server cannot say whether it has made the change"))
                    }
                    if isCommitted { return change.value }
                }
            }
        }

        /// Whether a transaction was committed; `nil` if the database does not know any more.
        private func isCommitted<Value: Sendable>(
            _ change: Change<Value>, _ hasEffect: @escaping @Sendable (PostgreSQLConnection, Value) throws -> Bool?
        ) async throws -> Bool? {
            while true {
                let (status, serverStart): (String?, Double?)
                do {
                    (status, serverStart) = try await run(.sending) {
                        // While it is in progress, it waits a little before it is asked again.
                        let row = try $0.run(
                            """
                            SELECT s.status, \(Change<Value>.serverStart),
                              CASE WHEN s.status = 'in progress' THEN pg_sleep(0.1)::text END
                            FROM pg_xact_status($1::text::xid8) AS s (status)
                            """, [.text(String(UInt64(bitPattern: change.transaction)))]
                        ).first
                        return (row?.text(0), row?.double(1))
                    }
                } catch let error as OfflineQueueError where (error.underlying as? PostgreSQLError)?.state == "22023" {
                    // The number is one of the future: a server that has taken over never saw the transaction.
                    return false
                }
                let isSameServer = serverStart == change.serverStart
                switch status {
                case "committed" where isSameServer: return true
                case "committed": return try await run(.sending) { try hasEffect($0, change.value) }
                case "aborted": return false
                case "in progress" where isSameServer: continue
                // No transaction outlives its server.
                case "in progress": return false
                default: return nil
                }
            }
        }
    }
#endif
