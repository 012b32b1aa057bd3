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
        struct Change<Value: Sendable>: Sendable {
            /// The number of the transaction (`pg_current_xact_id()`).
            let transaction: Int64
            let value: Value
        }

        /// Makes a change in a transaction, once. If the answer to its COMMIT is lost, the database is asked what became of
        /// it.
        ///
        /// - Parameters:
        ///   - terms: ``Terms/once`` by default.
        ///   - body: The change. It runs again if an earlier run had no effect.
        /// - Throws: ``OfflineQueueError``, or `CancellationError`.
        func commit<Value: Sendable>(
            _ terms: Terms = .once, _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Change<Value>
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
                    guard let isCommitted = try await isCommitted(change.transaction) else {
                        throw OfflineQueueError(database: error)
                    }
                    if isCommitted { return change.value }
                }
            }
        }

        /// Whether a transaction was committed; `nil` if the database does not know any more.
        private func isCommitted(_ transaction: Int64) async throws -> Bool? {
            while true {
                let status: String?
                do {
                    status = try await run(.sending) {
                        // While it is in progress, it waits a little before it is asked again.
                        try $0.run(
                            """
                            SELECT s.status, CASE WHEN s.status = 'in progress' THEN pg_sleep(0.1)::text END
                            FROM pg_xact_status($1::text::xid8) AS s (status)
                            """, [.text(String(UInt64(bitPattern: transaction)))]
                        ).first?.text(0)
                    }
                } catch let error as OfflineQueueError where (error.underlying as? PostgreSQLError)?.state == "22023" {
                    // The number is one of the future: a server that has taken over never saw the transaction.
                    return false
                }
                switch status {
                case "committed": return true
                case "aborted": return false
                case "in progress": continue
                default: return nil
                }
            }
        }
    }
#endif
