#if PostgreSQL
    import CRequestOperationsPostgreSQL
    import Foundation
    import RequestOperations

    /// How connections are made and used.
    package struct PostgreSQLSettings: Sendable {
        package var address: PostgreSQLAddress
        /// Whether statements are prepared once for a connection. A pooler in transaction mode cannot keep them.
        package var preparesStatements = true
        /// How long a statement may take.
        package var statementTimeout = Duration.seconds(30)

        package init(_ address: PostgreSQLAddress) {
            self.address = address
        }

        fileprivate var timeoutCommand: String {
            "statement_timeout = \(max(Int(statementTimeout / .milliseconds(1)), 1))"
        }

        /// How long an answer may take. The server ends a statement earlier, unless nothing reaches it any more.
        fileprivate var patience: Duration { statementTimeout + .seconds(10) }
    }

    /// One connection to a server. All calls block.
    // Unchecked, because one thread uses a connection at a time. Another may call only `PostgreSQLSocket.shutDown`.
    package final class PostgreSQLConnection: @unchecked Sendable {
        private let handle: OpaquePointer
        private let settings: PostgreSQLSettings
        /// The names of the prepared statements, by their text.
        private var prepared: [String: String] = [:]
        private var isInTransaction = false
        /// Whether no statement can be sent any more.
        package private(set) var isLost = false

        /// Connects.
        ///
        /// - Throws: ``PostgreSQLError``.
        package init(_ settings: PostgreSQLSettings) throws {
            self.settings = settings
            let parameters = settings.address.parameters
            let texts = parameters.map { (strdup($0.keyword), strdup($0.value)) }
            defer {
                for (keyword, value) in texts {
                    free(keyword)
                    free(value)
                }
            }
            // libpq wants a null pointer at the end of each list. It reads the address in place of the database's name.
            let made = PQconnectdbParams(
                texts.map { UnsafePointer($0.0) } + [nil], texts.map { UnsafePointer($0.1) } + [nil], 1)
            guard let made else { throw PostgreSQLError(.unreachable, "there is no memory for a connection") }
            handle = made
            guard PQstatus(handle) == CONNECTION_OK else {
                isLost = true
                throw PostgreSQLError(.unreachable, String(cString: PQerrorMessage(handle)))
            }
            // Without this, libpq prints notices to standard error.
            PQsetNoticeProcessor(handle, { _, _ in }, nil)
            guard settings.preparesStatements else { return }
            try execute("SET \(settings.timeoutCommand); SET default_transaction_isolation = 'read committed'")
        }

        deinit { PQfinish(handle) }

        /// The descriptor of the connection. The connection owns it.
        package var descriptor: Int32 { PQsocket(handle) }

        // MARK: Statements

        /// Runs one statement and returns its rows.
        ///
        /// - Parameters:
        ///   - sql: The statement, with `$1` and so on for its parameters. Its text is the key of the prepared statement.
        ///   - values: The parameters.
        /// - Throws: ``PostgreSQLError``.
        package func run(_ sql: String, _ values: [PostgreSQLValue] = []) throws -> PostgreSQLRows {
            guard settings.preparesStatements || isInTransaction else {
                return try transaction { try run(sql, values) }
            }
            do {
                try checkBeforeSending()
                let name = settings.preparesStatements ? try prepare(sql) : nil
                let isSent = Parameters(values).withPointers { pointers, lengths, formats in
                    if let name {
                        PQsendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1)
                    } else {
                        PQsendQueryParams(handle, sql, Int32(values.count), nil, pointers, lengths, formats, 1)
                    }
                }
                guard isSent == 1 else { throw unsent() }
                return PostgreSQLRows(try answer())
            } catch let error as PostgreSQLError where isInTransaction {
                // It counts only if its transaction is committed.
                throw error.withoutEffect
            }
        }

        /// Runs commands that have no parameters and whose rows do not matter.
        package func execute(_ sql: String) throws {
            try checkBeforeSending()
            guard PQsendQuery(handle, sql) == 1 else { throw unsent() }
            PQclear(try answer())
        }

        /// Runs statements in a transaction. If one fails, none has had an effect.
        ///
        /// - Throws: The error of the body, or ``PostgreSQLError``. Only if the connection is lost during the commit may the
        ///   transaction have had an effect.
        package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
            let result: Result
            do {
                // The settings of a session would stay with the server's connection behind a pooler.
                try execute(
                    settings.preparesStatements
                        ? "BEGIN" : "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL \(settings.timeoutCommand)")
                isInTransaction = true
                defer { isInTransaction = false }
                result = try body()
            } catch let error as PostgreSQLError {
                rollBack()
                throw error.withoutEffect
            } catch {
                rollBack()
                throw error
            }
            try execute("COMMIT")
            return result
        }

        private func rollBack() {
            guard !isLost else { return }
            // A connection that cannot roll back is given up. The server then rolls back.
            do { try execute("ROLLBACK") } catch { isLost = true }
        }

        private func prepare(_ sql: String) throws -> String {
            if let name = prepared[sql] { return name }
            let name = "request_operations_\(prepared.count)"
            do {
                guard PQsendPrepare(handle, name, sql, 0, nil) == 1 else { throw unsent() }
                PQclear(try answer())
            } catch let error as PostgreSQLError {
                throw error.withoutEffect
            }
            prepared[sql] = name
            return name
        }

        // MARK: Answers

        /// Notices that the server has ended the connection while it was idle. A statement that was not sent can be repeated
        /// on another connection.
        private func checkBeforeSending() throws {
            if !isLost, PostgreSQLSocket.isReadable(descriptor, within: .zero) {
                if PQconsumeInput(handle) == 0 || PQstatus(handle) != CONNECTION_OK { isLost = true }
            }
            if isLost { throw unsent() }
        }

        private func unsent() -> PostgreSQLError {
            let message = String(cString: PQerrorMessage(handle))
            isLost = true
            return PostgreSQLError(.lost(mayHaveRun: false), message.isEmpty ? "the connection was lost" : message)
        }

        /// Waits for the answer to what was sent.
        private func answer() throws -> OpaquePointer {
            var last: OpaquePointer?
            let limit = ContinuousClock.now + settings.patience
            while true {
                while PQisBusy(handle) == 1 {
                    guard PostgreSQLSocket.isReadable(descriptor, within: limit - .now), PQconsumeInput(handle) == 1
                    else {
                        PQclear(last)
                        throw lostAnswer()
                    }
                }
                guard let next = PQgetResult(handle) else { break }
                // Of several commands, the first error counts, or the last result.
                if let before = last, PQresultStatus(before) == PGRES_FATAL_ERROR {
                    PQclear(next)
                } else {
                    PQclear(last)
                    last = next
                }
            }
            guard let last else { throw lostAnswer() }
            switch PQresultStatus(last) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: return last
            default:
                defer { PQclear(last) }
                throw error(of: last)
            }
        }

        private func lostAnswer() -> PostgreSQLError {
            let message = String(cString: PQerrorMessage(handle))
            isLost = true
            return PostgreSQLError(
                .lost(mayHaveRun: true), message.isEmpty ? "the server did not answer in time" : message)
        }

        private func error(of result: OpaquePointer) -> PostgreSQLError {
            func field(_ code: Character) -> String? {
                PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
            }
            // The codes of the fields are those of postgres_ext.h: C is PG_DIAG_SQLSTATE, M PG_DIAG_MESSAGE_PRIMARY, and R
            // PG_DIAG_SOURCE_FUNCTION. The details could quote values.
            let (state, source) = (field("C"), field("R"))
            var message = field("M")
            // Class 22 is of values that cannot be used. Only the server's own texts quote them, not those of a RAISE.
            if state?.hasPrefix("22") == true, source != "exec_stmt_raise" { message = "a value cannot be used" }
            guard let state, let message, PQstatus(handle) == CONNECTION_OK, !Self.endsConnection(state) else {
                isLost = true
                return PostgreSQLError(
                    .lost(mayHaveRun: true), message ?? String(cString: PQresultErrorMessage(result)))
            }
            let error = PostgreSQLError(.refused(state: state), message + (Self.advice[state] ?? ""))
            // Another connection may know the statement, or reach another server.
            if error.meansReadOnly || Self.advice[state] != nil { isLost = true }
            return error
        }

        /// Whether the server ends the connection with an error: class 08 is of connections, and 57P01 to 57P05 are of a
        /// server that stops.
        private static func endsConnection(_ state: String) -> Bool { state.hasPrefix("08") || state.hasPrefix("57P0") }

        private static let advice = [
            "26000": ": behind a pooler in transaction mode, set preparesStatements to false",
            "42P05": ": behind a pooler in transaction mode, set preparesStatements to false",
        ]

        // MARK: Notifications

        /// The texts of the notifications that have come.
        ///
        /// - Throws: ``PostgreSQLError`` if the connection is lost.
        package func notifications() throws -> [String] {
            guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw unsent() }
            var texts: [String] = []
            while let notification = PQnotifies(handle) {
                texts.append(String(cString: notification.pointee.extra))
                PQfreemem(notification)
            }
            return texts
        }
    }

    /// The binary forms of parameters, one after the other.
    private struct Parameters {
        // Never empty, so that an empty value has an address too.
        private var bytes: [UInt8] = [0]
        private var places: [Range<Int>?] = []

        init(_ values: [PostgreSQLValue]) {
            for value in values {
                let start = bytes.count
                places.append(value.encode(into: &bytes) ? start..<bytes.count : nil)
            }
        }

        func withPointers(
            _ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> Int32
        ) -> Int32 {
            bytes.withUnsafeBytes { bytes in
                let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress
                return body(
                    places.map { place in place.flatMap { start?.advanced(by: $0.lowerBound) } },
                    places.map { Int32($0?.count ?? 0) },
                    // 1 is the binary form.
                    places.map { _ in 1 })
            }
        }
    }
#endif
