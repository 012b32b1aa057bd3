import Foundation

/// Puts a new database in the place of a damaged one. The gate is closed to all other processes meanwhile.
///
/// Whenever the process ends, no record is lost. Until the new database is complete and on disk, the damaged files
/// stay in their places. From then on, a database that is missing is replaced by the complete one at the next use.
struct Recovery {
    let files: QueueFiles
    let mark: CommitMark
    let date: @Sendable () -> Date

    // MARK: Building

    /// Makes a complete database of what can be read.
    func build(from log: LogCopy) throws -> Salvage.Count {
        let reading = mark.reading
        // Without a mark the old numbers are unknown. These are beyond any that can have been given.
        let now = Int64(max(date().timeIntervalSince1970, 1))
        try removeRemains()
        try files.makePrivate(files.recovering)
        let connection = try SQLiteConnection(files.recovering.path)
        defer { connection.close() }
        try connection.execute(Schema.settings)
        try Schema.migrate(connection)
        try connection.execute("BEGIN IMMEDIATE")
        let count = try Salvage(database: files.database, log: log).restore(into: connection, above: 0)
        try connection.raiseSequence(to: reading?.lastID ?? now << 20)
        try connection.run("UPDATE lease SET fence = ?", .integer(now << 16))
        try connection.run(
            "UPDATE totals SET count = ? WHERE state = -1", .integer(min(reading?.commits ?? 0, .max - 1) + 1))
        // What was read has numbers that may be wrong too.
        _ = try Upkeep(connection: connection, mark: reading).run()
        try connection.execute("COMMIT")
        // All of it is in the database then, and on disk. Its log is gone when it is closed.
        _ = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) }
        connection.close()
        try FileManager.default.moveItem(at: files.recovering, to: files.recovered)
        try BodyFiles.flush(files.directory)
        return count
    }

    /// Removes the files of an interrupted recovery.
    private func removeRemains() throws {
        for file in [files.recovering, files.recovered] {
            for suffix in ["", "-wal", "-shm"] {
                try BodyFiles.remove(URL(fileURLWithPath: file.path + suffix))
            }
        }
    }

    // MARK: Installing

    /// A step of the installation. After each of them the process may end.
    enum Step: CaseIterable {
        /// The damaged database first: as long as it is in its place, it counts, together with its log.
        case setDatabaseAside
        case setLogAside
        case removeSharedMemory
        case putInPlace
        case writeMark
    }

    /// Sets the damaged files aside, as far as they are there, and puts the complete database in their place.
    ///
    /// - Parameter steps: What is done. All by default.
    /// - Returns: Where the damaged database is; `nil` if there is none.
    @discardableResult
    func install(_ steps: [Step] = Step.allCases) throws -> URL? {
        let aside = try place()
        for step in steps {
            switch step {
            case .setDatabaseAside: try move(files.database, to: aside)
            case .setLogAside: try move(files.log, to: URL(fileURLWithPath: aside.path + "-wal"))
            case .removeSharedMemory: try BodyFiles.remove(files.sharedMemory)
            case .putInPlace:
                try FileManager.default.moveItem(at: files.recovered, to: files.database)
                try BodyFiles.flush(files.directory)
            case .writeMark: try writeMark()
            }
        }
        return FileManager.default.fileExists(atPath: aside.path) ? aside : nil
    }

    /// The place for the damaged files: a new one, or that of an installation that was interrupted.
    private func place() throws -> URL {
        func exists(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }
        if !exists(files.database), let begun = try files.lastDamaged() { return begun }
        var number = 1
        while exists(files.damaged(at: date(), number: number)) { number += 1 }
        return files.damaged(at: date(), number: number)
    }

    private func move(_ source: URL, to place: URL) throws {
        guard FileManager.default.fileExists(atPath: source.path) else { return }
        try FileManager.default.moveItem(at: source, to: place)
    }

    private func writeMark() throws {
        let connection = try SQLiteConnection(files.database.path)
        defer { connection.close() }
        let commits = try connection.first("SELECT count FROM totals WHERE state = -1") { $0.integer(0) } ?? 0
        try mark.write(CommitMark.Reading(commits: commits, lastID: try connection.lastRecordID()))
    }
}
