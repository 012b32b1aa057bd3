#if PostgreSQL
    import OfflineRequests
    import RequestOperations

    /// Why the database did not do what was asked.
    package struct PostgreSQLError: StoreFailure, Hashable {
        package enum Cause: Sendable, Hashable {
            /// The address of the database cannot be used.
            case address
            /// No connection could be made.
            case unreachable
            /// The connection was lost. If the statement may have run, only the database knows whether it did.
            case lost(mayHaveRun: Bool)
            /// The server refused the statement, with this SQLSTATE.
            case refused(state: String)
            /// The schema is missing, or is not one that this program can use.
            case schema(isNewer: Bool)
        }

        package let cause: Cause
        /// One line without passwords and without values of records.
        package let message: String

        init(_ cause: Cause, _ message: String) {
            self.cause = cause
            let lines = message.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
            self.message = lines.joined(separator: "; ")
        }

        /// The SQLSTATE of the server's answer; `nil` if it did not answer.
        package var state: String? { if case .refused(let state) = cause { state } else { nil } }

        /// The same loss, of a statement that cannot have had an effect.
        var withoutEffect: PostgreSQLError {
            cause == .lost(mayHaveRun: true) ? PostgreSQLError(.lost(mayHaveRun: false), message) : self
        }

        /// The message, with the SQLSTATE if there is one.
        package var description: String { state.map { "\(message) (SQLSTATE \($0))" } ?? message }

        /// Whether the same call may succeed later. The server has undone what a refused statement did.
        ///
        /// - Parameter isRepeatable: Whether the call may run twice.
        func allowsRepetition(ofRepeatable isRepeatable: Bool) -> Bool {
            switch cause {
            case .address, .schema: false
            case .unreachable: true
            case .lost(let mayHaveRun): isRepeatable || !mayHaveRun
            case .refused(let state): Self.passing.contains(state) || meansReadOnly
            }
        }

        /// Conflicts with other transactions: serialization_failure and deadlock_detected.
        private static let passing: Set = ["40001", "40P01"]

        /// The server takes no changes, as a former primary after a failover. Another connection may reach the new one.
        var meansReadOnly: Bool { state == "25006" }
    }

    extension OfflineQueueError {
        /// An error of the database as one of the queue.
        init(database error: any Error) {
            switch error {
            case let error as OfflineQueueError: self = error
            case let error as PostgreSQLError:
                self.init(Self.code(of: error), underlying: error)
            default: self.init(.storeFailed, underlying: error)
            }
        }

        /// Whether a call may have had its effect, although its answer was lost.
        var meansLostAnswer: Bool { (underlying as? PostgreSQLError)?.cause == .lost(mayHaveRun: true) }

        private static func code(of error: PostgreSQLError) -> Code {
            if error.cause == .schema(isNewer: true) { return .newerSchema }
            return switch error.state {
            // The functions of the schema throw these two.
            case "RO001": .leaseLost
            case "RO002": .full
            case "53100": .diskFull
            // A lock or the server was too slow: lock_not_available, query_canceled.
            case "55P03", "57014": .busy
            default: .storeFailed
            }
        }
    }
#endif
