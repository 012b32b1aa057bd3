import Foundation

#if canImport(SQLite3)
    import SQLite3
#else
    import CRequestOperationsSQLite
#endif

/// One connection to a SQLite database. All calls of SQLite's C functions are in this file.
// Unchecked, because a connection is only used on the serial queue of its owner.
final class SQLiteConnection: @unchecked Sendable {
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    /// Opens a database, and makes the file if there is none.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - isReadOnly: Whether the connection never writes. Then the file must exist. `false` by default.
    ///   - patience: How long a call waits for a lock of another process. 30 s by default.
    init(_ path: String, isReadOnly: Bool = false, patience: Duration = .seconds(30)) throws {
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &handle, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK else {
            defer { close() }
            let error = error(code)
            throw SQLiteError(code: code, message: "\(error.message): \(path)", systemError: error.systemError)
        }
        sqlite3_busy_timeout(handle, Int32(patience / .milliseconds(1)))
    }

    deinit { close() }

    /// Closes the connection. Later calls are programming errors. A second close has no effect.
    func close() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        // `sqlite3_close` would refuse while a statement exists. None is left.
        sqlite3_close_v2(handle)
        handle = nil
    }

    /// Ends the statement that runs with an error. It can be called from any thread, as long as nobody closes the
    /// connection meanwhile.
    func interrupt() { sqlite3_interrupt(handle) }

    /// Whether no transaction is open. An error such as a full disk can end a transaction.
    var isInAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// How many rows the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// How many rows have been changed since the connection was opened, also by triggers.
    var totalChanges: Int64 { Int64(sqlite3_total_changes(handle)) }

    /// Whether the log must be flushed although this connection may have changed nothing.
    var needsFlush = false

    /// The row id of the last inserted row.
    var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Runs statements without values, such as a schema.
    func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Runs one statement. The statement is compiled once and kept.
    func run(_ sql: String, _ values: SQLiteValue...) throws {
        try forEach(sql, values) { _ in true }
    }

    /// Returns what a closure makes of each row.
    func rows<Row>(_ sql: String, _ values: SQLiteValue..., row: (SQLiteRow) throws -> Row) throws -> [Row] {
        var rows: [Row] = []
        try forEach(sql, values) {
            rows.append(try row($0))
            return true
        }
        return rows
    }

    /// Returns what a closure makes of the first row, or `nil` if there is no row.
    func first<Row>(_ sql: String, _ values: SQLiteValue..., row: (SQLiteRow) throws -> Row) throws -> Row? {
        var found: Row?
        try forEach(sql, values) {
            found = try row($0)
            return false
        }
        return found
    }

    /// Calls a closure with each row until it returns `false`.
    func forEach(_ sql: String, _ values: [SQLiteValue], row: (SQLiteRow) throws -> Bool) throws {
        let statement = try prepared(sql)
        // The result of a reset repeats the error of the last step.
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            let code = bind(value, at: Int32(index + 1), in: statement)
            guard code == SQLITE_OK else { throw error(code) }
        }
        while true {
            let code = sqlite3_step(statement)
            switch code {
            case SQLITE_ROW: guard try row(SQLiteRow(statement: statement)) else { return }
            case SQLITE_DONE: return
            default: throw error(code)
            }
        }
    }

    private func prepared(_ sql: String) throws -> OpaquePointer? {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK else { throw error(code) }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: SQLiteValue, at index: Int32, in statement: OpaquePointer?) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .real(let number): sqlite3_bind_double(statement, index, number)
        case .text(let text): sqlite3_bind_text64(statement, index, text, UInt64(text.utf8.count), Self.copied, utf8)
        case .blob(let data) where data.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
        case .blob(let data):
            data.withUnsafeBytes {
                sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), Self.copied)
            }
        }
    }

    private let utf8 = UInt8(SQLITE_UTF8)

    /// SQLITE_TRANSIENT: SQLite copies the value. The header defines it as the number -1, cast to a function pointer.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private func error(_ code: Int32) -> SQLiteError {
        let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        return SQLiteError(code: code, message: message, systemError: handle.map(sqlite3_system_errno) ?? 0)
    }
}

/// A value that is bound to a parameter of a statement.
enum SQLiteValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    static func integer(_ number: Int) -> SQLiteValue { .integer(Int64(number)) }
    static func optional(_ text: String?) -> SQLiteValue { text.map(SQLiteValue.text) ?? .null }
    static func optional(_ number: Double?) -> SQLiteValue { number.map(SQLiteValue.real) ?? .null }
    static func optional(_ data: Data?) -> SQLiteValue { data.map(SQLiteValue.blob) ?? .null }
}

/// The current row of a statement. It is valid until the next step.
struct SQLiteRow {
    fileprivate let statement: OpaquePointer?

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }
    func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }
    func real(_ column: Int) -> Double { sqlite3_column_double(statement, Int32(column)) }

    /// The text of a column, or `nil` for NULL. Bytes that are not UTF-8 are replaced.
    func text(_ column: Int) -> String? {
        guard let bytes = sqlite3_column_text(statement, Int32(column)) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// The bytes of a column, or `nil` for NULL.
    func blob(_ column: Int) -> Data? {
        guard !isNull(column) else { return nil }
        guard let bytes = sqlite3_column_blob(statement, Int32(column)) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, Int32(column))))
    }

    /// A count or a size, which can be added to some others: from zero to 2^60.
    func size(_ column: Int) -> Int64 { min(max(integer(column), 0), 1 << 60) }

    func optionalReal(_ column: Int) -> Double? { isNull(column) ? nil : real(column) }
}

/// An error of SQLite.
struct SQLiteError: StoreFailure {
    /// The extended result code (sqlite.org/rescode.html).
    let code: Int32
    let message: String
    /// The `errno` of the system call that failed; 0 if none did.
    let systemError: Int32

    /// The error of a statement that was ended from outside.
    static let interruption = SQLiteError(code: SQLITE_INTERRUPT, message: "interrupted", systemError: 0)
    /// The code for a lock that another process has.
    static let busy = SQLITE_BUSY
    /// The code for a database that a check finds damaged.
    static let corrupt = SQLITE_CORRUPT

    private var primary: Int32 { code & 0xFF }

    /// Whether the file is damaged or is no database.
    var meansDamage: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }

    /// Whether the disk has no room for the change.
    var meansFullDisk: Bool {
        primary == SQLITE_FULL || primary == SQLITE_IOERR && [ENOSPC, EDQUOT, EFBIG].contains(systemError)
    }

    /// Whether the statement was ended from outside.
    var meansInterruption: Bool { primary == SQLITE_INTERRUPT }

    /// Whether another process kept its lock for too long.
    var meansBusy: Bool { [SQLITE_BUSY, SQLITE_PROTOCOL].contains(primary) }

    /// The code, the message, and the reason of the system where that is known.
    var description: String {
        let isOfSystem = systemError != 0 && [SQLITE_CANTOPEN, SQLITE_IOERR].contains(primary)
        return "SQLite error \(code): \(message)" + (isOfSystem ? ": \(String(cString: strerror(systemError)))" : "")
    }
}
