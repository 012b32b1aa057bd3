import Foundation
import RequestOperations

/// The database of a queue: it opens it, runs transactions, and recovers it if it is damaged.
// Unchecked, because it is only used on the serial queue of its owner.
final class SQLiteDatabase: @unchecked Sendable {
    private let files: QueueFiles
    private let gate: FileLock
    private let mark: CommitMark
    private let isReader: Bool
    private let date: @Sendable () -> Date
    /// Called after a recovery, on the queue of the owner.
    private let onRecovery: @Sendable (OfflineRecovery) -> Void
    private let flush: @Sendable (Int32) -> Bool

    /// A check that can be ended from another thread.
    private enum Checking {
        case idle
        case running(SQLiteConnection)
        case interrupted
    }

    private let checking = Locked(Checking.idle)
    private var connection: SQLiteConnection?
    /// The log of that connection. SQLite keeps no locks on it, so that it can be closed.
    private var log: FileHandle?
    /// The file that the connection has open.
    private var identity: UInt64?

    /// Databases up to this size are checked as a whole when they are opened. Larger ones are checked beside the work.
    static let checkedSize: Int64 = 32 << 20

    /// Makes a database. It is opened by the first transaction.
    ///
    /// - Parameters:
    ///   - isReader: Whether it only reads. A reader leaves recovery to the writer. `false` by default.
    ///   - date: The time of the calendar.
    ///   - onRecovery: Called with a report after damage was repaired.
    ///   - flush: Flushes the file of a descriptor to the disk, once after each commit. Returns `false` and sets `errno` if
    ///     it fails.
    init(
        files: QueueFiles, isReader: Bool = false, date: @escaping @Sendable () -> Date,
        onRecovery: @escaping @Sendable (OfflineRecovery) -> Void = { _ in },
        flush: @escaping @Sendable (Int32) -> Bool = DiskFlush.flush
    ) throws {
        self.files = files
        self.isReader = isReader
        self.date = date
        self.onRecovery = onRecovery
        self.flush = flush
        gate = try FileLock(files.gate.path)
        mark = try CommitMark(files.mark.path)
    }

    /// Closes the connection.
    func close() {
        connection?.close()
        connection = nil
        // The object closes its file when it is released.
        log = nil
        identity = nil
    }

