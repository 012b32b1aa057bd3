import Foundation

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

    private var connection: SQLiteConnection?
    /// The file that the connection has open.
    private var identity: UInt64?

    /// Databases up to this size are checked as a whole when they are opened. Larger ones are checked beside the work.
    static let checkedSize: Int64 = 32 << 20

    /// Makes a database. It is opened by the first transaction.
    ///
    /// - Parameters:
    ///   - isReader: Whether it only reads. A reader leaves recovery to the writer. `false` by default.
    ///   - date: The time of the calendar.
    ///   - onRecovery: Called with what was done about a damage.
    init(
        files: QueueFiles, isReader: Bool = false, date: @escaping @Sendable () -> Date,
        onRecovery: @escaping @Sendable (OfflineRecovery) -> Void = { _ in }
    ) throws {
        self.files = files
        self.isReader = isReader
        self.date = date
        self.onRecovery = onRecovery
        gate = try FileLock(files.gate.path)
        mark = try CommitMark(files.mark.path)
    }

    /// Closes the connection.
    func close() {
        connection?.close()
        connection = nil
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
            // Nobody else is in a transaction while the damaged files are moved.
            let damaged = identity
            gate.lock(.exclusive)
            // Another process may have recovered the database meanwhile.
            if damaged == files.databaseIdentity { try recover(because: "\(error)") }
            return try attempt(body)
        }
    }

    /// Makes a change that a loss of power may undo. It holds the lock of the database for a moment only.
    ///
    /// A process that is stopped with that lock stops all others, and a flush to the disk takes most of a commit. The
    /// flush of the next commit covers this change too. It is not counted, since the count must not be ahead of the
    /// disk.
    func writeWithoutFlush<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        gate.lock(.shared)
        defer { gate.unlock() }
        let connection = try opened()
        // Without a flush the log must not be moved into the database either.
        try connection.execute("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0")
        defer { restoreFlush(connection) }
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let result = try body(connection)
            try connection.execute("COMMIT")
            return result
        } catch {
            if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    private func restoreFlush(_ connection: SQLiteConnection) {
        // A connection that would not flush must not be used. The next transaction opens another.
        do { try connection.execute("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000") } catch { close() }
    }

    /// Runs a closure in a transaction that only reads.
    func read<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        gate.lock(.shared)
        defer { gate.unlock() }
        let connection = try opened()
        try connection.execute("BEGIN")
        defer { endReading(connection) }
        return try body(connection)
    }

    private func endReading(_ connection: SQLiteConnection) {
        // A transaction that has only read has nothing to lose. If it cannot be ended, the connection is of no use.
        do { try connection.execute("ROLLBACK") } catch { close() }
    }

    /// Checks the whole database, and recovers it if it is damaged. Nobody can write meanwhile.
    func repair() throws {
        try write { try Self.check($0) }
    }

    /// Checks the whole database. Others can write meanwhile.
    ///
    /// - Throws: An error that means damage if there is a fault.
    func check() throws {
        try read { try Self.check($0) }
    }

    private static func check(_ connection: SQLiteConnection) throws {
        guard let fault = try fault(in: connection) else { return }
        throw SQLiteError(code: SQLiteError.corrupt, message: fault, systemError: 0)
    }

    /// Moves what is in the log into the database, as far as no reader prevents that.
    func checkpoint() throws {
        gate.lock(.shared)
        defer { gate.unlock() }
        _ = try opened().first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) }
    }

    private func attempt<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        let connection = try opened()
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let before = connection.totalChanges
            let result = try body(connection)
            // A transaction without a change is no commit.
            guard connection.totalChanges != before else {
                try connection.execute("COMMIT")
                return result
            }
            let commits =
                try connection.first("UPDATE totals SET count = count + 1 WHERE state = -1 RETURNING count") {
                    $0.integer(0)
                } ?? 0
            let lastID = try Self.lastID(in: connection)
            try connection.execute("COMMIT")
            writeMark(CommitMark.Reading(commits: commits, lastID: lastID))
            return result
        } catch {
            if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    private func writeMark(_ reading: CommitMark.Reading) {
        do { try mark.write(reading) } catch {
            // The change is on disk, so it has not failed. A mark that is behind does no harm, and the next commit
            // writes it again.
        }
    }

    private static func lastID(in connection: SQLiteConnection) throws -> Int64 {
        try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'records'") { $0.integer(0) } ?? 0
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
        try files.makeDatabasePrivate()
        let connection = try SQLiteConnection(files.database.path)
        do {
            try connection.execute(Schema.settings)
            try Schema.migrate(connection)
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
        let log = LogCopy(files)
        let found = files.databaseIdentity
        if log.isWithoutDatabase {
            try recoverAlone(found, because: "the database is gone and its log is there", log)
            return try openAgain()
        }
        do {
            let connection = try openAgain()
            if files.databaseSize <= Self.checkedSize { try Self.check(connection) }
            try compareWithMark(connection, log)
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
    private static func fault(in connection: SQLiteConnection) throws -> String? {
        let answer = try connection.first("PRAGMA integrity_check(1)") { $0.text(0) } ?? nil
        return answer == "ok" ? nil : answer ?? "no answer"
    }

    /// Looks for commits that are missing at the end, and restores what the log still has of them.
    private func compareWithMark(_ connection: SQLiteConnection, _ log: LogCopy) throws {
        guard let mark = mark.reading else { return }
        let commits = try connection.first("SELECT count FROM totals WHERE state = -1") { $0.integer(0) } ?? 0
        guard commits < mark.commits else { return }
        var recovered = Salvage.Count()
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let lastID = try Self.lastID(in: connection)
            recovered = try Salvage(database: nil, log: log).restore(into: connection, above: lastID)
            try Self.raiseSequence(to: mark.lastID, in: connection)
            try connection.run("UPDATE totals SET count = ? WHERE state = -1", .integer(mark.commits))
            try connection.execute("COMMIT")
            onRecovery(
                OfflineRecovery(
                    damagedFile: nil, recovered: recovered.sound, damagedRecords: recovered.damaged,
                    lostCommits: mark.commits - commits,
                    missingRecords: Int(max(mark.lastID - lastID, 0)) - recovered.sound - recovered.damaged,
                    reason: "the log ended \(mark.commits - commits) commits early"))
        } catch {
            if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    // MARK: Recovery

    /// Makes a new database of what can be read, and sets the damaged files aside. The gate is closed to all others.
    ///
    /// If it fails, as on a full disk, the damaged files stay where they are, and the next use tries again.
    private func recover(because reason: String, log: LogCopy? = nil) throws {
        let log = log ?? LogCopy(files)
        close()
        let reading = mark.reading
        // Without a mark the old numbers are unknown. These are beyond any that can have been given.
        let now = Int64(max(date().timeIntervalSince1970, 1))
        let commits = (reading?.commits ?? 0) + 1
        try removeRemains()
        let connection = try SQLiteConnection(files.recovering.path)
        defer { connection.close() }
        try connection.execute(Schema.settings)
        try Schema.migrate(connection)
        try connection.execute("BEGIN IMMEDIATE")
        let count = try Salvage(database: files.database, log: log).restore(into: connection, above: 0)
        let lastID = max(reading?.lastID ?? now << 20, try Self.lastID(in: connection))
        try Self.raiseSequence(to: lastID, in: connection)
        try connection.run("UPDATE lease SET fence = ?", .integer(now << 16))
        try connection.run("UPDATE totals SET count = ? WHERE state = -1", .integer(commits))
        try connection.execute("COMMIT")
        _ = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) }
        connection.close()
        let aside = try setAside()
        try FileManager.default.moveItem(at: files.recovering, to: files.database)
        try mark.write(CommitMark.Reading(commits: commits, lastID: lastID))
        onRecovery(
            OfflineRecovery(
                damagedFile: aside, recovered: count.sound, damagedRecords: count.damaged, lostCommits: nil,
                missingRecords: nil, reason: reason))
    }

    /// Removes what a recovery left that was interrupted.
    private func removeRemains() throws {
        for suffix in ["", "-wal", "-shm"] {
            let file = URL(fileURLWithPath: files.recovering.path + suffix)
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
        }
    }

    /// Moves the damaged files and returns the new place of the database.
    private func setAside() throws -> URL {
        let manager = FileManager.default
        var number = 1
        while manager.fileExists(atPath: files.damaged(at: date(), number: number).path) { number += 1 }
        let aside = files.damaged(at: date(), number: number)
        for (source, suffix) in [(files.log, "-wal"), (files.database, "")]
        where manager.fileExists(atPath: source.path) {
            try manager.moveItem(at: source, to: URL(fileURLWithPath: aside.path + suffix))
        }
        if manager.fileExists(atPath: files.sharedMemory.path) { try manager.removeItem(at: files.sharedMemory) }
        return aside
    }

    /// No later record gets an id up to this one.
    private static func raiseSequence(to lastID: Int64, in connection: SQLiteConnection) throws {
        try connection.run(
            "INSERT INTO sqlite_sequence (name, seq) SELECT 'records', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence)"
        )
        try connection.run("UPDATE sqlite_sequence SET seq = max(seq, ?)", .integer(lastID))
    }
}

extension Error {
    /// Whether it says that the database is damaged.
    var meansDamage: Bool { (self as? SQLiteError)?.meansDamage ?? false }
}