    /// Runs a closure in a transaction that writes, and returns when the change is on disk.
    func write<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try BackgroundActivity.during { try writeNow(body) }
    }

    private func writeNow<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        gate.lock(.shared)
        defer { gate.unlock() }
        do { return try attempt(body) } catch let error where error.meansDamage {
            // No other process is in a transaction while the damaged files are moved.
            let damaged = identity
            gate.lock(.exclusive)
            // Another process may have recovered the database meanwhile.
            if damaged == files.databaseIdentity { try recover(because: "\(error)") }
            return try attempt(body)
        }
    }

    /// Makes a change that a loss of power may undo. The flush of the next commit covers it too. It is not counted, since
    /// the count must not be ahead of the disk.
    func writeWithoutFlush<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try BackgroundActivity.during {
            gate.lock(.shared)
            defer { gate.unlock() }
            return try transaction(try opened(), body)
        }
    }

    /// Runs a closure in a transaction that only reads.
    func read<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try BackgroundActivity.during { try readNow(body) }
    }

    private func readNow<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        gate.lock(.shared)
        defer { gate.unlock() }
        let connection = try opened()
        try connection.run("BEGIN")
        defer { endReading(connection) }
        return try body(connection)
    }

    private func endReading(_ connection: SQLiteConnection) {
        // A transaction that has only read has nothing to lose. If it cannot be ended, the connection is unusable.
        do { try connection.run("ROLLBACK") } catch { close() }
    }

    /// Checks the whole database, recovers it if it is damaged, and puts wrong numbers right. Nobody can write meanwhile.
    func repair() throws {
        try write { try Self.check($0) }
        gate.lock(.shared)
        defer { gate.unlock() }
        try putRight()
    }

    /// Checks the whole database, one table at a time. Others can write meanwhile.
    ///
    /// - Throws: An error that means damage if there is a fault, or that means an interruption.
    func check() throws {
        let tables = try read { connection in
            try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
                $0.text(0) ?? ""
            }
        }
        for table in tables {
            // The log can be moved into the database between two tables.
            try read { connection in
                try Self.throwIfAny(try whileInterruptible(connection) { try Self.fault(in: connection, of: table) })
            }
        }
        let isWrong = try read { connection in
            try whileInterruptible(connection) { try Upkeep(connection: connection, mark: mark.reading).isNeeded() }
        }
        try Self.throwIfAny(isWrong ? "some numbers are wrong" : nil)
    }

    /// Ends ``check()``, which runs on another thread.
    func interrupt() {
        checking.withLock { checking in
            if case .running(let connection) = checking { connection.interrupt() }
            checking = .interrupted
        }
    }

    private func whileInterruptible<Result>(_ connection: SQLiteConnection, _ body: () throws -> Result) throws
        -> Result
    {
        try checking.withLock { checking in
            guard case .idle = checking else { throw SQLiteError.interruption }
            checking = .running(connection)
        }
        defer { checking.withLock { if case .running = $0 { $0 = .idle } } }
        return try body()
    }

    private static func check(_ connection: SQLiteConnection) throws {
        try throwIfAny(try fault(in: connection))
    }

    private static func throwIfAny(_ fault: String?) throws {
        guard let fault else { return }
        throw SQLiteError(code: SQLiteError.corrupt, message: fault, systemError: 0)
    }

    /// Moves what is in the log into the database.
    ///
    /// - Throws: An error that means busy, if a reader of another process prevents that for too long.
    func checkpoint() throws {
        try BackgroundActivity.during {
            gate.lock(.shared)
            defer { gate.unlock() }
            let isBusy = try opened().first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) != 0 } ?? false
            guard !isBusy else {
                throw SQLiteError(code: SQLiteError.busy, message: "another process reads the log", systemError: 0)
            }
        }
    }

    /// What the database looks like now. Any commit of another connection changes it.
    func version() throws -> StoreVersion {
        try read { connection in
            // A recovery puts another file in the place of the database, whose number begins anew.
            let number = try connection.first("PRAGMA data_version") { $0.integer(0) } ?? 0
            return StoreVersion(number: Int64(truncatingIfNeeded: identity ?? 0) << 32 ^ number)
        }
    }

    private func attempt<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        let connection = try opened()
        let (result, reading) = try transaction(connection) { connection in
            let before = connection.totalChanges
            let result = try body(connection)
            // A transaction without a change is no commit.
            guard connection.totalChanges != before else { return (result, CommitMark.Reading?.none) }
            let commits =
                try connection.first("UPDATE totals SET count = count + 1 WHERE state = -1 RETURNING count") {
                    $0.integer(0)
                } ?? 0
            return (result, CommitMark.Reading(commits: commits, lastID: try connection.lastRecordID()))
        }
        if reading != nil || connection.needsFlush {
            connection.needsFlush = false
            try flushLog()
        }
        if let reading { writeMark(reading) }
        return result
    }

    /// Runs a closure with the lock of the database, and commits.
    ///
    /// A process that is stopped while it has that lock stops all others. So this rarely waits for the disk: only where
    /// SQLite restarts the log, or moves it into the database.
    private func transaction<Result>(
        _ connection: SQLiteConnection, _ body: (SQLiteConnection) throws -> Result
    ) throws -> Result {
        try connection.run("BEGIN IMMEDIATE")
        do {
            let result = try body(connection)
            try connection.run("COMMIT")
            return result
        } catch {
            if !connection.isInAutocommit { try connection.run("ROLLBACK") }
            throw error
        }
    }

    /// Flushes the commits of all processes to the disk. SQLite does so itself only before it moves the log into the
    /// database.
    private func flushLog() throws {
        guard let log, flush(log.fileDescriptor) else {
            throw UnflushedCommit(underlying: FileError(path: files.log.path, code: errno))
        }
    }

    private func writeMark(_ reading: CommitMark.Reading) {
        do { try mark.write(reading) } catch {
            // The change is on disk, so it has not failed. A mark that is behind does no harm, and the next commit
            // writes it again.
        }
    }

    // MARK: Opening

    /// The connection to the file that is in its place now.
    private func opened() throws -> SQLiteConnection {
        if let connection {
            if identity == files.databaseIdentity { return connection }
            // Another process has put a recovered database in its place.
            close()
        }
        return isReader ? try openAgain() : try openWithCare()
    }

    private func openAgain() throws -> SQLiteConnection {
        // Two processes that make the tables at the same time would refuse each other.
        let isNew = files.databaseSize == 0
        if isNew { gate.lock(.exclusive) }
        defer { if isNew { gate.lock(.shared) } }
        if files.databaseSize == 0, files.hasRecovered { try finishRecovery() }
        try files.makePrivate(files.database)
        let connection = try SQLiteConnection(files.database.path)
        do {
            try connection.execute(Schema.settings)
            try Schema.migrate(connection)
            // SQLite has made the log to read the version. A process without a free descriptor fails here, before it
            // has committed anything.
            if !isReader { log = try FileHandle(forReadingFrom: files.log) }
        } catch {
            connection.close()
            throw error
        }
        identity = files.databaseIdentity
        self.connection = connection
        return connection
    }

    private func openWithCare() throws -> SQLiteConnection {
        // SQLite drops what it cannot use of a log as soon as it opens it.
        let log = try LogCopy(files)
        let found = files.databaseIdentity
        if log.isWithoutDatabase, !files.hasRecovered {
            try recoverAlone(found, because: "the database is missing, but its log exists", log)
            return try openAgain()
        }
        do {
            let connection = try openAgain()
            if files.databaseSize <= Self.checkedSize { try Self.check(connection) }
            try compareWithMark(connection, log)
            if files.databaseSize <= Self.checkedSize { try putRight() }
            return connection
        } catch let error where error.meansDamage {
            try recoverAlone(found, because: "\(error)", log)
            return try openAgain()
        }
    }

    /// Recovers a file, unless another process has done it before the gate was closed.
    private func recoverAlone(_ found: UInt64?, because reason: String, _ log: LogCopy) throws {
        close()
        gate.lock(.exclusive)
        if found == files.databaseIdentity { try recover(because: reason, log: log) }
    }

    /// The first fault of the database, or `nil` if it is sound.
    private static func fault(in connection: SQLiteConnection, of table: String? = nil) throws -> String? {
        let answer = try connection.first("PRAGMA integrity_check(\(table ?? "1"))") { $0.text(0) } ?? nil
        return answer == "ok" ? nil : answer ?? "no answer"
    }

    /// Looks for commits that are missing at the end, and restores what the log still has of them.
    private func compareWithMark(_ connection: SQLiteConnection, _ log: LogCopy) throws {
        guard let mark = mark.reading else { return }
        let commits = try connection.first("SELECT count FROM totals WHERE state = -1") { max($0.integer(0), 0) } ?? 0
        guard commits < mark.commits else { return }
        var recovered = Salvage.Count()
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let lastID = max(try connection.lastRecordID(), 0)
            recovered = try Salvage(database: nil, log: log).restore(into: connection, above: lastID)
            try connection.raiseSequence(to: mark.lastID)
            try connection.run("UPDATE totals SET count = ? WHERE state = -1", .integer(mark.commits))
            try connection.execute("COMMIT")
            try flushLog()
            onRecovery(
                OfflineRecovery(
                    damagedFile: nil, recovered: recovered.sound, damagedRecords: recovered.damaged,
                    lostCommits: mark.commits - commits,
                    missingRecords: Int(clamping: max(mark.lastID - lastID, 0)) - recovered.sound - recovered.damaged,
                    reason: "the log ended \(mark.commits - commits) commits early"))
        } catch {
            if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Puts wrong numbers right, if there are any.
    private func putRight() throws {
        let upkeep = Upkeep(connection: try opened(), mark: mark.reading)
        guard try upkeep.isNeeded() else { return }
        let report = try attempt { try Upkeep(connection: $0, mark: upkeep.mark).run() }
        guard !report.kinds.isEmpty else { return }
        onRecovery(
            OfflineRecovery(
                damagedFile: nil, recovered: 0, damagedRecords: report.damaged, lostCommits: 0, missingRecords: 0,
                reason: "wrong numbers: \(report.kinds.joined(separator: ", "))"))
    }

    // MARK: Recovery

    /// Makes a new database of what can be read, and sets the damaged files aside. The gate is closed to all others.
    ///
    /// If it fails, as on a full disk, the damaged files stay where they are, and the next use tries again.
    private func recover(because reason: String, log: LogCopy? = nil) throws {
        let log = try log ?? LogCopy(files)
        close()
        let recovery = Recovery(files: files, mark: mark, date: date)
        let lastID = mark.reading?.lastID
        let count = try recovery.build(from: log)
        let aside = try recovery.install()
        onRecovery(
            OfflineRecovery(
                damagedFile: aside, recovered: count.sound, damagedRecords: count.damaged, lostCommits: nil,
                missingRecords: count.unread.map { unread in
                    unread.records + Int(clamping: max((lastID ?? 0) - unread.above, 0))
                }, reason: reason))
    }

    /// Ends a recovery whose process was killed. The gate is closed to all others.
    private func finishRecovery() throws {
        let aside = try Recovery(files: files, mark: mark, date: date).install()
        let connection = try SQLiteConnection(files.database.path)
        defer { connection.close() }
        func count(_ condition: String) throws -> Int {
            try connection.first("SELECT count(*) FROM records WHERE \(condition)") {
                Int(clamping: $0.integer(0))
            } ?? 0
        }
        let damaged = try count("state = 3 AND ending LIKE '%\"damaged\"%'")
        onRecovery(
            OfflineRecovery(
                damagedFile: aside, recovered: try count("1") - damaged, damagedRecords: damaged, lostCommits: nil,
                missingRecords: nil, reason: "a recovery was interrupted"))
    }
}

/// A change was committed and could not be flushed to the disk. A loss of power may undo it.
struct UnflushedCommit: Error {
    let underlying: any Error
}

extension Error {
    /// Whether it says that the database is damaged.
    var meansDamage: Bool { (self as? SQLiteError)?.meansDamage ?? false }

    /// Whether it says that a check was ended from outside.
    var meansInterruption: Bool { (self as? SQLiteError)?.meansInterruption ?? false }
}
